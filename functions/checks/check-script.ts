import { APPLICATIONS } from '../applications/applications-look.ts'
import type { Prepared } from '../../jobs/jobs.ts'
import { type Command, HOST_HELPER, quote, script } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { STORAGE } from '../protection/storage-script.ts'
import { SERVICES } from '../restarts/services-script.ts'
import { STANDING } from '../restarts/standing-script.ts'
import { CHANGED_CONFFILES } from '../updates/fetch-script.ts'
import { THEN_RUN } from '../managers/managed-scripts.ts'
import { FIND_MANAGER } from '../managers/manager.ts'
import { TELL_OTHERS } from '../managers/no-manager.ts'
import { LOCKED } from '../updates/lock-script.ts'
import { UPGRADERS } from './upgraders-script.ts'

/*
 * The shell side of a check and the format of its output. An inspection prints sections: a word at the beginning of a
 * line, then indented lines. The check puts the output of each target into a block: a line with a mark, the target's
 * lines with one more leading space, and another line with the mark. The mark is random and no target learns it, so a
 * target cannot imitate the block of another one.
 */

/** The maximum of bytes that one target may print. */
export const INSPECTION_BYTES = 4 * 1024 * 1024
/**
 * Time for one target: refreshing lists over a slow line takes a minute. Results are stored once the last target has
 * ended, so none may hang.
 */
const INSPECTION_SECONDS = 120

/**
 * `INSPECTION <sudo>`, on the host or inside a container: refreshes the package lists, then reports available upgrades
 * and obstacles. It changes nothing else. If apt or dpkg is busy, it waits a few seconds and then reports that. The
 * simulations that tell why a package is left alone run only where some package is. Another manager than apt tells by
 * `managed_look` of managed-scripts.ts, which must come before this text. The host helper contains this text: any change
 * of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const INSPECTION = `
sudo=$1 begun=$(date +%s)
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP
section() {
  printf '%s\\n' "$1"
  tr -d '\\000' | sed -e 's#://[^/@ ]*@#://#g' -e 's/^/ /'
  echo
}
${CHANGED_CONFFILES.trimStart()}
head -c 4096 /etc/os-release 2>/dev/null | section os
${STANDING.trim()}
${FIND_MANAGER.trim()}
echo "manager $manager"
${TELL_OTHERS.trim()}
[ "$manager" != none ] || exit 0
limited=
timeout -k 5 60 true 2>/dev/null && limited='timeout -k 5 60'
sed -n 's#^[^ ]* \\(/\\|/usr\\|/var\\) [^ ]* \\(r[ow]\\)[, ].*#\\1 \\2#p' /proc/self/mounts | section mounts
if [ "$manager" != apt-get ]; then
  managed_look
else${LOCKED}
free() {
  tries=0
  while locked "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt "$2" ] || return 1
    sleep 1
  done
}
quiet='-o Debug::NoLocking=1 -o APT::Color=0'
# Another check of the same target may be reading the lists.
if free /var/lib/apt/lists/lock 30; then
  text=$({
    $limited $sudo apt-get -o APT::Update::Error-Mode=any -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \\
      -o Acquire::https::Timeout=20 -o APT::Color=0 update </dev/null 2>&1
    echo "code $?"
  } | tail -c 262144)
  printf '%s\\n' "$text" | grep -a -e '^[EW]: ' -e '^code ' -e '^sudo: ' | tail -n 200 | cut -c 1-1000 | section update
else
  echo 'locked lists'
fi
apt-get $quiet indextargets --format '$(CREATED_BY)' 2>/dev/null | grep -c -e '^Packages$' | section lists
# apt passes over what its caller may not read, and ends with 0.
apt-get $quiet indextargets --format x 2>&1 >/dev/null | grep -a -e '^[EW]: .*(13: ' | head -n 20 | cut -c 1-1000 | {
  cat
  for file in /etc/apt/preferences /etc/apt/preferences.d/*; do
    [ ! -e "$file" ] || [ -r "$file" ] || printf 'W: Unable to read %s\\n' "$file"
  done
} | section unread
apt-get $quiet --print-uris update 2>/dev/null </dev/null | sed -n "s/^'\\([a-z+-]*:[^']*\\)InRelease' .*/\\1/p" |
  head -n 200 | cut -c 1-500 | section repositories
free /var/lib/dpkg/lock-frontend 5 || echo 'locked dpkg'
set -- /var/lib/dpkg/updates/[0-9]*
[ ! -e "$1" ] || echo journal
dpkg-query -W -f '\${db:Status-Status} \${db:Status-Eflag} \${binary:Package}\\n' 2>/dev/null |
  grep -a -v -e '^installed ok ' -e '^config-files ok ' -e '^not-installed ok ' | head -n 1000 | section unfinished
checked=$({
  apt-get $quiet check </dev/null 2>&1
  echo "code $?"
} | tail -n 200)
printf '%s\\n' "$checked" | section check
apt-mark showhold 2>/dev/null | head -n 1000 | section held
simulated() {
  {
    apt-get $quiet -s "$@" </dev/null 2>/dev/null
    echo "code $?"
  } | grep -a -e '^Inst ' -e '^Remv ' -e '^code ' | head -c 4000000
}
case $checked in *'code 0') ;; *) simulated -f install | section fix ;; esac
planned=$(simulated --with-new-pkgs upgrade)
printf '%s\\n' "$planned" | section planned
listed=$({
  apt list --upgradable 2>/dev/null </dev/null
  echo "code $?"
} | head -c 4000000)
printf '%s\\n' "$listed" | section upgradable
if printf '%s\\n' "$planned" | grep -a -q '^Inst [^ ]* ('; then simulated upgrade | section minimal; fi
full=
left=$({
  printf '%s\\n' "$planned"
  printf '%s\\n' "$listed"
} | awk '/^Inst / { split($2, name, ":"); planned[name[1]] = 1 }
  / \\[upgradable from: / { split($1, name, "/"); if (!(name[1] in planned)) count++ } END { print count + 0 }')
if [ "$left" != 0 ]; then
  full=$(simulated full-upgrade)
  printf '%s\\n' "$full" | section full
  simulated -o APT::Get::Always-Include-Phased-Updates=true full-upgrade | section phased
fi
# Sizes, sources and changed configuration files of the packages that would change.
named() { printf '%s\\n%s\\n' "$planned" "$full" | sed -n "$1" | sort -u | head -n 10000; }
named 's/^Inst \\([a-z0-9][a-z0-9+.-]*\\)[^ ]* \\(\\[[^]]*\\] \\)*(\\([A-Za-z0-9.+:~-]*\\) .*/\\1=\\3/p' |
  xargs -r apt-cache $quiet show -- 2>/dev/null |
  awk 'function tell() { if (name != "") print name, arch, version, size, source } \\
    /^Package: / { tell(); name = $2; arch = version = source = ""; size = 0 } /^Version: / { version = $2 } \\
    /^Architecture: / { arch = $2 } /^Size: / { size = $2 } /^Source: / { source = $2 " " $3 } END { tell() }' |
  cut -c 1-400 | section offered
old=$(named 's/^\\(Inst\\|Remv\\) \\([a-z0-9][a-z0-9+.-]*\\(:[a-z0-9-]*\\)*\\) \\[.*/\\2/p')
printf '%s\\n' "$old" | xargs -r dpkg-query -W -f '\${Package} \${Architecture} \${source:Package} \${source:Version}\\n' 2>/dev/null |
  cut -c 1-500 | section installed
printf '%s\\n' "$old" | changed_conffiles | awk '{ print $1, substr($0, length($1) + 35) }' | head -n 100 | section conffiles
apt-get $quiet --print-uris -y --with-new-pkgs upgrade </dev/null 2>/dev/null |
  awk '/^\\047/ { if ($1 !~ /^\\047file:/) sum += $3 } /^After this operation, / { print } END { printf "download %.0f\\n", sum }' |
  section sizes
archives=/var/cache/apt/archives/
eval "$(apt-config shell archives Dir::Cache::archives/d 2>/dev/null)"
{
  for folder in / /usr /var /boot "$archives"; do
    case $folder in "$archives") name=archives ;; *) name=$folder ;; esac
    [ ! -d "$folder" ] || printf '%s %s %s\\n' "$name" "$(stat -f -c '%a %S %b' "$folder")" "$(stat -c %d "$folder")"
  done
  find "$archives" -maxdepth 2 -type f -name '*.deb' -printf '%s\\n' 2>/dev/null | awk '{ sum += $1 } END { printf "cached %.0f\\n", sum }'
} | section disk
fi
[ ! -e /run/reboot-required ] || head -c 65536 /run/reboot-required.pkgs 2>/dev/null | sort -u | section reboot
{
  uname -r
  for kernel in /boot/vmlinuz-*; do [ ! -e "$kernel" ] || printf '%s\\n' "\${kernel#/boot/vmlinuz-}"; done
} | head -n 100 | section kernels
${UPGRADERS.trim()}
${SERVICES.trim()}
${APPLICATIONS.trim()}
echo end
`

/** `FLAGS <sudo> <id>`: the job’s output is for every user, so it shows nothing else of a container’s configuration. */
const FLAGS = `config=$($1 ${CONTAINER_TOOL} config "$2") || exit; printf "%s\\n" "$config" | sed -n "/^template: 1$/p"`

/**
 * `CHECK <mark> <sudo> host|container|all <id> <lanes>`: lists the containers, inspects the running ones,
 * `<lanes>` at a time, and writes each block as soon as it is complete. Of a stopped container it tells whether it is a
 * template, in a block `flags:<id>`; of the containers that it covers, what their storage can do, in a block `storage`.
 * Under a sudo rule the account itself reads for that what it may. Time and bytes of each target are bounded. After the time-out, a process of the
 * target may still hold the pipe open, so the process that reads it is killed. That one is `cat`, because `head` would
 * lose the bytes in its buffer. The inspection is `$look` of its environment (`withInspection`); `$managers` (`withManagers`) comes before it. Descriptor 9
 * is for notes of the job. Where `<sudo>` ends with the host helper, the helper contains the inspection itself.
 */
export const CHECK = `
mark=$1 sudo=$2 scope=$3 only=$4 lanes=$5 helper=
# No program has it in its environment.
inspection=$look
unset look
look=$inspection
functions=\${managers-}${quote([THEN_RUN])}
unset managers
case $sudo in *${HOST_HELPER}) helper=1 ;; esac
limit=${INSPECTION_SECONDS} most=${INSPECTION_BYTES / 512}
dir=$(mktemp -d /tmp/ops-panel-check-XXXXXXXX) || exit 73
trap 'rm -rf "$dir"' EXIT
trap 'exit 143' HUP INT TERM
block() {
  printf '%s %s\\n' "$mark" "$1"
  sed 's/^/ /' "$2"
  printf '\\n%s end %s\\n' "$mark" "$1"
}
mkfifo "$dir/lanes" "$dir/turn"
exec 7<>"$dir/turn" 8<>"$dir/lanes"
echo >&7
while [ "$lanes" -gt 0 ]; do
  echo >&8
  lanes=$((lanes - 1))
done
inspect() {
  name=$1 file=$dir/$2
  shift 2
  mkfifo "$file.pipe"
  (ulimit -f "$most" && exec cat) <"$file.pipe" >"$file" 7>&- 8>&- 9>&- &
  reader=$!
  : | timeout -k 5 "$limit" "$@" >"$file.pipe" 2>&1 7>&- 8>&- 9>&-
  code=$?
  tries=0
  while kill -0 "$reader" 2>/dev/null && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.02
  done
  kill -s KILL "$reader" 2>/dev/null
  read -r turn <&7
  block "$name $code" "$file"
  echo >&7
  rm -f "$file" "$file.pipe"
}
lane() {
  read -r turn <&8
  {
    inspect "$@"
    echo >&8
  } 2>/dev/null &
}
case $scope:$helper in
  host:1 | all:1) lane host host $sudo look host ;;
  host: | all:) lane host host sh -c "$functions" ops-panel-look "$look" "$sudo" ;;
esac
code=0
which=$only
[ "$scope" = container ] || which=all
if [ -x ${CONTAINER_TOOL} ]; then
  case $scope:$helper in
    host:*) ;;
    *:1) lane storage storage $sudo storage "$which" ;;
    *:) lane storage storage sh -c ${quote([STORAGE])} ops-panel-storage "$which" ;;
  esac
  if [ -n "$helper" ]; then set -- $sudo list; else set -- $sudo ${CONTAINER_TOOL} list; fi
  timeout -k 5 60 "$@" >"$dir/list" 2>"$dir/list.error" </dev/null || code=$?
else
  : >"$dir/list"
  [ "$scope" != container ] || code=127
fi
read -r turn <&7
block "list $code" "$dir/list"
if [ "$code" != 0 ] && [ -s "$dir/list.error" ]; then tail -n 1 "$dir/list.error"; fi
echo >&7
found=
while read -r id status rest; do
  case $id in '' | *[!0-9]*) continue ;; esac
  case $scope in host) continue ;; container) [ "$id" = "$only" ] || continue ;; esac
  found=1
  if [ "$status" != running ]; then
    if [ -n "$helper" ]; then
      lane "flags:$id" "$id" $sudo flags "$id"
    else
      lane "flags:$id" "$id" sh -c ${quote([FLAGS])} ops-panel-flags "$sudo" "$id"
    fi
  elif [ -n "$helper" ]; then
    lane "lxc:$id" "$id" $sudo look "$id"
  else
    lane "lxc:$id" "$id" $sudo ${CONTAINER_TOOL} exec "$id" -- sh -c "$functions" ops-panel-look "$look" ''
  fi
done <"$dir/list"
wait
if [ "$scope" = container ] && [ -z "$found" ]; then
  echo "container $only: not listed"
  exit 2
fi
[ "$code" = 0 ] || [ "$scope" = host ] || exit "$code"
`

/** The targets that a check covers. */
export type CheckScope = { scope: 'host' | 'all' } | { scope: 'container'; id: string }

/** The lanes of a check that names none. */
export const LANES = 6

/**
 * Returns the command of a check that inspects `lanes` targets at a time. `sudo` is put before each program that needs
 * rights (`''` when none is needed).
 */
export function checkCommand(scope: CheckScope, mark: string, sudo: string, lanes: number): Command {
  return script(
    CHECK,
    'ops-panel-check',
    mark,
    sudo,
    scope.scope,
    scope.scope === 'container' ? scope.id : '',
    String(lanes),
  )
}

/** Gives the inspection to the script of a check, as the variable `look`: it is longer than an argument of a command over SSH may be. */
export function withInspection({ program = '', ...prepared }: Prepared): Prepared {
  return { ...prepared, program: `look=${quote([INSPECTION])}\nexport look\n${program}` }
}
