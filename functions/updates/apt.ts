import { type Command, type Elevation, HOST_HELPER, quote, readLines, script } from '../../ssh/ssh.ts'

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

/**
 * A shell test: another process holds the lock of that file. /proc/locks identifies files by a number that is not
 * unique across file systems, so anybody could hold a lock with the same number. The test therefore requires that the
 * holder has this very file open or, where that cannot be read, is root.
 */
export const LOCKED = `
locked() {
  inode=$(stat -c %i "$1" 2>/dev/null) || return 1
  for holder in $(sed -n "s/.* \\([0-9][0-9]*\\) [^ ]*:$inode [^ ]* [^ ]*$/\\1/p" /proc/locks); do
    for open in "/proc/$holder/fd"/*; do
      [ "$open" -ef "$1" ] && return 0
    done
    [ "$(id -u)" = 0 ] || ! grep -q '^Uid:[^0-9]*0[^0-9]' "/proc/$holder/status" 2>/dev/null || return 0
  done
  return 1
}`

/**
 * The two steps of an upgrade, on the host or inside a container: `STEPS <sudo>`, where `<sudo>` is empty or `sudo -n`.
 * An interrupted dpkg is completed first; where the sudo rule names apt-get alone, a hook of apt-get does it. apt
 * itself waits up to two minutes for dpkg's lock; the script waits as long for the lock of the lists. A container lacks
 * the folder for temporary files that sudo or PAM named on the host.
 */
export const STEPS = `
sudo=$1
unset TMPDIR TEMPDIR TMP TEMP
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l
waited=0${LOCKED}
pause() {
  while locked "$1" && [ "$waited" -lt 120 ]; do
    [ "$waited" -gt 0 ] || echo 'Waiting for another apt-get or dpkg to finish...'
    waited=$((waited + 1))
    sleep 1
  done
}
lists=/var/lib/apt/lists/lock frontend=/var/lib/dpkg/lock-frontend
interrupted() {
  set -- /var/lib/dpkg/updates/[0-9]*
  [ -e "$1" ] || [ -n "$(dpkg --audit 2>/dev/null)" ]
}
repair='dpkg --force-confdef --force-confold --configure -a' hook=
# What another one is in the middle of is not interrupted.
interrupted && pause "$frontend"
if interrupted; then
  if [ -z "$sudo" ]; then $repair; else hook="DEBIAN_FRONTEND=noninteractive $repair || true"; fi
fi
set -- -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 \\
  -o Dpkg::Use-Pty=0 -o APT::Color=0
[ -z "$hook" ] || set -- "$@" -o "APT::Update::Pre-Invoke::=$hook"
waited=0
pause "$lists"
until $sudo apt-get "$@" update </dev/null; do
  code=$?
  locked "$lists" && [ "$waited" -lt 120 ] || exit "$code"
  pause "$lists"
done
$sudo apt-get -y "$@" full-upgrade </dev/null
`

/** Most bytes of output of one of several containers. Bytes beyond this are counted. */
const MOST_OF_ONE = 4 * 1024 * 1024

/**
 * `RELAY <command> <argument>…`, in Perl: runs the command with a separate output pipe that ends with the command.
 * Processes that the command leaves behind therefore hold no pipe of later commands, so they can neither forge output
 * nor block it.
 */
const RELAY = `
use strict;
pipe my $from, my $to or exit 74;
pipe my $woken, my $wake or exit 74;
$SIG{CHLD} = sub { syswrite $wake, "." };
my $pid = fork;
exit 74 if !defined $pid;
if ($pid == 0) {
  $SIG{CHLD} = "DEFAULT";
  open STDOUT, ">&", $to and open STDERR, ">&", $to or exit 74;
  exec { $ARGV[0] } @ARGV;
  print STDERR "$ARGV[0]: $!\\n";
  exit($! == 2 ? 127 : 126);
}
close $to;
sub uptime { open my $file, "<", "/proc/uptime" or return 0; (split " ", <$file>)[0] }
my ($ready, $room, $missing, $code, $deadline) = ("", ${MOST_OF_ONE}, 0);
vec($ready, fileno $_, 1) = 1 for $from, $woken;
until ($deadline && uptime() > $deadline) {
  my $now = $ready;
  next if select($now, undef, undef, $deadline ? 0.05 : undef) < 1;
  if (vec $now, fileno $woken, 1) {
    sysread $woken, my $signals, 16;
    if (!defined $code && waitpid($pid, 1) == $pid) { ($code, $deadline) = ($?, uptime() + 1) }
  }
  next if !vec $now, fileno $from, 1;
  my $count = sysread $from, my $bytes, 65536;
  next if !defined $count;
  last if $count == 0;
  my $take = $count < $room ? $count : $room;
  for (my $at = 0; $at < $take;) {
    my $written = syswrite STDOUT, $bytes, $take - $at, $at;
    if (defined $written) { $at += $written } elsif ($! != 4) { exit 74 }
  }
  $room -= $take;
  $missing += $count - $take;
}
until (defined $code) { $code = $? if waitpid($pid, 0) == $pid }
print "\\n[… $missing octets omis : la sortie de ce conteneur dépasse ${MOST_OF_ONE / 1024 / 1024} Mio …]\\n" if $missing;
exit($code & 127 ? 128 + ($code & 127) : $code >> 8);
`

/**
 * `UPGRADE <STEPS> <sudo> host`, `… container <id>` or `… all <id>…`. With `all`, a failed container is reported and
 * the next one follows; the exit code is then 0. The script writes each result to descriptor 9, which no process in a
 * container has, because a container's output could imitate a result. A container that runs neither before nor
 * afterwards was left out, with the reason `template`, `locked` or `stopped`; any other failure is `failed`. Where
 * `<sudo>` ends with the host helper, the helper contains the steps itself.
 */
export const UPGRADE = `
steps=$1 sudo=$2 scope=$3
shift 3
apart() {
  if [ "$scope" = all ]; then perl -e ${quote([RELAY])} "$@"; else "$@"; fi
}
case $sudo in
  *${HOST_HELPER})
    here() { $sudo upgrade host </dev/null 9>&-; }
    inside() { : | apart $sudo upgrade "$1" 9>&-; }
    # It shows no configuration: a template or a locked container that does not run is told as stopped.
    ask() { [ "$1" = status ] && $sudo "$@" </dev/null 2>/dev/null 9>&-; }
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
case $scope in
  host) here ;;
  container) inside "$1" ;;
  all) for id; do
    printf '=== LXC %s ===\\n' "$id"
    left=$(asleep "$id") code=0
    inside "$id" || code=$?
    if [ "$code" = 0 ]; then
      note "$id" done 0
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
