import * as z from 'zod'
import { readSchedule, removeSchedule } from '../../db/schedules/schedules.ts'
import { WRITES } from '../../runtime/function.ts'
import { noted } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { ScheduleId } from './schedule.ts'
import { fieldsOf } from './set-schedule.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/schedules/:id',
  summary: 'Delete a schedule',
  description:
    'Deletes a schedule and the list of its runs; their jobs stay in the history. Answers 409 while a run of it is running.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['schedule_delete'],
  request: { params: z.object({ id: ScheduleId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Planification supprimée.' } },
  errors: ['schedule_missing', 'schedule_running'],

  async handler({ params: { id } }, { db, auditEntry, fail }) {
    const schedule = await readSchedule(db, id)
    if (!schedule) throw fail('schedule_missing')
    const entry = auditEntry('schedule_delete', { target: id, details: noted(fieldsOf(schedule)) })
    if (!(await removeSchedule(db, id, entry)))
      throw fail((await readSchedule(db, id)) ? 'schedule_running' : 'schedule_missing')
    return { message: 'Planification supprimée.' }
  },
})
