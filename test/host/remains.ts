import { inside } from './rig.ts'

/** Returns the folders of jobs on the host; empty when all are removed. */
export function jobFolders(): Promise<string> {
  return inside('host', "find /var/tmp -mindepth 2 -maxdepth 2 -path '*/ops-panel-jobs-*' -printf '%f\\n'")
}

/** Returns the notes of all jobs on the host; empty while there are none. */
export function jobNotes(): Promise<string> {
  return inside('host', 'cat /var/tmp/ops-panel-jobs-*/*/notes 2>/dev/null || true')
}

/**
 * Returns the processes on the host and in its containers that belong to jobs, with those that read their output and
 * those that dpkg runs. The host is asked without ssh.
 */
export async function jobProcesses(): Promise<string[]> {
  const all = (await inside('host', 'ps -eww -o args=')).split('\n')
  return all.filter((args) =>
    /ops-panel-(job|run|upgrade|apt|command)|apt-get|dpkg|postinst|pct exec|lxc-attach|\btail -c/.test(args),
  )
}
