import type { Answer } from '../../client/index.ts'

type JobRecord = Answer<'GET /api/updates/jobs/{id}'>
/** One thing with its state before and after an upgrade. */
export type Compared = NonNullable<JobRecord['comparison']>[number]
export type ComparedGroup = 'worse' | 'unsteady' | 'better' | 'same'

const GROUPS = ['worse', 'unsteady', 'better', 'same'] as const satisfies readonly ComparedGroup[]

/** Puts the rows into groups, the worst first; what is new is better than nothing. */
export function comparedGroups(rows: readonly Compared[]): { group: ComparedGroup; rows: Compared[] }[] {
  const of = ({ state }: Compared): ComparedGroup => (state === 'new' ? 'better' : state)
  return GROUPS.map((group) => ({ group, rows: rows.filter((row) => of(row) === group) })).filter(
    ({ rows }) => rows.length > 0,
  )
}

const BAD = /^(failed|exited|dead|refused|timeout|timed|inactive|exit\b|unhealthy|restarting|stopped|bad)|\bfailed\b/i

/** Whether a thing works in one of the two looks. Nothing but the words of the target says so. */
export function works({ state, before, after }: Compared, look: 'before' | 'after'): boolean {
  const detail = look === 'before' ? before : after
  if (detail === null) return false
  if (state === 'worse') return look === 'before'
  return !BAD.test(detail)
}
