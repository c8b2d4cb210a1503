import { type Command, HOST_HELPER, script } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { LOCKED } from '../updates/apt.ts'

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
/** Targets inspected at the same time. */
const LANES = 6

/**
 * `INSPECTION <sudo>`, on the host or inside a container: refreshes the package lists, then reports available upgrades
 * and obstacles. It changes nothing else. If apt or dpkg is busy, it waits a few seconds and then reports that. The
 * host helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const INSPECTION = `
sudo=$1
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP
section() {
  printf '%s\\n' "$1"
  tr -d '\\000' | sed 's/^/ /'
  echo
}
head -c 4096 /etc/os-release 2>/dev/null | section os
for manager in apt-get apk dnf zypper pacman none; do
  command -v "$manager" >/dev/null 2>&1 && break
done
echo "manager $manager"
[ "$manager" = apt-get ] || exit 0
limited=
command -v timeout >/dev/null 2>&1 && limited='timeout -k 5 100'${LOCKED}
free() {
  tries=0
  while locked "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt 5 ] || return 1
    sleep 1
  done
}
quiet='-o Debug::NoLocking=1 -o APT::Color=0'
if free /var/lib/apt/lists/lock; then
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
apt-get $quiet indextargets --format x 2>&1 >/dev/null | grep -a -e '^[EW]: .*(13: ' | head -n 20 | cut -c 1-1000 | section unread
free /var/lib/dpkg/lock-frontend || echo 'locked dpkg'
set -- /var/lib/dpkg/updates/[0-9]*
[ ! -e "$1" ] || echo journal
dpkg-query -W -f '\${db:Status-Status} \${db:Status-Eflag} \${binary:Package}\\n' 2>/dev/null |
  grep -a -v -e '^installed ok ' -e '^config-files ok ' -e '^not-installed ok ' | head -n 1000 | section unfinished
{
  apt-get $quiet -qq check </dev/null 2>&1
  echo "code $?"
} | tail -n 200 | section check
apt-mark showhold 2>/dev/null | head -n 1000 | section held
{
  apt-get $quiet -s --with-new-pkgs upgrade </dev/null 2>/dev/null
  echo "code $?"
} | grep -a -e '^Inst ' -e '^code ' | section planned
{
  apt list --upgradable 2>/dev/null </dev/null
  echo "code $?"
} | section upgradable
[ ! -e /run/reboot-required ] || head -c 65536 /run/reboot-required.pkgs 2>/dev/null | sort -u | section reboot
echo end
`

/**
 * `CHECK <mark> <INSPECTION> <sudo> host | container <id> | all`: lists the containers, inspects the running ones,
 * several at a time, and writes each block as soon as it is complete. Time and bytes of each target are bounded. After
 * the time-out, a process of the target may still hold the pipe open, so the process that reads it is killed. That one
 * is `cat`, because `head` would lose the bytes in its buffer. Where `<sudo>` ends with the host helper, the helper
 * contains the inspection itself.
 */
export const CHECK = `
mark=$1 look=$2 sudo=$3 scope=$4 only=$5 helper=
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
for lane in ${Array.from({ length: LANES }, (_, lane) => lane + 1).join(' ')}; do echo >&8; done
inspect() {
  name=$1 file=$dir/$2
  shift 2
  mkfifo "$file.pipe"
  (ulimit -f "$most" && exec cat) <"$file.pipe" >"$file" 7>&- 8>&- &
  reader=$!
  : | timeout -k 5 "$limit" "$@" >"$file.pipe" 2>&1 7>&- 8>&-
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
  host: | all:) lane host host sh -c "$look" ops-panel-look "$sudo" ;;
esac
code=0
if [ -x ${CONTAINER_TOOL} ]; then
  if [ -n "$helper" ]; then set -- $sudo list; else set -- $sudo ${CONTAINER_TOOL} list; fi
  timeout -k 5 60 "$@" >"$dir/list" 2>"$dir/list.error" </dev/null || code=$?
else
  : >"$dir/list"
  [ "$scope" != container ] || code=127
fi
read -r turn <&7
block "list $code" "$dir/list"
echo >&7
if [ "$code" != 0 ] && [ -s "$dir/list.error" ]; then tail -n 1 "$dir/list.error"; fi
found=
while read -r id status rest; do
  case $id in '' | *[!0-9]*) continue ;; esac
  case $scope in host) continue ;; container) [ "$id" = "$only" ] || continue ;; esac
  found=1
  [ "$status" = running ] || continue
  if [ -n "$helper" ]; then
    lane "lxc:$id" "$id" $sudo look "$id"
  else
    lane "lxc:$id" "$id" $sudo ${CONTAINER_TOOL} exec "$id" -- sh -c "$look" ops-panel-look ''
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

/** Returns the command of a check. `sudo` is put before each program that needs rights (`''` when none is needed). */
export function checkCommand(scope: CheckScope, mark: string, sudo: string): Command {
  return script(
    CHECK,
    'ops-panel-check',
    mark,
    INSPECTION,
    sudo,
    scope.scope,
    scope.scope === 'container' ? scope.id : '',
  )
}
