import * as z from 'zod'
import { readPause, readSchedule, type ScheduleRow } from '../../db/schedules/schedules.ts'
import type { Database } from '../../db/libsql/database.ts'
import { addRunNow } from '../../db/schedules/slots.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { closesAt, newProgress, ScheduleSettings } from '../../schedules/schedules.ts'
import { defineFunction } from '../services.ts'
import { ScheduleId, ScheduleRunId } from './schedule.ts'
import { newId } from './set-schedule.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/schedules/:id/run',
  summary: 'Run a schedule now',
  description:
    'Begins a run with the window from now on, also of a disabled schedule. It does what the schedule does, with the rights of its `created_by`. Answers 409 while a run of it is running, and while all schedules are paused.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['schedule_run'],
  request: { params: z.object({ id: ScheduleId }) },
  status: 202,
  response: z.object({ run_id: ScheduleRunId, message: z.string() }),
  example: { response: { run_id: '7c6b5a4938271605f4e3d2c1', message: 'Exécution lancée.' } },
  errors: ['schedule_missing', 'schedule_changed', 'schedule_running', 'schedules_paused'],

  async handler({ params: { id } }, { db, user, clock, auditEntry, fail }) {
    const schedule = await readSchedule(db, id)
    if (!schedule) throw fail('schedule_missing')
    const settings = ScheduleSettings.parse(JSON.parse(schedule.settings))
    const run_id = newId()
    const now = clock()
    const at = timestamp(now)
    const run = {
      id: run_id,
      due_ms: now.getTime(),
      due_at: at,
      started_at: at,
      closes_at: timestamp(new Date(closesAt(now.getTime(), settings))),
      started_by: user.username,
      settings: schedule.settings,
      waves: JSON.stringify(newProgress(settings)),
    }
    const entry = auditEntry('schedule_run', { target: id, details: { name: schedule.name, run: run_id } })
    if (!(await addRunNow(db, schedule, run, entry))) throw fail(await refusal(db, schedule))
    return { run_id, message: 'Exécution lancée.' }
  },
})

/** Says why a run could not begin. */
async function refusal(db: Database, { id, revision }: ScheduleRow) {
  const now = await readSchedule(db, id)
  if (!now) return 'schedule_missing'
  if (await readPause(db)) return 'schedules_paused'
  return now.revision === revision ? 'schedule_running' : 'schedule_changed'
}
