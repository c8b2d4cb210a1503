import * as z from 'zod'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { CronPattern, nextTimes, TimeZone, timetable } from '../../schedules/schedules.ts'
import { defineFunction } from '../services.ts'

const TIMES = 5

export default defineFunction({
  method: 'GET',
  path: '/api/schedules/preview',
  summary: 'The next times of a pattern',
  description: 'Returns the next five times, and 400 with the reason for a pattern that is not valid.',
  auth: 'user',
  targets: 'none',
  rateLimit: READS,
  request: { query: z.object({ cron: CronPattern, timezone: TimeZone }) },
  response: z.object({ next: z.array(z.string()) }),
  example: {
    query: { cron: '0 3 * * 0', timezone: 'Europe/Paris' },
    response: {
      next: [
        '2026-03-08T02:00:00.000Z',
        '2026-03-15T02:00:00.000Z',
        '2026-03-22T02:00:00.000Z',
        '2026-03-29T01:00:00.000Z',
        '2026-04-05T01:00:00.000Z',
      ],
    },
  },

  async handler({ query: { cron, timezone } }, { clock }) {
    const times = nextTimes(timetable(cron, timezone), clock().getTime(), TIMES)
    return { next: times.map((at) => timestamp(new Date(at))) }
  },
})
