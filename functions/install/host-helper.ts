import { createHash } from 'node:crypto'
import { HOST_HELPER, quote } from '../../ssh/ssh.ts'
import { HELPER_VERSION } from '../elevation/installed-helper.ts'
import { ARGUMENT_CHECKS } from './helper-arguments.ts'
import { VERBS } from './helper-verbs.ts'

/** The folder, owned by root, with the records of the sessions that run under the helper. */
const FOLDER = '/run/ops-panel-host'

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
#   ops-panel-host packages|unfinished <id>                 what can be upgraded in it, what its manager has not finished
#   ops-panel-host upgrade|refresh host|<id>                upgrade everything, read the lists
#   ops-panel-host repair host|<id> <package>...            finish what dpkg has begun; may remove these broken packages
#   ops-panel-host look host|<id>                           read the lists, and tell what can be upgraded and what stands in the way
#   ops-panel-host plan host|<id> <selection>               tell which packages an upgrade would change
#   ops-panel-host planned host|<id> <hash> <files> <selection>
#                                                           make exactly the changes with that hash, or none; <selection> is
#                                                           all|security keep|remove every|these|without <package>...;
#                                                           <files> are configuration files to be replaced, in base64, or -
#   ops-panel-host compare host|<id> <package>=<version>... how changed configuration files that everybody may read differ
#                                                           from those of these offered versions
#   ops-panel-host allow host|<id> <repository>...          accept that these repositories call themselves otherwise
#   ops-panel-host hold host|<id> <package>...              hold these packages, so that no upgrade changes them
#   ops-panel-host unhold host|<id> <package>...            lift the hold of these packages
#   ops-panel-host clean host|<id>                          remove the package files that the manager has downloaded
#   ops-panel-host manual host|<id>                         keep unattended-upgrades from upgrading by itself
#   ops-panel-host restart host|<id> <service>...           restart these services of systemd, but none of those that others depend on
#   ops-panel-host reboot-host                              reboot this host
#   ops-panel-host flags <id>                               the lines template and lock of its configuration
#   ops-panel-host snapshot|rollback|forget <id> <name>     make a snapshot before an upgrade, go back to it and start, remove it;
#                                                           <name> is one of the panel's own, panel-...
#   ops-panel-host snapshots|room|unlock <id>               its snapshots, how full their pools are, free it from a lock
#   ops-panel-host storage all|<id>                         which storage the containers are on, and which snapshots there are
#   ops-panel-host state <id> <name>                        whether it runs, is locked, and has that snapshot
#   ops-panel-host health <id> <look>...                    what works in it; <look> is tcp <port> or unit <name>
#   ops-panel-host changelog <id> <package> <version>       what has changed in a package up to that version
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
case $caller in *[!0-9]*) refuse 'the caller is not known' ;; esac
case $group in *[!0-9]*) refuse 'the caller is not known' ;; esac
unset SUDO_UID SUDO_GID

${ARGUMENT_CHECKS}

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

# The work of an account is recorded at <session>-<process of this program>-<its start>, a folder of root's own:
# \`led\` has the session that the work is in, and its leader's start.
mine=${FOLDER}/$caller

# Tells whether the program of a record still runs: until it ends, no other session can have its number.
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

# A low limit of the account would make the work fail half-way. Without the right to raise limits, this refuses low ones.
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

# Copies a pipe to the output that the account gave. A command may leave a process behind that holds the pipe for ever.
copy() {
  (
    trap '' HUP INT TERM
    (as_caller) <"$record/$1"
    : >"$record/$1.end"
  ) &
  copiers="$copiers $!"
}

# work together|apart|whole <command>…: in a session of its own, with stderr in stdout or, apart, beside it. \`end\` can name
# the session, but for whole: a step on a snapshot goes to its end.
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
  elif [ "$how" = whole ]; then
    : >"$record/err.end"
    : | setsid --wait "$@" >"$record/out" 2>&1
  else
    : >"$record/err.end"
    : | setsid --wait sh -c ${quote([LEAD])} ops-panel-lead "$record/led" "$@" >"$record/out" 2>&1
  fi
  code=$?
  # \`end\` is for the whole session: its other processes get time to end too.
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
  # A caller does not wait for the output of a container after its answer; a program that an upgrade has started may go on.
  [ "$how" != apart ] || kill -s KILL $copiers 2>/dev/null
  rm -rf "$record"
  exit "$code"
}

${VERBS}`

/** The checksum that `sha256sum` reports for the program on the host. */
export const HOST_HELPER_SHA256 = createHash('sha256').update(HOST_HELPER_PROGRAM).digest('hex')
