import { type Command, script } from '../ssh/ssh.ts'

/**
 * The shell side of a detached job: POSIX scripts that run on the host, always as `sh -c SCRIPT name arguments…`.
 * Nothing is ever interpolated into them; what varies arrives as positional arguments.
 *
 * A job owns a folder of that name in `/var/tmp/ops-panel-jobs-<random>`, which is private to the account that runs jobs.
 * Every account of the host can list `/var/tmp` and all processes, and a job's id opens its live output: the name is another
 * random word, and no script is given the id. Whoever sees the name among the processes cannot put anything in its place:
 * the folder that it is in is made under a name that nobody knows before, and known by its owner.
 *
 * | file      | content                                                                                    |
 * | --------- | ------------------------------------------------------------------------------------------ |
 * | `output`  | stdout and stderr of the command, as written, but for what is cut out of a long one        |
 * | `tail`    | the end of a long output, until the command has ended                                      |
 * | `process` | `<pid> <start time in ticks> <boot id>` of the runner: together they survive a reused pid   |
 * | `exit`    | `<exit code> <size of output>`, renamed into place when the command ended                  |
 * | `notes`   | what a command says on descriptor 9, apart from its output (`withNotes`)                    |
 * | `copier`  | of a job that version 0.1 started: the pid of what copies the output                       |
 */

/** Where the folders of jobs lie on the host; a random word follows. `/var/tmp` outlives a reboot. */
export const JOBS_FOLDER = '/var/tmp/ops-panel-jobs-'
/** Where version 0.1 has put a job's folder; its name follows. */
const FORMER_FOLDER = '/var/tmp/ops-panel-job-'

/**
 * Sets `job` to the folder of the name `$1`, or to where it is to be made: in a folder of the account's own, one of two
 * that were made at the same time, or where version 0.1 has put it. Empty when the account has no such folder yet. One look
 * at each decides, since a second one may see something else.
 */
const FIND = `
find_job() {
  job=
  for own in $(find /var/tmp -maxdepth 1 -type d -name 'ops-panel-jobs-*' -uid "$(id -u)" 2>/dev/null); do
    job=$own/$1
    [ ! -d "$job" ] || return 0
  done
  [ -z "$(find "${FORMER_FOLDER}$1" -maxdepth 0 -type d -uid "$(id -u)" 2>/dev/null)" ] || job=${FORMER_FOLDER}$1
}
is_foreign() {
  for other in ${JOBS_FOLDER}*/"$1" ${FORMER_FOLDER}"$1"; do
    [ ! -d "$other" ] || return 0
  done
  return 1
}
`

/** More than any command has to note. */
const MAX_NOTES = 256 * 1024

/** The line after which a job's output begins. */
export const OUTPUT_MARK = 'ops-panel output'

/**
 * `START <RUN> <name> <most bytes of output> <command> <argument>…` starts the job, once: a second call for the same name
 * finds it started. Returns as soon as the runner has said who it is. What the account's jobs left behind a week ago goes.
 * The runner gets no variable that changes how Perl reads or writes.
 */
export const START = `${FIND}
umask 077
run=$1 name=$2 most=$3 runner=
shift 3
if ! command -v perl >/dev/null; then
  echo 'perl manque sur l’hôte' >&2
  exit 69
fi
find_job "$name"
if [ -z "$job" ]; then
  own=$(mktemp -d ${JOBS_FOLDER}XXXXXXXXXXXX) && chmod 711 "$own" || exit 73
  job=$own/$name
fi
if mkdir "$job" 2>/dev/null; then
  find /var/tmp -maxdepth 1 -name 'ops-panel-job-*' -user "$(id -u)" -mtime +7 -exec rm -rf {} + 2>/dev/null
  find "\${job%/*}" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} + 2>/dev/null
  : >"$job/output"
  unset PERL5OPT PERL5LIB PERL5DB PERL_UNICODE PERLIO
  setsid perl -e "$run" "$job" "$most" "$@" </dev/null >/dev/null 2>&1 &
  runner=$!
elif [ ! -d "$job" ]; then
  echo "$job: cannot be created" >&2
  exit 73
fi
tries=0
until [ -s "$job/process" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 1000 ] || { [ -n "$runner" ] && ! kill -0 "$runner" 2>/dev/null; }; then
    [ -s "$job/process" ] && break
    [ -z "$runner" ] || kill -s KILL "$runner" 2>/dev/null
    echo "$job: the job did not start (is the disk full?)" >&2
    exit 75
  fi
  sleep 0.01
done
`

/**
 * `FOLLOW <name> <offset>` writes the line `OUTPUT_MARK`, then the output from that byte on, live, until the job has
 * ended; whatever stands before that line was said by the account's start-up files. At the end one line on
 * stderr tells how: `ops-panel exit <code> <bytes>`, `ops-panel lost <bytes> <word>` (the runner is gone and left no code:
 * `rebooted` with the host, or `killed`) or `ops-panel gone` (there is no such folder) or `ops-panel foreign` (another account's). Ends as well when its stdin ends, so nothing is left behind by a cut
 * connection. What the command has noted follows, each line as `ops-panel note <line>`. `-s` is how often tail looks where the file system tells it nothing (overlay, network), and how soon it
 * notices the end.
 */
export const FOLLOW = `${FIND}
skip=$2 boot=
find_job "$1"
if [ ! -d "$job" ]; then
  if is_foreign "$1"; then echo 'ops-panel foreign' >&2; else echo 'ops-panel gone' >&2; fi
  exit 0
fi
running() {
  [ ! -e "$job/exit" ] && read -r pid started boot <"$job/process" || return 1
  [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
  s=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
  s=\${s##*) }
  set -- $s
  [ "\${20}" = "$started" ]
}
exec 3<&0
echo '${OUTPUT_MARK}'
if running; then
  tail -c "+$((skip + 1))" -f -s 0.01 --pid="$pid" "$job/output" 3<&- </dev/null &
  tail=$!
  { cat <&3; kill "$tail"; } >/dev/null 2>&1 &
  watch=$!
  wait "$tail"
  kill "$watch" 2>/dev/null
else
  tail -c "+$((skip + 1))" "$job/output"
fi
if [ -e "$job/exit" ]; then
  read -r line <"$job/exit"
  echo "ops-panel exit $line" >&2
else
  why=killed
  [ -z "$boot" ] || [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || why=rebooted
  echo "ops-panel lost $(wc -c <"$job/output") $why" >&2
fi
[ ! -s "$job/notes" ] || head -c ${MAX_NOTES} "$job/notes" | sed 's/^/ops-panel note /' >&2
`

/**
 * The command of the job of that name with descriptor 9 open, where it may note, a line at a time, what is not to be mixed up
 * with what it prints: it closes that descriptor for whatever it does not trust.
 */
export function withNotes(name: string, command: Command): Command {
  return script(NOTING, 'ops-panel-notes', name, ...command)
}

/** `NOTING <name> <command> <argument>…` */
export const NOTING = `${FIND}
find_job "$1"
shift
exec "$@" 9>"$job/notes"
`

/** `CLEAN <name>` removes the job's folder, if it is the account's own. */
export const CLEAN = `${FIND}
find_job "$1"
[ -z "$job" ] || rm -rf "$job"
`

/**
 * `CANCEL <name> [<helper>]` ends the command of a job with everything in its session, inside containers too, which the host sees
 * as its own: TERM, and what is there after 10 s KILL. The runner stays, and writes the exit code. Daemons that the
 * command started lead sessions of their own and run on. An account that sudo allows single commands only cannot signal
 * what runs as root. The host's helper does, for what it runs itself in sessions of their own; without it sudo passes TERM
 * on, and apt-get, which the rule allows, runs the rest as a hook, before it does anything. Does nothing for a job that has ended; but the runner may end before what ignores TERM does, and a
 * session that has members keeps its number. Time is read, not counted in rounds: where there are a thousand
 * processes, looking through them takes most of a second.
 */
export const CANCEL = `${FIND}
helper=\${2-}
find_job "$1"
if [ ! -d "$job" ]; then
  is_foreign "$1" || exit 0
  echo "$1: of another account" >&2
  exit 1
fi
read -r runner started boot 2>/dev/null <"$job/process" || exit 0
[ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || exit 0
copier=$(cat "$job/copier" 2>/dev/null)
session=$runner
members() {
  pids=
  for stat in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$stat" || continue
    pid=\${line%% *}
    set -- \${line##*) }
    [ "$4" = "$session" ] && [ "$1" != Z ] || continue
    case $pid in "$runner" | "$copier") continue ;; esac
    # The command itself first, so that it begins nothing more when its children end. /proc lists 1000 before 999.
    if [ "$2" = "$runner" ]; then
      pids=" $pid$pids"
    elif [ "$2" != "$copier" ]; then
      pids="$pids $pid"
    fi
  done
}
runs() {
  s=$(cat "/proc/$runner/stat" 2>/dev/null) || return 1
  set -- \${s##*) }
  [ "\${20}" = "$started" ]
}
seconds() {
  read -r now rest </proc/uptime
  now=\${now%%.*}
}
seconds
began=$now asked= signal=TERM
runs || exit 0
while members && [ -n "$pids" ]; do
  seconds
  if [ "$now" != "$asked" ]; then
    asked=$now
    [ "$((now - began))" -le 10 ] || signal=KILL
    if kill -s "$signal" $pids 2>/dev/null || [ "$(id -u)" = 0 ]; then
      :
    elif [ -n "$helper" ]; then
      sudo -n -- "$helper" end "$session" "$signal" </dev/null >/dev/null 2>&1
    else
      mkdir -p "$job/lists"
      sudo -n /usr/bin/apt-get -o Dir::State::Lists="$job/lists" \
        -o APT::Update::Pre-Invoke::="kill -s $signal $pids; exit 1" update </dev/null >/dev/null 2>&1
    fi
  fi
  if [ "$((now - began))" -gt 20 ]; then
    echo "processes that cannot be ended:$pids" >&2
    exit 1
  fi
  sleep 0.1
done
tries=0
until [ -e "$job/exit" ] || ! runs || [ "$tries" -gt 50 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
`
