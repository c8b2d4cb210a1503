import * as z from 'zod'
import { defineFunction } from '../../runtime/function.ts'
import { databaseProblem } from './database-problem.ts'

/** Whether the service and its database are in order. `boot_id` changes with every start. */
export default defineFunction({
  method: 'GET',
  path: '/api/health',
  auth: 'none',
  rateLimit: false,
  status: { ok: 200, degraded: 503 },
  response: z.object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    boot_id: z.string(),
    started_at: z.string(),
  }),

  async handler(_, { db, boot }) {
    const status = (await databaseProblem(db)) ? ('degraded' as const) : ('ok' as const)
    return { status, version: boot.version, boot_id: boot.id, started_at: boot.startedAt }
  },
})
