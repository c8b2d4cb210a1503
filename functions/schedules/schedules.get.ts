import * as z from 'zod'
import type { Database } from '../../db/libsql/database.ts'
import { lastRuns } from '../../db/schedules/runs.ts'
import {
  readPause,
  readSchedules,
  recentRuns,
  schedulesRevision,
  schedulesToOrder,
} from '../../db/schedules/schedules.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { CachedJson } from '../../runtime/json-stream.ts'
import { PausedBy } from '../../schedules/schedules.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_SCHEDULE, MOST_SCHEDULES, RECENT, Schedule, ScheduleId, shownSchedule } from './schedule.ts'
import { type Order, orderOf, PLACE, placesAfter, placeText } from './schedule-order.ts'

const Answer = z.object({
  schedules: z.array(Schedule),
  paused: PausedBy.nullable(),
  total: z.int(),
  need: z.int(),
  soonest: z.object({ id: ScheduleId, name: z.string(), at: z.string() }).nullable(),
  next: z.string().nullable(),
})

const Query = z.object({
  limit: integerText({ min: 1, max: MOST_SCHEDULES }).default(MOST_SCHEDULES),
  after: z.string().max(200).regex(PLACE).optional().meta({ description: 'The `next` of the page before.' }),
  q: z.string().max(100).optional().meta({ description: 'A part of the name.' }),
})
type Query = z.infer<typeof Query>

/** The next times of a pattern are the same for all moments of a minute. */
const MINUTE_MS = 60_000
/** Pages that are kept of a database. */
const MOST_PAGES = 30

/**
 * The last answers of each database by their queries, with the revision and the minute that they were made from. Two hundred schedules
 * take 25 ms to read, to compute and to encode, and every open page with schedules asks again every few seconds.
 */
const last = new WeakMap<Database, Known>()

interface Known {
  key: string
  order: Promise<Order>
  pages: Map<string, Promise<CachedJson>>
}

export default defineFunction({
  method: 'GET',
  path: '/api/schedules',
  summary: 'All schedules',
  description:
    'Returns the schedules, each with its next three times, its last run, and its newest 14 runs (the oldest of them first). First come those that need somebody: paused by the service, then those whose newest run stopped, then those whose newest time was missed or ran out of its window; then running ones, the others, and those that a person has paused, each group by name. A disabled one has no next times; `paused_reason` says why the service has disabled it. `total` counts all schedules, `need` those that need somebody, and `soonest` is due next, whatever page is asked for. `paused` tells who has paused all schedules, and when: until that ends, each time that comes is `missed`. Without `limit` the answer has all schedules, 500 at most. With it, `next` is the `after` of the following page, or null after the last; a schedule that comes to need somebody between two pages may be on neither of them. `q` leaves those with that text in their name, whatever the case and the accents.',
  auth: 'user',
  rateLimit: READS,
  request: { query: Query },
  response: Answer,
  example: {
    query: { limit: '20' },
    response: {
      schedules: [EXAMPLE_SCHEDULE],
      paused: null,
      total: 1,
      need: 1,
      soonest: { id: EXAMPLE_SCHEDULE.id, name: EXAMPLE_SCHEDULE.name, at: '2026-03-08T02:00:00.000Z' },
      next: null,
    },
  },

  async handler({ query }, { db, clock }) {
    // Read before the schedules: what changes in between has a later revision.
    const revision = await schedulesRevision(db)
    const now = clock()
    const known = knownAt(db, `${revision} ${Math.floor(now.getTime() / MINUTE_MS)}`, now)
    if (known.pages.size >= MOST_PAGES) known.pages.clear()
    const place = JSON.stringify(query)
    const answer = known.pages.get(place) ?? answerAt(db, known.order, now, query)
    known.pages.set(place, answer)
    // The next request tries again.
    answer.catch(() => last.delete(db))
    return answer
  },
})

function knownAt(db: Database, key: string, now: Date): Known {
  const former = last.get(db)
  if (former?.key === key) return former
  const known = { key, order: schedulesToOrder(db).then((rows) => orderOf(rows, now)), pages: new Map() }
  last.set(db, known)
  return known
}

async function answerAt(
  db: Database,
  order: Promise<Order>,
  now: Date,
  { limit, after, q }: Query,
): Promise<CachedJson> {
  const { places, need, soonest } = await order
  const rest = placesAfter(places, after, q)
  const page = rest.slice(0, limit)
  const ids = page.map(({ id }) => id)
  const rows = new Map((await readSchedules(db, ids)).map((row) => [row.id, row]))
  const recent = await recentRuns(db, { schedules: ids, limit: RECENT })
  const newest = new Map((await lastRuns(db, ids)).map((run) => [run.schedule_id, run]))
  const schedules = ids.flatMap((id) => {
    const row = rows.get(id)
    return row ? [shownSchedule(row, { last: newest.get(id), recent: recent.get(id) ?? [], now })] : []
  })
  const end = page.at(-1)
  return new CachedJson(
    Answer.parse({
      schedules,
      paused: (await readPause(db)) ?? null,
      total: places.length,
      need,
      soonest,
      next: end && rest.length > limit ? placeText(end) : null,
    }),
  )
}
