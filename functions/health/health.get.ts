import * as z from 'zod'
import { defineFunction } from '../services.ts'
import { databaseProblem } from './database-problem.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/health',
  summary: 'The health of the service',
  description:
    '`degraded` means that the database is unusable. `boot_id` changes with every start, so that clients can wait for a restart.',
  auth: 'none',
  rateLimit: false,
  status: { ok: 200, degraded: 503 },
  response: z.object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    boot_id: z.string(),
    started_at: z.string(),
  }),
  example: {
    response: {
      status: 'ok',
      version: '1.0.0',
      boot_id: '7f0c1a52-6a0e-4c5e-9f43-0d5a7f3f6b11',
      started_at: '2026-03-01T12:00:00.000Z',
    },
  },

  async handler(_, { db, boot }) {
    const status = (await databaseProblem(db)) ? ('degraded' as const) : ('ok' as const)
    return { status, version: boot.version, boot_id: boot.id, started_at: boot.startedAt }
  },
})
