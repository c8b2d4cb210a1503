import * as z from 'zod'
import { readPause, setPause } from '../../db/schedules/schedules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { PausedBy } from '../../schedules/schedules.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'PUT',
  path: '/api/schedules',
  summary: 'Pause or resume all schedules',
  description:
    'While all schedules are paused, each time that comes is `missed` with the reason `all_paused`, and nobody is notified. Runs that are running go on. `GET /api/updates/checks` tells every page of the pause.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['schedule_pause_all'],
  request: { body: z.object({ paused: z.boolean() }) },
  response: z.object({ paused: PausedBy.nullable() }),
  example: { body: { paused: true }, response: { paused: { by: 'alice', at: '2026-03-01T11:58:20.000Z' } } },

  async handler({ body: { paused } }, { db, user, clock, auditEntry }) {
    const entry = auditEntry('schedule_pause_all', { details: { paused } })
    await setPause(db, { by: paused ? user.username : null, at: timestamp(clock()) }, entry)
    return { paused: (await readPause(db)) ?? null }
  },
})
