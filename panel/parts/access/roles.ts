import { targetName } from '../target-name.ts'
import { accessWords } from './words.ts'

/** The targets of a role or a token in words. */
export function targetsSaid(targets: 'all' | readonly string[]): string {
  const say = accessWords().roles
  if (targets === 'all') return say.everywhere
  if (targets.length === 0) return say.nowhere
  return say.on(targets.map((target) => targetName(target)).join(', '))
}
