import type { Job } from '../wire/jobs.ts'
import { targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** What people call a target: `host`, `lxc:<id>` or `all`, which is the host too for a check. */
export function targetName(target: string, kind?: Job['kind']): string {
  const { job } = words()
  if (target === 'host') return job.host
  if (target === 'all') return kind === 'check' ? job.everything : job.all
  const known = targets.value?.find(({ id }) => id === target)
  return known?.name || job.container(target.replace('lxc:', ''))
}

/** What people call a job: by its target, and by what it does where that is no upgrade. */
export function jobName({ kind, target }: { kind?: Job['kind'] | undefined; target: string }): string {
  const name = targetName(target, kind)
  return kind === undefined ? name : `${words().job.titles[kind]} · ${name}`
}
