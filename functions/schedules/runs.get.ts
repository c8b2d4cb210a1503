import * as z from 'zod'
import { listRuns } from '../../db/schedules/runs.ts'
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
    'Returns the runs of a schedule, newest first, and the times that were missed among them; `before` is the last run of the page before. The newest 200 are kept.',
  auth: 'user',
  rateLimit: READS,
  request: {
    params: z.object({ id: ScheduleId }),
    query: z.object({ limit: integerText({ min: 1, max: 100 }).default(20), before: ScheduleRunId.optional() }),
  },
  response: z.object({ runs: z.array(ScheduleRun) }),
  example: { query: { limit: 20 }, response: { runs: [EXAMPLE_SCHEDULE_RUN] } },
  errors: ['schedule_missing'],

  async handler({ params: { id }, query: { limit, before } }, { db, fail }) {
    const runs = await listRuns(db, { schedule: id, limit, before })
    if (runs.length === 0 && !(await readSchedule(db, id))) throw fail('schedule_missing')
    return { runs: runs.map(shownRun) }
  },
})
