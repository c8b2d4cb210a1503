import type { Job } from '../wire/jobs.ts'
import { targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** The display name of a target: `host`, `lxc:<id>` or `all`, which includes the host for a check. */
export function targetName(target: string, kind?: Job['kind']): string {
  const { job } = words()
  if (target === 'host') return job.host
  if (target === 'all') return kind === 'check' ? job.everything : job.all
  const known = targets.value?.find(({ id }) => id === target)
  return known?.name || job.container(target.replace('lxc:', ''))
}

/** The display name of a job: its target, and its kind unless it is an upgrade. */
export function jobName({ kind, target }: { kind?: Job['kind'] | undefined; target: string }): string {
  const name = targetName(target, kind)
  return kind === undefined ? name : `${words().job.titles[kind]} · ${name}`
}
