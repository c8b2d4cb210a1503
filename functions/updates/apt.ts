import { type Command, type Elevation, HOST_HELPER, quote, readLines, script } from '../../ssh/ssh.ts'
import { FIND_MANAGER } from '../managers/manager.ts'
import { PAUSE } from './lock-script.ts'
import { REFRESH, relay } from './refresh-script.ts'

/** Lists available upgrades, in English whatever the language of the host or container. */
export const LIST_UPGRADABLE: Command = ['env', 'LC_ALL=C', 'apt', 'list', '--upgradable']

export interface Package {
  name: string
  version: string
  old_version: string
}

/** Lists every package with the state that dpkg has it in. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
export const LIST_UNFINISHED: Command = ['dpkg-query', '-W', '-f', '${db:Status-Status} ${binary:Package}\\n']

/** Returns the packages that dpkg left unfinished. Rejects like `readLines`. */
export function parseUnfinished(text: string): Promise<string[]> {
  return readLines(text, (line) => {
    const [state = '', name] = line.split(' ')
    return /^(half-|unpacked|triggers-)/.test(state) ? name : undefined
  })
}

const MARKER = '[upgradable from:'

/**
 * Parses apt's list: `librig2/stable 1:2.0~rc1-1 amd64 [upgradable from: 1.4.2-1+b1]`. Other lines are ignored. Rejects
 * like `readLines`.
 */
export function parseUpgradable(text: string): Promise<Package[]> {
  return readLines(text, (line) => {
    const marker = line.indexOf(MARKER)
    if (marker < 0) return undefined
    const fields = line.trim().split(/\s+/)
    const [name = '', version = ''] = fields
    const old_version = withoutEnd(line.slice(marker + MARKER.length)).trimStart()
    return { name: name.split('/')[0] ?? '', version, old_version }
  })
}

/** Removes trailing `]` and white space, without a pattern: its time would grow with the square of a hostile line. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' ]\t\r'.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** The beginning of the line that `STEPS` prints between its two steps when it could not refresh every repository. */
export const PARTLY_REFRESHED = 'Not every repository could be refreshed: '
/** The exit code of `STEPS` after an upgrade without the newest lists of every repository: EX_TEMPFAIL, not apt's. */
const WARNED = 75

/**
 * The two steps of an upgrade, on the host or inside a container: `STEPS <sudo>`, where `<sudo>` is empty or `sudo -n`.
 * An interrupted dpkg is completed first; where the sudo rule names apt-get alone, a hook of apt-get does it. apt
 * itself waits up to two minutes for dpkg's lock; the script waits as long for the lock of the lists. A container lacks
 * the folder for temporary files that sudo or PAM named on the host.
 *
 * A repository that cannot be refreshed does not keep back the updates of the others; the exit code is then 75. Any
 * other failure of the refresh ends the script with apt-get's code. Another manager than apt upgrades by
 * `managed_upgrade` of managed-scripts.ts, which must come before this text. The host helper contains this text: any
 * change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const STEPS = `
sudo=$1
${FIND_MANAGER.trim()}
if [ "$manager" != apt-get ] && [ "$manager" != none ]; then
  managed_upgrade
  exit
fi
unset TMPDIR TEMPDIR TMP TEMP
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l
waited=0${PAUSE}${REFRESH}
frontend=/var/lib/dpkg/lock-frontend
interrupted() {
  set -- /var/lib/dpkg/updates/[0-9]*
  [ -e "$1" ] || [ -n "$(dpkg --audit 2>/dev/null)" ]
}
repair='dpkg --force-confdef --force-confold --configure -a' hook=
# The script does not interrupt the work of another dpkg.
interrupted && pause "$frontend"
if interrupted; then
  if [ -z "$sudo" ]; then $repair; else hook="DEBIAN_FRONTEND=noninteractive $repair || true"; fi
fi
set -- -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 \\
  -o Dpkg::Use-Pty=0 -o APT::Color=0 -o APT::Update::Error-Mode=any
[ -z "$hook" ] || set -- "$@" -o "APT::Update::Pre-Invoke::=$hook"
read_lists $sudo apt-get "$@" update
[ -z "$failed" ] || printf '%s\\n' "${PARTLY_REFRESHED}$failed"
$sudo apt-get -y "$@" full-upgrade </dev/null || exit
[ -n "$failed" ] || exit 0
printf '%s\\n' "Upgraded, with warnings: these repositories could not be refreshed: $failed"
exit ${WARNED}
`

/** Most bytes of output of one of several containers. Bytes beyond this are counted. */
const MOST_OF_ONE = 4 * 1024 * 1024

/**
 * `RELAY <command> <argument>…`, in Perl: runs the command with a separate output pipe that ends with the command.
 * Processes that the command leaves behind therefore hold no pipe of later commands, so they can neither forge output
 * nor block it.
 */
const RELAY = relay({
  first: `my ($room, $missing) = (${MOST_OF_ONE}, 0);`,
  take: `my $take = $count < $room ? $count : $room;
  put($bytes, $take);
  $room -= $take;
  $missing += $count - $take;`,
  last: `print "\\n[… $missing octets omis : la sortie de ce conteneur dépasse ${MOST_OF_ONE / 1024 / 1024} Mio …]\\n" if $missing;`,
})

/**
 * `UPGRADE <STEPS> <sudo> host`, `… container <id>` or `… all <id>…`. With `all`, a failed container is reported and
 * the next one follows; the exit code is then 0. The script writes each result to descriptor 9, which no process in a
 * container has, because a container's output could imitate a result. A container that runs neither before nor
 * afterwards was left out, with the reason `template`, `locked` or `stopped`; any other failure is `failed`. An upgrade
 * without the newest lists of every repository is `warned`, and the exit code of such a host or container is 0. Where
 * `<sudo>` ends with the host helper, the helper contains the steps itself. `$managers` of its environment (`withManagers`)
 * comes before the steps.
 */
export const UPGRADE = `
steps=\${managers-}$1 sudo=$2 scope=$3
shift 3
unset managers
apart() {
  if [ "$scope" = all ]; then perl -e ${quote([RELAY])} "$@"; else "$@"; fi
}
case $sudo in
  *${HOST_HELPER})
    here() { $sudo upgrade host </dev/null 9>&-; }
    inside() { : | apart $sudo upgrade "$1" 9>&-; }
    ask() {
      [ "$1" = status ] || set -- flags "$2"
      $sudo "$@" </dev/null 2>/dev/null 9>&-
    }
    ;;
  *)
    here() { sh -c "$steps" ops-panel-apt "$sudo" 9>&-; }
    inside() { : | apart $sudo /usr/sbin/pct exec "$1" -- sh -c "$steps" ops-panel-apt '' 9>&-; }
    ask() { $sudo /usr/sbin/pct "$@" </dev/null 2>/dev/null 9>&-; }
    ;;
esac
asleep() {
  [ "$(ask status "$1")" = 'status: stopped' ] || return 0
  case "
$(ask config "$1")" in
    *"
template: 1"*) echo template ;;
    *"
lock: "*) echo locked ;;
    *) echo stopped ;;
  esac
}
note() { printf '%s\\n' "$*" 2>/dev/null >&9 || :; }
settle() { "$@" || { code=$?; [ "$code" = ${WARNED} ] || return "$code"; }; }
case $scope in
  host) settle here ;;
  container) settle inside "$1" ;;
  all) for id; do
    printf '=== LXC %s ===\\n' "$id"
    left=$(asleep "$id") code=0
    inside "$id" || code=$?
    if [ "$code" = 0 ]; then
      note "$id" done 0
    elif [ "$code" = ${WARNED} ]; then
      note "$id" warned 0
    else
      printf 'SKIP LXC %s\\n' "$id"
      [ -z "$left" ] || left=$(asleep "$id")
      note "$id" "\${left:-failed}" "$code"
    fi
  done ;;
esac
`

/** The targets that an upgrade job covers. */
export type Scope = { scope: 'host' } | { scope: 'container'; id: string } | { scope: 'all'; ids: readonly string[] }

/**
 * Returns the text before each program that needs rights. Where the sudo rule covers single commands only, the script
 * runs as the account and calls sudo for each of them.
 */
export function sudoFor(elevation: Elevation): string {
  if (elevation === 'helper') return `sudo -n -- ${HOST_HELPER}`
  return elevation === 'rule' ? 'sudo -n' : ''
}

/** Returns the command of an upgrade job; `sudo` comes from `sudoFor`. */
export function upgrade(scope: Scope, sudo: string): Command {
  const ids = scope.scope === 'host' ? [] : scope.scope === 'container' ? [scope.id] : scope.ids
  return script(UPGRADE, 'ops-panel-upgrade', STEPS, sudo, scope.scope, ...ids)
}
