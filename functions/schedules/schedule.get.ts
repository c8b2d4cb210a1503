import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_SCHEDULE, Schedule, ScheduleId } from './schedule.ts'
import { readShown } from './set-schedule.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/schedules/:id',
  summary: 'A schedule',
  description: 'Returns one schedule, as in the list of all.',
  auth: 'user',
  rateLimit: READS,
  request: { params: z.object({ id: ScheduleId }) },
  response: Schedule,
  example: { response: EXAMPLE_SCHEDULE },
  errors: ['schedule_missing'],

  handler: ({ params: { id } }, context) => readShown(context, id),
})
