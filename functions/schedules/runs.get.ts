import * as z from 'zod'
import { listRuns, readRun } from '../../db/schedules/runs.ts'
import { readSchedule } from '../../db/schedules/schedules.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_SCHEDULE_RUN, ScheduleId, ScheduleRun, ScheduleRunId, shownRun } from './schedule.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/schedules/:id/runs',
  summary: 'The runs of a schedule',
  description:
    'Returns the runs of a schedule, newest first, and the times that were missed among them; `next` is the `before` of the following page, or null after the last. The newest 200 are kept; a `before` that is no longer among them is 404.',
  auth: 'user',
  rateLimit: READS,
  request: {
    params: z.object({ id: ScheduleId }),
    query: z.object({ limit: integerText({ min: 1, max: 100 }).default(20), before: ScheduleRunId.optional() }),
  },
  response: z.object({ runs: z.array(ScheduleRun), next: ScheduleRunId.nullable() }),
  example: { query: { limit: 20 }, response: { runs: [EXAMPLE_SCHEDULE_RUN], next: null } },
  errors: ['schedule_missing', 'schedule_run_missing'],

  async handler({ params: { id }, query: { limit, before } }, { db, fail }) {
    // Reads one run more than the limit: it shows whether another page follows.
    const found = await listRuns(db, { schedule: id, limit: limit + 1, before })
    if (found.length === 0) {
      if (!(await readSchedule(db, id))) throw fail('schedule_missing')
      // Without this, a run that was removed meanwhile would look like the end of the list.
      if (before !== undefined && (await readRun(db, before))?.schedule_id !== id) throw fail('schedule_run_missing')
    }
    const runs = found.slice(0, limit)
    return { runs: runs.map(shownRun), next: found.length > limit ? (runs.at(-1)?.id ?? null) : null }
  },
})
