import { inside } from './rig.ts'

/** The folders of jobs on the host; empty when each has been removed. */
export function jobFolders(): Promise<string> {
  return inside('host', "find /var/tmp -mindepth 2 -maxdepth 2 -path '*/ops-panel-jobs-*' -printf '%f\\n'")
}

/**
 * The processes on the host that belong to jobs, those that follow them included; the host sees its containers' too, and
 * is asked past ssh. What dpkg was told to run counts as well.
 */
export async function jobProcesses(): Promise<string[]> {
  const all = (await inside('host', 'ps -eww -o args=')).split('\n')
  return all.filter((args) =>
    /ops-panel-(job|run|upgrade|apt|command)|apt-get|dpkg|postinst|pct exec|lxc-attach|\btail -c/.test(args),
  )
}
