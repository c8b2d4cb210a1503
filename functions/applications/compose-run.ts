import { type Command, type Elevation, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { asRoot } from '../updates/in-target.ts'
import { ASKED } from './look-problems.ts'
import { COMPOSE } from './compose.ts'
import { LABEL } from './compose-answers.ts'
import { NOT_BEGUN, SOURCE_CHANGED, VERSION_LINE } from './run-script.ts'

/**
 * The exit code of `RUN_COMPOSE` when containers have other images than the listed ones at the end: EX_SOFTWARE. It ends
 * with 1 when a part of the stack does not run. Nothing was changed for `SOURCE_CHANGED` and `NOT_BEGUN`.
 */
export const STACK_DIFFERS = 70
/** The first line of what a stack is now, where it is not what was agreed to; each line that follows has a leading space. */
export const COMPOSE_DIFFERS = 'ops-panel: this is not what was agreed to any more'

/** Waits of 10 s until the containers of a stack run without being started again, and are healthy or tell that they are not. */
const MOST_STARTS = 9
const MOST_WAITS = 30
const STEADY = `{{json (index .Config.Labels "${LABEL}.service")}}|{{.Id}}|{{.State.StartedAt}}|{{.State.Status}}|{{with index .State "Health"}}{{.Status}}{{end}}|{{index .Config.Labels "${LABEL}.oneoff"}}`
/** Ends with 0 where all run as they did before, and with 1 or, for a first health, 2 where they may still come to that. */
const COMPARE_STEADY = `
  FILENAME == "wanted" { if ($6 == "up") up["\\"" $1 "\\""] = $1; next }
  !($1 in up) { next }
  FILENAME == "first" { began[$2] = $3; next }
  { seen[$1] }
  $4 == "restarting" || ($4 == "running" && began[$2] != $3) { again[up[$1]] }
  $5 == "unhealthy" { sick[up[$1]] }
  $5 == "starting" { early[up[$1]] }
  $4 == "exited" || $4 == "dead" { isOver = 1 }
  END {
    for (name in early) { code = 2; if (tell) print "ops-panel: " name " has not told yet whether it is healthy" }
    for (name in sick) { code = 1; if (tell) print "ops-panel: " name " is not healthy" }
    for (name in again) { code = 1; if (tell) print "ops-panel: " name " ends again and again" }
    for (name in up) if (!(name in seen)) code = 1
    exit isOver ? 3 : code
  }`

/**
 * `RUN_COMPOSE <project> <digest>`, inside a container: brings one stack to the images that the look with this digest has listed, or
 * changes nothing. It looks again, the registry included. Images are pulled by their digest alone, and get the names that
 * the files of the stack use, so that Compose, which may then pull nothing, finds them there. Compose is given the services
 * that the look has listed, each with as many containers as it has, and no others: what somebody has stopped stays
 * stopped, and no other stack is touched. At the end the containers must have the listed images, and run without being
 * started again.
 */
export const RUN_COMPOSE = `
export PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
${ASKED}${COMPOSE}
not_begun() {
  printf '%s\\n' "ops-panel: nothing was changed: $1"
  exit ${NOT_BEGUN}
}
# From the first name on, something is changed, although no container is.
half_named() {
  printf '%s\\n' "ops-panel: $1 does not name the listed image; no container was changed, but other names may be"
  exit 1
}
image_id() { bounded 20 docker image inspect --format '{{.Id}}' "$1" 2>/dev/null </dev/null; }
# seen FILE: the containers of $project, in lines of READ_CONTAINERS
seen() {
  compose_containers "$project" || return
  : >containers
  compose_read_containers >/dev/null
  [ "$1" = containers ] || mv containers "$1"
}
# runs_image CONTAINER_IMAGE ID TARGET: an engine may give the image of a container another id than its name has
runs_image() {
  [ "$1" = "$2" ] ||
    bounded 20 docker image inspect --format '{{json .RepoDigests}}' "$1" 2>/dev/null </dev/null | grep -q -F "@$3\\""
}
# steady FILE: the containers of $project by their services, each with the moment of its start, its state and its health
steady() {
  compose_containers "$project" && [ -n "$ids" ] &&
    bounded 60 docker inspect --type container --format '${STEADY}' $ids >all 2>said </dev/null && grep -v '|True$' all >"$1"
}
# steadiness [tell]: compares the files \`first\` and \`last\` of \`steady\`, as far as services of \`wanted\` run
steadiness() { awk -F '|' -v tell="$1" '${COMPARE_STEADY}' wanted first last; }
compose_run() (
  project=$1
  case $project in '' | *[!a-z0-9_-]*) not_begun 'this is no name of a stack' ;; esac
  told=$(compose_look "$project" </dev/null)
  [ "$(printf '%s\\n' "$told" | tail -n 1)" = 'code|0' ] || not_begun "$(printf '%s\\n' "$told" | sed -n 's/^problem|[^|]*|//p' | head -n 1)"
  lines=$(printf '%s\\n' "$told" | grep -e '^project|' -e '^service|')
  sum=$(printf '%s\\n' "$lines" | sha256sum)
  if [ "\${sum%% *}" != "$2" ]; then
    printf '%s\\n' '${COMPOSE_DIFFERS}'
    printf '%s\\n' "$told" | sed 's/^/ /'
    exit ${SOURCE_CHANGED}
  fi
  in_work compose || not_begun 'there is no room for temporary files'
  compose_begin
  printf '%s\\n' "$lines" | sed -n 's/^service|//p' >listed
  config=$(printf '%s\\n' "$lines" | sed -n 's/^project|.*|//p')
  seen containers || not_begun "$(last_said said)"
  [ "$config" != - ] && compose_project >reason || not_begun "$(last_said reason)"
  cp containers before
  : >wanted
  pulled=' '
  while IFS='|' read -r _ name reference from was action target count state; do
    repository=\${reference%%@*}
    case \${repository##*/} in *:*) repository=\${repository%:*} ;; esac
    id=$from
    case $action in
      pull)
        case $pulled in
          *" $repository@$target "*) ;;
          *)
            echo "ops-panel: pulling $reference with the digest $target"
            bounded 3600 docker pull "$repository@$target" </dev/null 2>&1 || not_begun "$reference could not be pulled"
            pulled="$pulled$repository@$target "
            ;;
        esac
        id=$(image_id "$repository@$target") || not_begun "$reference is not there after the pull"
        ;;
      local | unknown) id=$target ;;
    esac
    printf '%s|%s|%s|%s|%s|%s\\n' "$name" "$reference" "$id" "$target" "$count" "$state" >>wanted
  done <listed
  # The pull may have taken long.
  seen after && cmp -s before after || not_begun 'its containers have changed meanwhile'
  cp after containers
  compose_project >reason || not_begun "$(last_said reason)"
  sum=$(sha256sum <config)
  [ "\${sum%% *}" = "$config" ] || not_begun 'its configuration has changed meanwhile'
  twice=$(awk -F '|' '$2 in ids && ids[$2] != $3 { print $2; exit } { ids[$2] = $3 }' wanted)
  [ -z "$twice" ] || not_begun "$twice is needed in two versions"
  while IFS='|' read -r name reference id target count state; do
    [ "$(image_id "$reference")" != "$id" ] || continue
    case $reference in
      *@*) ;;
      *) docker tag "$id" "$reference" </dev/null || half_named "$reference" ;;
    esac
  done <wanted
  while IFS='|' read -r name reference id target count state; do
    case $reference in *@*) reference=$id ;; esac
    [ "$(image_id "$reference")" = "$id" ] || half_named "$reference"
  done <wanted
  set -- up -d --no-build --no-deps --pull never --remove-orphans=false
  while IFS='|' read -r name reference id target count state; do set -- "$@" --scale "$name=$count"; done <wanted
  while IFS='|' read -r name reference id target count state; do set -- "$@" "$name"; done <wanted
  of_project 1800 --profile '*' "$@" </dev/null 2>&1
  code=$?
  if [ "$code" != 0 ]; then
    echo "ops-panel: Docker Compose has failed with the code $code; a part of the stack may have its new images"
    exit 1
  fi
  # A container that ends at once runs for moments, as its restart policy starts it again. Others need some starts until what
  # they need is there.
  : >last
  steady last
  waits=0
  while :; do
    mv last first 2>/dev/null
    sleep 10
    steady last && steadiness
    code=$?
    waits=$((waits + 1))
    case $code:$waits in 0:* | 3:* | 1:${MOST_STARTS} | *:${MOST_WAITS}) break ;; esac
  done
  seen now && [ -s last ] || {
    echo 'ops-panel: its containers cannot be listed any more'
    exit ${STACK_DIFFERS}
  }
  code=0
  while IFS='|' read -r name reference id target count state; do
    awk -F '|' -v name="$name" '$2 == name' now >own
    if [ "$(wc -l <own)" != "$count" ]; then
      echo "ops-panel: $name has not $count containers"
      [ "$code" != 0 ] || code=1
    fi
    while IFS='|' read -r _ _ image running _; do
      if ! runs_image "$image" "$id" "$target"; then
        echo "ops-panel: $name has the image $image instead of $id"
        code=${STACK_DIFFERS}
      elif [ "$state$running" = updown ]; then
        echo "ops-panel: $name does not run any more"
        [ "$code" != 0 ] || code=1
      fi
    done <own
  done <wanted
  steadiness tell
  [ $? != 1 ] || [ "$code" != 0 ] || code=1
  if [ "$code" = 0 ]; then
    echo "ops-panel: $project has the images that were listed"
    awk -F '|' '
      $6 == "pull" || (($6 == "local" || $6 == "unknown") && $4 != $7) {
        from = $3 " " substr($6 == "pull" && $5 != "-" ? $5 : $4, 8, 12)
        to = $3 " " substr($7, 8, 12)
        if (!((from, to) in told)) {
          told[from, to]
          before = before comma from
          after = after comma to
          comma = ", "
        }
      }
      END { if (comma != "") print "${VERSION_LINE}" before " -> " after }' listed
  fi
  exit "$code"
)
compose_run "$1" "$2"
`

/** Returns the command that brings a stack of a container to what the look with this digest has listed. */
export function composeCommand(id: string, project: string, digest: string, elevation: Elevation): Command {
  return asRoot(inContainer(id, script(RUN_COMPOSE, 'ops-panel-stack', project, digest)), elevation)
}
