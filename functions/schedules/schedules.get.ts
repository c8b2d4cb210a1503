import * as z from 'zod'
import { lastRuns } from '../../db/schedules/runs.ts'
import { listSchedules, readPause, recentRuns } from '../../db/schedules/schedules.ts'
import { READS } from '../../runtime/function.ts'
import { PausedBy } from '../../schedules/schedules.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_SCHEDULE, RECENT, Schedule, shownSchedule } from './schedule.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/schedules',
  summary: 'All schedules',
  description:
    'Returns the schedules in the order of their creation, each with its next three times, its last run, and its newest 14 runs (the oldest of them first). A disabled one has no next times; `paused_reason` says why the service has disabled it. `paused` tells who has paused all schedules, and when: until that ends, each time that comes is `missed`.',
  auth: 'user',
  rateLimit: READS,
  response: z.object({ schedules: z.array(Schedule), paused: PausedBy.nullable() }),
  example: { response: { schedules: [EXAMPLE_SCHEDULE], paused: null } },

  async handler(_, { db, clock }) {
    const rows = await listSchedules(db)
    const recent = await recentRuns(db, { limit: RECENT })
    const last = new Map((await lastRuns(db)).map((run) => [run.schedule_id, run]))
    const paused = await readPause(db)
    const now = clock()
    return {
      schedules: rows.map((row) =>
        shownSchedule(row, { last: last.get(row.id), recent: recent.get(row.id) ?? [], now }),
      ),
      paused: paused ?? null,
    }
  },
})
