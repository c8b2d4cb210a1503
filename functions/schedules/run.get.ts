import * as z from 'zod'
import { readRun } from '../../db/schedules/runs.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_SCHEDULE_RUN, ScheduleRun, ScheduleRunId, shownRun } from './schedule.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/schedules/runs/:id',
  summary: 'A run of a schedule',
  description:
    'Returns what each wave of a run came to. `started_by` is who wanted it, null for a time of the schedule. Of `missed` times, `missed` says how many: 300 are 300 or more. `reason` says why: `service_away`, `former_run`, `all_paused`; and of a stopped run: `regressed`, `failed`, `creator_kept_out`, `host_away`, `reboot_failed`, `internal_error`. A run that is `done` has `left_out` where its schedule wants security updates alone and a target cannot tell them from others: that target was left out, and the others were upgraded.',
  auth: 'user',
  rateLimit: READS,
  request: { params: z.object({ id: ScheduleRunId }) },
  response: ScheduleRun,
  example: { response: EXAMPLE_SCHEDULE_RUN },
  errors: ['schedule_run_missing'],

  async handler({ params: { id } }, { db, fail }) {
    const run = await readRun(db, id)
    if (!run) throw fail('schedule_run_missing')
    return shownRun(run)
  },
})
