import { targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** What people call a target: `host`, `lxc:<id>` or `all`. */
export function targetName(target: string): string {
  const { job } = words()
  if (target === 'host') return job.host
  if (target === 'all') return job.all
  const known = targets.value?.find(({ id }) => id === target)
  return known?.name || job.container(target.replace('lxc:', ''))
}
