import { type Check, isUnanswered, isUnfinished } from './checked.ts'

/** How much a target needs somebody: `broken` cannot be upgraded or has failed, `attention` has something to read or decide. */
export type Need = 'broken' | 'attention'

/** Returns why somebody has to look at a target; undefined when nobody has to, or when it does not run. */
export function needsOf(check: Check): Need | undefined {
  const { state, checking } = check
  if (state === 'stopped' || state === 'unsupported') return undefined
  if (state === 'blocked' || isUnfinished(check) || hasFailed(check)) return 'broken'
  if (state === 'attention') return 'attention'
  return isUnanswered(check) && !checking ? 'attention' : undefined
}

/** Whether the last upgrade failed and no later check has shown that the target is well. */
export function hasFailed({ state, last_upgrade }: Pick<Check, 'state' | 'last_upgrade'>): boolean {
  if (last_upgrade?.outcome !== 'failed') return false
  return state === 'attention' || state === 'blocked' || state === 'unknown'
}

/** The number of targets that need somebody, and whether one of them is broken. */
export function needsIn(checks: readonly Check[]): { count: number; isBroken: boolean } {
  const needs = checks.map(needsOf).filter((need) => need !== undefined)
  return { count: needs.length, isBroken: needs.includes('broken') }
}
