import { type Schedule, type Standing, standingOf } from '../../../panel/nouns/schedule.ts'

const RANKS: Readonly<Record<Standing, number>> = {
  barred: 0,
  broken: 1,
  trouble: 2,
  running: 3,
  well: 4,
  partial: 4,
  cancelled: 4,
  unused: 4,
  paused: 5,
}

const rank = (schedule: Schedule) => RANKS[standingOf(schedule)]

/** The list of schedules as the service answers it: those that need somebody first, then by name; the first `limit` of them with `q` in their name. */
export function listOf(
  { schedules, paused }: { schedules: readonly Schedule[]; paused: { by: string; at: string } | null },
  query: URLSearchParams,
) {
  const sorted = [...schedules].sort(
    (one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name, 'fr'),
  )
  const q = query.get('q')?.toLowerCase() ?? ''
  const found = sorted.filter(({ name }) => name.toLowerCase().includes(q))
  const limit = Number(query.get('limit') ?? 500)
  const due = schedules
    .flatMap(({ id, name, enabled, next: [at] }) => (enabled && at !== undefined ? [{ id, name, at }] : []))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  return {
    schedules: found.slice(0, limit),
    paused,
    total: schedules.length,
    need: schedules.filter((each) => rank(each) <= RANKS.trouble).length,
    soonest: due[0] ?? null,
    next: found.length > limit ? '4 x more' : null,
  }
}
