import { createHash } from 'node:crypto'
import { HOST_HELPER, quote, script } from '../../ssh/ssh.ts'
import { INSPECTION } from '../checks/check-script.ts'
import { REPAIR } from '../checks/remedy-job.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { LIST_UNFINISHED, LIST_UPGRADABLE, STEPS } from '../updates/apt.ts'

/** The host helper's version, raised with every new or changed verb. Verbs are never removed. */
export const HELPER_VERSION = 1

/** The folder, owned by root, with the records of the sessions that run under the helper. */
const FOLDER = '/run/ops-panel-host'

const REFRESH = 'exec apt-get -o APT::Update::Error-Mode=any -o APT::Color=0 update </dev/null'
/**
 * `LEAD <record> <command> <argument>…` records the session that it leads and its start time, then becomes the command.
 */
const LEAD = `
record=$1
shift
read -r stat </proc/$$/stat
begun=$(set -- \${stat##*) }; echo "\${20}")
echo "$$ $begun" >"$record.new" && mv "$record.new" "$record" || exit 74
exec "$@"
`

const upgrade = quote(script(STEPS, 'ops-panel-apt', ''))
const refresh = quote(script(REFRESH, 'ops-panel-apt'))
const repair = quote(script(REPAIR, 'ops-panel-repair', ''))
const look = quote(script(INSPECTION, 'ops-panel-look', ''))

/**
 * A POSIX program for the host that sudo runs as root for the service account, limited to the account's permitted
 * operations, where a sudo rule for apt-get or pct would be equivalent to root. The account controls only the verb,
 * a container's number and, for `end`, a session of its own; its environment, folder, limits, signals, terminal and
 * files have no influence. `pct exec` gives the container access to its output file, so neither the account's files nor
 * the host's /dev/null (whose mode the container could change) are passed to it: pipes stand between, and a process
 * with the account's own id copies.
 */
export const HOST_HELPER_PROGRAM = `#!/usr/bin/env -S -i --default-signal SUDO_UID=\${SUDO_UID} SUDO_GID=\${SUDO_GID} PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/sh
# ops-panel-host ${HELPER_VERSION}: what the service account of ops-panel may do as root on this host, and nothing else.
#
#   ops-panel-host version
#   ops-panel-host list                                     the containers
#   ops-panel-host status|start|stop|shutdown|reboot <id>   one container
#   ops-panel-host packages|unfinished <id>                 what can be upgraded in it, what dpkg has not finished
#   ops-panel-host upgrade|refresh|repair host|<id>         upgrade everything, read the lists, finish what dpkg has begun
#   ops-panel-host look host|<id>                           read the lists, and tell what can be upgraded and what stands in the way
#   ops-panel-host end <session> TERM|KILL                  end what this program runs for a session of the same account
#
# It belongs to root, at ${HOST_HELPER}, mode 755, and is allowed by a line of sudoers(5) such as
#   panel ALL=(root) NOPASSWD: ${HOST_HELPER}
# Do not add SETENV to it. The first line above leaves nothing of the caller's environment and of its signals.
set -u
VERSION=${HELPER_VERSION}
cd / || exit 71
umask 022
export LC_ALL=C HOME=/root USER=root LOGNAME=root SHELL=/bin/sh

refuse() {
  echo "ops-panel-host $VERSION: $1" >&2
  exit 64
}

[ "$(id -u)" = 0 ] || refuse 'this is for root, by sudo'
caller=\${SUDO_UID:-0} group=\${SUDO_GID:-0}
case $caller in *[!0-9]*) refuse 'who calls is not known' ;; esac
case $group in *[!0-9]*) refuse 'who calls is not known' ;; esac
unset SUDO_UID SUDO_GID

is_container() {
  case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
  [ "\${#1}" -ge 3 ] && [ "\${#1}" -le 9 ]
}

# Looks at a process. Its name may hold anything, an end of line too; behind its last bracket there are numbers alone.
look_at() {
  stat=
  { while IFS= read -r line || [ -n "$line" ]; do stat="$stat$line "; done <"/proc/$1/stat"; } 2>/dev/null
  [ -n "$stat" ] || return 1
  set -- \${stat##*) }
  state=$1 session=$4 begun=\${20-}
}

# Sends a signal to every process of a session, each right after it was looked at; how many there are is in $found.
signal_session() {
  found=0
  for process in /proc/[1-9]*; do
    process=\${process#/proc/}
    look_at "$process" || continue
    [ "$session" = "$1" ] && [ "$state" != Z ] && [ "$state" != X ] || continue
    found=$((found + 1))
    kill -s "$2" "$process" 2>/dev/null
  done
}

# What runs for an account is recorded at <session>-<process of this program>-<its start>, a folder of root's own:
# \`led\` has the session that the work is in, and its leader's start.
mine=${FOLDER}/$caller

# Whether the program that a record tells of still runs: until then no other session can have the number of its own.
is_current() {
  name=\${1##*/}
  owner=\${name#*-}
  look_at "\${owner%-*}" && [ "$begun" = "\${owner#*-}" ]
}

end_session() {
  asked=$1 signal=$2 ended=0
  for record in "$mine/$asked"-*; do
    [ -f "$record/led" ] && is_current "$record" || continue
    read -r leader since <"$record/led" || continue
    # A leader that has ended leaves its number to its session.
    if look_at "$leader"; then [ "$session" = "$leader" ] && [ "$begun" = "$since" ] || continue; fi
    : >"$record/ending"
    signal_session "$leader" "$signal"
    ended=$((ended + found))
  done
  echo "$ended"
}

# The account must not have what is begun here fail half-way. Who may not raise limits must not be given low ones.
limit() {
  prlimit --pid $$ --cpu=unlimited --fsize=unlimited --data=unlimited --as=unlimited --rss=unlimited --nproc=unlimited \\
    --core=0:unlimited --stack=8388608:unlimited --nofile=1024:524288 2>/dev/null && return
  ulimit -c 0
  for what in t f d v; do [ "$(ulimit -$what)" = unlimited ] || refuse "a limit is set: ulimit -$what"; done
  [ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 256 ] || refuse 'a limit is set: ulimit -n'
}

as_caller() {
  [ "$caller" != 0 ] || exec cat
  exec setpriv --reuid "$caller" --regid "$group" --clear-groups --no-new-privs --pdeathsig KILL cat
}

# Copies a pipe to what the account gave for output. A command may leave somebody behind who holds the pipe for ever.
copy() {
  (
    trap '' HUP INT TERM
    (as_caller) <"$record/$1"
    : >"$record/$1.end"
  ) &
  copiers="$copiers $!"
}

# work together|apart <command>…: in a session of its own, which \`end\` can name, with stderr in stdout or beside it.
work() {
  how=$1
  shift
  limit
  trap : HUP INT QUIT TERM TSTP USR1 USR2 ALRM PIPE
  mkdir -p -m 711 ${FOLDER} && mkdir -p -m 700 "$mine" || exit 73
  running=0
  for record in "$mine"/*-*-*; do
    [ -d "$record" ] || continue
    if is_current "$record"; then running=$((running + 1)); else rm -rf "$record"; fi
  done
  [ "$running" -lt 100 ] || refuse 'too much runs for this account already'
  look_at $$
  record=$mine/$session-$$-$begun
  mkdir -m 700 "$record" && mkfifo -m 600 "$record/out" "$record/err" || exit 73
  copiers=
  copy out
  if [ "$how" = apart ]; then
    copy err >&2
    : | setsid --wait sh -c ${quote([LEAD])} ops-panel-lead "$record/led" "$@" >"$record/out" 2>"$record/err"
  else
    : >"$record/err.end"
    : | setsid --wait sh -c ${quote([LEAD])} ops-panel-lead "$record/led" "$@" >"$record/out" 2>&1
  fi
  code=$?
  # Whoever ends it wants all of it to end.
  tries=0
  while [ -e "$record/ending" ] && [ "$tries" -lt 300 ] && read -r leader since <"$record/led"; do
    signal_session "$leader" 0
    [ "$found" -gt 0 ] || break
    tries=$((tries + 1))
    sleep 0.1
  done
  tries=0
  until { [ -e "$record/out.end" ] && [ -e "$record/err.end" ]; } || [ "$tries" -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.01
  done
  # Nobody waits for what a container says after the answer; what an upgrade has started may go on to speak.
  [ "$how" = together ] || kill -s KILL $copiers 2>/dev/null
  rm -rf "$record"
  exit "$code"
}

# The account cannot signal what runs as root, so what only reads has its limits here.
verb=\${1-}
case $verb:$# in
  version:1)
    echo "$VERSION"
    exit
    ;;
  list:1) work apart timeout -k 5 55 ${CONTAINER_TOOL} list ;;
  status:2 | start:2 | stop:2 | shutdown:2 | reboot:2 | packages:2 | unfinished:2)
    is_container "$2" || refuse 'this is not the number of a container'
    ;;
  upgrade:2 | refresh:2 | repair:2 | look:2)
    [ "$2" = host ] || is_container "$2" || refuse 'this is neither host nor the number of a container'
    ;;
  end:3)
    case $2 in '' | 0* | *[!0-9]*) refuse 'this is not the number of a session' ;; esac
    [ "\${#2}" -le 7 ] || refuse 'this is not the number of a session'
    case $3 in TERM | KILL) ;; *) refuse 'a signal is TERM or KILL' ;; esac
    end_session "$2" "$3"
    exit
    ;;
  *) refuse 'it does not know this verb, or not with so many words; a newer one may (ops-panel host helper)' ;;
esac

inside="${CONTAINER_TOOL} exec $2 --"
case $verb:$2 in
  status:*) work apart timeout -k 5 55 ${CONTAINER_TOOL} status "$2" ;;
  packages:*) work apart timeout -k 5 55 $inside ${quote(LIST_UPGRADABLE)} ;;
  unfinished:*) work apart timeout -k 5 55 $inside ${quote(LIST_UNFINISHED)} ;;
  upgrade:host) work together ${upgrade} ;;
  upgrade:*) work together $inside ${upgrade} ;;
  refresh:host) work together ${refresh} ;;
  refresh:*) work together $inside ${refresh} ;;
  repair:host) work together ${repair} ;;
  repair:*) work together $inside ${repair} ;;
  look:host) work together timeout -k 5 115 ${look} ;;
  look:*) work together timeout -k 5 115 $inside ${look} ;;
  start:* | stop:* | shutdown:* | reboot:*) work together ${CONTAINER_TOOL} "$verb" "$2" ;;
esac
`

/** The checksum that `sha256sum` reports for the program on the host. */
export const HOST_HELPER_SHA256 = createHash('sha256').update(HOST_HELPER_PROGRAM).digest('hex')
