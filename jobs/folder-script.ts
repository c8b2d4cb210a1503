/*
 * Shell functions that find a job's folder on the host, and the account's folder in which it is. They come first in the
 * scripts of `script.ts` and `program.ts`.
 */

/** The folder on the host with the jobs' folders; a random word follows. `/var/tmp` survives a reboot. */
export const JOBS_FOLDER = '/var/tmp/ops-panel-jobs-'
/** The folder of one job of version 0.1; the job's name follows. */
const FORMER_FOLDER = '/var/tmp/ops-panel-job-'

/**
 * `own_folders` prints the account's folders for jobs. Two of them exist when two starts made one at the same time.
 *
 * `find_job <name>` sets `job` to the folder of that name: an existing one, also of version 0.1, or the path for a new
 * one in a folder of the account. `job` is empty when the account has none. Each path is tested once, because a second
 * test may give another result.
 */
export const FIND = `
own_folders() { find /var/tmp -maxdepth 1 -type d -name 'ops-panel-jobs-*' -uid "$(id -u)" 2>/dev/null; }
find_job() {
  job=
  for own in $(own_folders); do
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

/** `place_job <name>` sets `job` as `find_job` does, and makes a folder of the account where it has none. */
export const PLACE = `
place_job() {
  find_job "$1"
  [ -z "$job" ] || return 0
  own=$(mktemp -d ${JOBS_FOLDER}XXXXXXXXXXXX) && chmod 711 "$own" || exit 73
  job=$own/$1
}
`
