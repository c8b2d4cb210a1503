/**
 * The shell side of a detached job: POSIX scripts that run on the host, always as `sh -c SCRIPT name arguments…`.
 * Nothing is ever interpolated into them; what varies arrives as positional arguments.
 *
 * A job owns the folder `/var/tmp/ops-panel-job-<job id>`, private to the account that runs it:
 *
 * | file      | content                                                                                    |
 * | --------- | ------------------------------------------------------------------------------------------ |
 * | `output`  | stdout and stderr of the command, as written                                               |
 * | `process` | `<pid> <start time in ticks> <boot id>` of the runner: together they survive a reused pid   |
 * | `exit`    | `<exit code> <size of output>`, renamed into place when the command ended                  |
 */

/** Where a job's folder lies on the host; the job id follows. `/var/tmp` outlives a reboot. */
export const JOB_FOLDER = '/var/tmp/ops-panel-job-'

/** The line after which a job's output begins. */
export const OUTPUT_MARK = 'ops-panel output'

/**
 * Leads the job's own session: `RUN <folder> <command> <argument>…`. A signal to the group ends the command, not the
 * runner, so that the exit code is always written. LXC hands the file that is its stdout over to root, mode 0700: an
 * account that is not root would lose its own output, and so puts a pipe between. A daemon that the command leaves
 * behind may hold that pipe, and is not waited for.
 */
export const RUN = `
job=$1
shift
trap : HUP INT TERM
started=$(s=$(cat /proc/$$/stat); s=\${s##*) }; set -- $s; echo "\${20}")
printf '%s %s %s\\n' "$$" "$started" "$(cat /proc/sys/kernel/random/boot_id)" >"$job/process.new"
mv "$job/process.new" "$job/process"
if [ "$(id -u)" = 0 ]; then
  "$@"
  code=$?
else
  mkfifo "$job/pipe"
  { cat <"$job/pipe"; : >"$job/copied"; } &
  "$@" >"$job/pipe" 2>&1
  code=$?
  tries=0
  until [ -e "$job/copied" ] || [ "$tries" -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.01
  done
fi
echo "$code $(wc -c <"$job/output")" >"$job/exit.new"
mv "$job/exit.new" "$job/exit"
`

/**
 * `START <RUN> <job id> <command> <argument>…` starts the job, once: who calls it again for the same id finds it
 * started. Returns as soon as the runner has said who it is. What the account's jobs left behind a week ago goes.
 */
export const START = `
umask 077
run=$1 job=${JOB_FOLDER}$2
shift 2
if mkdir "$job" 2>/dev/null; then
  find /var/tmp -maxdepth 1 -name 'ops-panel-job-*' -user "$(id -u)" -mtime +7 -exec rm -rf {} + 2>/dev/null
  : >"$job/output"
  setsid sh -c "$run" ops-panel-run "$job" "$@" </dev/null >>"$job/output" 2>&1 &
elif [ ! -d "$job" ] || [ -L "$job" ] || [ ! -O "$job" ]; then
  echo "$job: cannot be created" >&2
  exit 73
fi
tries=0
until [ -s "$job/process" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 500 ]; then
    echo "$job: the job did not start" >&2
    exit 75
  fi
  sleep 0.01
done
`

/**
 * `FOLLOW <job id> <offset>` writes the line `OUTPUT_MARK`, then the output from that byte on, live, until the job has
 * ended; whatever stands before that line was said by the account's start-up files. At the end one line on
 * stderr tells how: `ops-panel exit <code> <bytes>`, `ops-panel lost <bytes>` (the runner is gone and left no code) or
 * `ops-panel gone` (there is no such folder). Ends as well when its stdin ends, so nothing is left behind by a cut
 * connection. `-s` is how often tail looks where the file system tells it nothing (overlay, network), and how soon it
 * notices the end.
 */
export const FOLLOW = `
job=${JOB_FOLDER}$1 skip=$2
if [ ! -d "$job" ] || [ -L "$job" ] || [ ! -O "$job" ]; then
  echo 'ops-panel gone' >&2
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
  echo "ops-panel exit $(cat "$job/exit")" >&2
else
  echo "ops-panel lost $(wc -c <"$job/output")" >&2
fi
`

/** `CLEAN <job id>` removes the job's folder, if it is the account's own. */
export const CLEAN = `
job=${JOB_FOLDER}$1
if [ -d "$job" ] && [ ! -L "$job" ] && [ -O "$job" ]; then rm -rf "$job"; fi
`
