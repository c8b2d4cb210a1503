import { type Command, script } from '../ssh/ssh.ts'
import { FIND, PLACE } from './folder-script.ts'
import { PROGRAM } from './program.ts'

/**
 * The shell side of a detached job: constant POSIX scripts that run on the host as `sh -c SCRIPT name arguments…`. All
 * values are positional arguments. Without the scripts a job would run in the SSH channel, and a lost connection would
 * lose its output and exit code.
 *
 * A job has a folder of its name in `/var/tmp/ops-panel-jobs-<random>`, in which only the service account can make
 * files. Every account of the host can list `/var/tmp` and all processes, and a job's id gives access to its live
 * output. The name is therefore another random word, and scripts never receive the id. An account that sees the name
 * cannot make a folder in its place: the parent folder has a random name too, and the scripts identify it by its owner.
 *
 * | file      | content                                                                                    |
 * | --------- | ------------------------------------------------------------------------------------------ |
 * | `output`  | stdout and stderr of the command as written, without the middle of a long output           |
 * | `tail`    | the end of a long output, until the command has ended                                      |
 * | `process` | `<pid> <start time in ticks> <boot id>` of the runner: together they survive a reused pid   |
 * | `exit`    | `<exit code> <size of output>`, renamed into place when the command ended                  |
 * | `notes`   | the lines that the command writes to descriptor 9, apart from its output (`withNotes`)      |
 * | `answer-…`| what the service tells the command, for one question each (`ANSWER`)                        |
 * | `program` | the program of a job that has one (`program.ts`)                                            |
 * | `copier`  | of a job that version 0.1 started: the pid of the process that copies the output           |
 */

/** Longer than the notes of any command. */
const MAX_NOTES = 1024 * 1024

/** How often, five times a second, the end of what a killed runner has left is waited for. */
const REST_TRIES = 100

/** `$0` of the script that opens the file of the notes. */
const NOTES_NAME = 'ops-panel-notes'

/** The line after which a job's output begins. */
export const OUTPUT_MARK = 'ops-panel output'

/**
 * `START <RUN> <name> <most bytes of output> <program> <command> <argument>…` starts the job once: a second call for
 * the same name finds it started. Returns as soon as the runner has written `process`. `<program>` is `-`, or names a
 * program whose pieces `PUT` has written; the job does not start unless they give exactly that program. Removes what
 * jobs of the account have left that is more than a week old. Unsets the variables that change how Perl reads or writes.
 */
export const START = `${FIND}${PLACE}${PROGRAM}
umask 077
run=$1 name=$2 most=$3 program=$4 runner=
shift 4
if ! command -v perl >/dev/null; then
  forget_program "$name"
  echo 'perl manque sur l’hôte' >&2
  exit 69
fi
place_job "$name"
if mkdir "$job" 2>/dev/null; then
  find /var/tmp -maxdepth 1 -name 'ops-panel-job-*' -user "$(id -u)" -mtime +7 -exec rm -rf {} + 2>/dev/null
  find "\${job%/*}" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} + 2>/dev/null
  : >"$job/output"
  # A follower that comes at once finds the file of the notes, and reads it live.
  [ "\${4-}" != ${NOTES_NAME} ] || : >"$job/notes"
  if [ "$program" != - ]; then
    put_together "$name" "$program" >"$job/program"
    found=$(sha256sum <"$job/program")
    forget_program "$name"
    if [ "\${found%% *}" != "\${program%-*}" ]; then
      echo "$job: the program of the job is not whole (is the disk full?)" >&2
      exit 75
    fi
  fi
  unset PERL5OPT PERL5LIB PERL5DB PERL_UNICODE PERLIO
  setsid perl -e "$run" "$job" "$most" "$@" </dev/null >/dev/null 2>&1 &
  runner=$!
elif [ ! -d "$job" ]; then
  forget_program "$name"
  echo "$job: cannot be created" >&2
  exit 73
fi
tries=0
until [ -s "$job/process" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 1000 ] || { [ -n "$runner" ] && ! kill -0 "$runner" 2>/dev/null; }; then
    [ -s "$job/process" ] && break
    [ -z "$runner" ] || kill -s KILL "$runner" 2>/dev/null
    forget_program "$name"
    echo "$job: the job did not start (is the disk full?)" >&2
    exit 75
  fi
  sleep 0.01
done
`

/**
 * `FOLLOW <name> <offset>` writes the line `OUTPUT_MARK`, then the output from that byte on, live, until the job has
 * ended. Any text before that line comes from the account's start-up files. Ends with one line on stderr:
 *
 * - `ops-panel exit <code> <bytes>`;
 * - `ops-panel lost <bytes> <word>`: the runner is gone without an exit code, `rebooted` with the host or `killed`, or
 *   `working` where processes of the job's session are left: their end is waited for, but not for ever;
 * - `ops-panel gone`: there is no such folder;
 * - `ops-panel foreign`: the folder belongs to another account.
 *
 * The notes of the command follow as `ops-panel note <line>`. While the job runs, its notes appear on stderr as they
 * are. The script also ends when its stdin ends, so that a lost
 * connection leaves no process behind. `-s` is the interval at which tail polls on a file system without notifications
 * (overlay, network), and checks whether the runner has ended.
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
  [ "$1" != Z ] && [ "\${20}" = "$started" ]
}
# Whether the session has processes without its leader: until the last of them ends, nothing else gets its number.
remains() {
  if s=$(cat "/proc/$pid/stat" 2>/dev/null); then
    s=\${s##*) }
    set -- $s
    [ "\${20}" = "$started" ] || return 1
  fi
  for stat in /proc/[0-9]*/stat; do
    read -r s 2>/dev/null <"$stat" || continue
    set -- \${s##*) }
    [ "$4" != "$pid" ] || [ "$1" = Z ] || return 0
  done
  return 1
}
exec 3<&0
echo '${OUTPUT_MARK}'
if running; then
  tail -c "+$((skip + 1))" -f -s 0.01 --pid="$pid" "$job/output" 3<&- </dev/null &
  tail=$! noted=
  if [ -e "$job/notes" ]; then
    tail -c +1 -f -s 0.05 --pid="$pid" "$job/notes" 3<&- </dev/null >&2 &
    noted=$!
  fi
  { cat <&3; kill "$tail" $noted; } >/dev/null 2>&1 &
  watch=$!
  wait "$tail" $noted
  kill "$watch" 2>/dev/null
  # Only the end of stdin ends it before the job.
  ! running || exit 0
else
  tail -c "+$((skip + 1))" "$job/output"
fi
if [ -e "$job/exit" ]; then
  read -r line <"$job/exit"
  echo "ops-panel exit $line" >&2
else
  why=killed
  if [ -z "$boot" ]; then
    :
  elif [ "$boot" != "$(cat /proc/sys/kernel/random/boot_id)" ]; then
    why=rebooted
  else
    tries=0
    while why=working && remains && [ "$tries" -lt ${REST_TRIES} ]; do
      tries=$((tries + 1))
      sleep 0.2
    done
    remains || why=killed
  fi
  echo "ops-panel lost $(wc -c <"$job/output") $why" >&2
fi
[ ! -s "$job/notes" ] || head -c ${MAX_NOTES} "$job/notes" | sed 's/^/ops-panel note /' >&2
`

/**
 * The command of the job with that name, run with descriptor 9 open for notes, one a line, which its output cannot
 * forge. The command closes the descriptor for programs that it does not trust.
 */
export function withNotes(name: string, command: Command): Command {
  return script(NOTING, NOTES_NAME, name, ...command)
}

/** `NOTING <name> <command> <argument>…`. The program of the job, if it has one, becomes the first argument. */
export const NOTING = `${FIND}
find_job "$1"
shift
if [ -f "$job/program" ]; then
  with=$1
  shift
  set -- "$with" "$job/program" "$@"
fi
exec "$@" 9>"$job/notes"
`

/** `ANSWER <name> <question> <line>…` puts the lines into the file `answer-<question>` of the job's folder, at once. */
export const ANSWER = `${FIND}
umask 077
find_job "$1"
[ -d "$job" ] || exit 0
file=$job/answer-$2
shift 2
printf '%s\\n' "$@" >"$file.new" && mv "$file.new" "$file"
`

/** `CLEAN <name>…` removes the folders of these jobs if they belong to the account, and pieces of their programs. */
export const CLEAN = `${FIND}${PROGRAM}
failed=0
for name do
  forget_program "$name"
  find_job "$name"
  [ -z "$job" ] || rm -rf "$job" || failed=1
done
exit "$failed"
`

/**
 * `CANCEL <name> [<helper>]` ends all processes in the session of a job, including those in containers: TERM, and KILL
 * after 10 s. The runner stays and writes the exit code. Daemons have sessions of their own and continue. Does nothing
 * for a job that has ended.
 *
 * An account that sudo allows only single commands cannot signal processes of root. The host helper signals those that
 * it has started. Without the helper, sudo relays TERM to its own command, and a hook of `apt-get`, which the rule
 * allows, signals the rest (decision 10). The loop continues after the end of the runner, because a process that
 * ignores TERM may outlive it, and a session with members keeps its number. The loop reads the clock instead of
 * counting rounds: with a thousand processes one round takes most of a second.
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
    # The command comes first, so that it starts nothing more when its children end. /proc lists 1000 before 999.
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
