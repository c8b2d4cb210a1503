import * as z from 'zod'
import { ping, StorageError } from '../../db/client.ts'
import { defineFunction } from '../../runtime/function.ts'

/** Whether the service and its database answer. `boot_id` changes with every start. */
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

  async handler(_, { db, boot, log }) {
    const status = await ping(db).then(
      () => 'ok' as const,
      (error: unknown) => {
        if (!(error instanceof StorageError)) throw error
        log.error({ err: error }, 'the database does not answer')
        return 'degraded' as const
      },
    )
    return { status, version: boot.version, boot_id: boot.id, started_at: boot.startedAt }
  },
})
