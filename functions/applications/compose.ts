import { CONTAINER, IMAGE, JOIN, LABEL, READ_CONFIG, READ_CONTAINERS } from './compose-answers.ts'

/*
 * Docker Compose stacks: what a look asks in a target. Stacks are found by the labels of their containers, so a stack is
 * known wherever its files are. The image that a service should run is the one that its file names now. The engine itself
 * asks the registry for the digest of that name, by `config --resolve-image-digests`, the same way as it will pull, and
 * with the credentials that the target has: neither leaves the target.
 *
 * A look prints, with `|` between the fields:
 *
 * - `project NAME FILES CONFIG`: CONFIG is the SHA-256 of the whole configuration with all its variables, `-` where a run
 *   is not possible; the reason is a problem of that project.
 * - `service PROJECT SERVICE IMAGE FROM WAS ACTION TARGET COUNT STATE`: for each service that runs, or that a running one
 *   waits for. FROM is the id of the image of its containers, and WAS that image's digest in its registry. ACTION and
 *   TARGET: `keep DIGEST`, it is what the registry gives; `pull DIGEST`, the registry gives another one; `local ID`, the
 *   image is built in the target, so no registry is asked; `unknown ID`, the registry could not be asked. COUNT is the
 *   number of containers; STATE `up`, or `once` for what ends by itself.
 * - `problem PROJECT MESSAGE`, and last `code N`: 0 for a whole answer.
 *
 * The lines of one project, as they are, are what a run is bound to (`composeDigest`).
 */

/** Containers of stacks, stacks, and registries that a look asks about; more of them make a problem. */
const MOST_CONTAINERS = 500
const MOST_PROJECTS = 50
const MOST_IMAGES = 60

export const COMPOSE = `
# composed SECONDS WORD...: Docker Compose, with nothing of the environment of this script
composed() {
  patience=$1
  shift
  bounded "$patience" env -i HOME="$HOME" PATH="$PATH" $compose --ansi never "$@"
}
# of_project SECONDS WORD...: the same for $project, from the files that its containers name
of_project() (
  patience=$1
  shift
  count=$#
  set -f
  IFS=,
  set -- "$@" -p "$project" --project-directory "$folder"
  for each in $files; do set -- "$@" -f "$each"; done
  for each in $variables; do set -- "$@" --env-file "$each"; done
  unset IFS
  while [ "$count" -gt 0 ]; do
    each=$1
    shift
    set -- "$@" "$each"
    count=$((count - 1))
  done
  composed "$patience" "$@"
)
# compose_begin: an engine that runs, and its Compose, if it has one
compose_begin() {
  unset DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_API_VERSION DOCKER_DEFAULT_PLATFORM
  export LC_ALL=C
  HOME=$(awk -F : '$3 == 0 { print $6; exit }' /etc/passwd) && [ -n "$HOME" ] || HOME=/root
  export HOME
  compose=
  for each in 'docker compose' docker-compose; do
    version=$(bounded 20 env -i HOME="$HOME" PATH="$PATH" $each version --short 2>/dev/null </dev/null)
    version=\${version#v}
    case \${version%%.*} in
      '' | *[!0-9]* | 0 | 1) ;;
      *)
        compose=$each
        break
        ;;
    esac
  done
}
# compose_containers PROJECT: the containers of all stacks, or of one
compose_containers() {
  tries=0
  # A container that is removed between the two commands makes the second one fail.
  until
    ids=$(bounded 30 docker ps -a -q --no-trunc --filter "label=${LABEL}.project\${1:+=$1}" 2>said </dev/null) &&
      [ "$(printf '%s\\n' "$ids" | wc -l)" -le ${MOST_CONTAINERS} ] &&
      if [ -n "$ids" ]; then bounded 60 docker inspect --type container --format '${CONTAINER}' $ids >raw 2>said </dev/null; else : >raw; fi
  do
    tries=$((tries + 1))
    [ "$tries" -lt 3 ] || return
    sleep 1
  done
}
compose_read_containers() { awk -F '\\t' -v OFS='|' '${READ_CONTAINERS}' raw; }
# compose_project: reads the configuration of $project; says why it cannot be run
compose_project() {
  awk -F '|' -v project="$project" '$1 == project { print $6 "|" $7 "|" $8 }' containers | sort -u >places
  IFS='|' read -r folder files variables <places || return
  if [ "$(wc -l <places)" != 1 ]; then
    echo 'its containers were started from different files'
    return 1
  fi
  if [ -z "$compose" ]; then
    echo 'Docker Compose 2 is missing'
    return 1
  fi
  case ,$files,$folder,\${variables:-/} in
    *,[!/]* | *,)
      echo 'its containers do not tell where its files are'
      return 1
      ;;
  esac
  (
    set -f
    IFS=,
    for each in $files $variables; do
      [ -f "$each" ] && [ -r "$each" ] || {
        printf '%s is not there\\n' "$each"
        exit 1
      }
    done
  ) || return
  # The message of a failure quotes what it could not read, and the files have passwords in them.
  of_project 30 --profile '*' config >config 2>said </dev/null || {
    echo 'Docker Compose cannot read its files'
    return 1
  }
  # A variable that only the shell of the first start had would be empty from now on.
  if grep -q 'variable is not set' said; then
    names=$(sed -n 's/.*The [\\\\]*"\\([A-Za-z0-9_]*\\)[\\\\]*" variable is not set.*/\\1/p' said | sort -u | paste -s -d ' ' -)
    echo "these variables come from the shell that started it: $names"
    return 1
  fi
  awk -v OFS='|' -v project="$project" '${READ_CONFIG}' config >open
  if [ -s open ]; then
    cat open
    return 1
  fi
  [ -s services.new ] || {
    echo 'its configuration has no services'
    return 1
  }
}
# compose_ask NUMBER IMAGE: the digest that the registry has for a name. Without --no-interpolate, some versions of Compose
# (2.26 of Debian 13 is one) leave the name as it is.
compose_ask() {
  printf 'services:\\n  asked:\\n    image: "%s"\\n' "$2" |
    composed 10 -p ops-panel-asked --project-directory / --env-file /dev/null -f - config --resolve-image-digests --no-interpolate >"answer.$1" 2>"said.$1"
  code=$?
  got=$(sed -n 's/^ *image: .*@\\(sha256:[0-9a-f]*\\)"*$/\\1/p' "answer.$1")
  if [ "$code" = 0 ] && [ "\${#got}" = 71 ]; then
    printf '%s|%s|\\n' "$2" "$got" >"asked.$1"
  else
    [ "$code" != 124 ] || echo 'no answer within 10 s' >"said.$1"
    printf '%s|-|%s\\n' "$2" "$(last_said "said.$1")" >"asked.$1"
  fi
}
# compose_look [PROJECT]: as compose.ts says
compose_look() (
  only=\${1-} end=$(($(date +%s) + 25))
  command -v docker >/dev/null 2>&1 || {
    echo 'code|0'
    exit
  }
  # To ask would start an engine that does not run.
  if ! grep -qsx dockerd /proc/[0-9]*/comm; then
    [ ! -d /var/lib/docker/containers ] || problem - 'the Docker engine does not run'
    echo 'code|0'
    exit
  fi
  in_work compose || {
    problem - 'there is no room for temporary files'
    echo 'code|1'
    exit
  }
  compose_begin
  if ! compose_containers "$only"; then
    problem - "$(last_said said)"
    echo 'code|1'
    exit
  fi
  : >containers
  compose_read_containers
  cut -d '|' -f 3 containers | sort -u | while read -r image; do
    told=$(bounded 20 docker image inspect --format '${IMAGE}' "$image" 2>/dev/null </dev/null) && printf '%s|%s\\n' "$image" "$told"
  done >images
  # An image can bring any label: with these, its containers would name files that it has written itself.
  awk -F '|' '{ for (at = 3; at <= NF; at++) if ($at != "" && $at != "\\"\\"" && $at != "null") { print $1; next } }' images >forged
  if [ -s forged ]; then
    problem - "images with labels of Docker Compose are left out: $(cut -c 8-19 forged | paste -s -d ' ' -)"
    awk -F '|' 'FILENAME == "forged" { forged[$1]; next } !($3 in forged)' forged containers >kept
    mv kept containers
  fi
  : >services
  : >projects
  cut -d '|' -f 1 containers | sort -u >names
  [ "$(wc -l <names)" -le ${MOST_PROJECTS} ] || problem - 'there are more stacks than a look asks about'
  head -n ${MOST_PROJECTS} names | while read -r project; do
    rm -f services.new
    folder= files= variables=
    if compose_project >reason; then
      sum=$(sha256sum <config)
      sum=\${sum%% *}
    else
      sum=-
      problem "$project" "$(last_said reason)"
      awk -F '|' -v OFS='|' -v project="$project" '$1 == project { print $1, $2, $5, 0 }' containers | sort -u >services.new
    fi
    IFS='|' read -r folder files variables <places
    printf '%s|%s|%s\\n' "$project" "$files" "$sum" >>projects
    cat services.new >>services
  done
  awk -F '|' 'FILENAME == "containers" { used[$1, $2]; next } ($1, $2) in used { print $3 "|" $4 }' containers services | sort -u >references
  : >locals
  number=0
  while IFS='|' read -r reference built; do
    case $reference in
      *[!A-Za-z0-9._:/@-]* | [!A-Za-z0-9]* | sha256:*) continue ;;
    esac
    id=$(bounded 20 docker image inspect --format '{{.Id}}' "$reference" 2>/dev/null </dev/null) && printf '%s|%s\\n' "$reference" "$id" >>locals
    case $built:$reference in 1:* | *@*) continue ;; esac
    number=$((number + 1))
    # What is not asked is unknown.
    [ -n "$compose" ] && [ "$number" -le ${MOST_IMAGES} ] && [ "$(date +%s)" -lt "$end" ] || continue
    compose_ask "$number" "$reference" &
    [ $((number % 8)) != 0 ] || wait
  done <references
  wait
  cat asked.* >asked 2>/dev/null
  awk -F '|' -v OFS='|' '${JOIN}' images locals asked projects services containers >joined && sort -u joined && echo 'code|0' || echo 'code|1'
)
`
