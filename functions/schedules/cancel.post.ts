import * as z from 'zod'
import { readRun } from '../../db/schedules/runs.ts'
import { cancelRun } from '../../db/schedules/slots.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ScheduleRunId } from './schedule.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/schedules/runs/:id/cancel',
  summary: 'Cancel a run of a schedule',
  description:
    'No new job of the run is started, and those that wait are withdrawn. Running ones end, and then the run does.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['schedule_cancel'],
  request: { params: z.object({ id: ScheduleRunId }) },
  status: 202,
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Annulation demandée : les tâches en cours vont à leur fin.' } },
  errors: ['schedule_run_missing', 'schedule_run_ended'],

  async handler({ params: { id } }, { db, user, auditEntry, fail }) {
    const run = await readRun(db, id)
    if (!run) throw fail('schedule_run_missing')
    const entry = auditEntry('schedule_cancel', {
      target: run.schedule_id,
      details: { name: run.schedule_name, run: id },
    })
    const isCancelled = run.state === 'running' && run.cancelled_by !== null
    if (!isCancelled && !(await cancelRun(db, id, user.username, entry))) {
      const now = await readRun(db, id)
      // Another person may have been faster.
      if (now?.state !== 'running') throw fail('schedule_run_ended')
    }
    return { message: 'Annulation demandée : les tâches en cours vont à leur fin.' }
  },
})
