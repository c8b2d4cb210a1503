import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/settings/logs',
  summary: 'The log',
  description: 'Returns the newest 300 lines of the service’s log, the oldest of them first.',
  auth: 'admin',
  rateLimit: READS,
  response: z.object({ lines: z.array(z.string()) }),
  example: {
    response: { lines: ['{"level":"info","time":"2026-03-01T12:00:00.000Z","msg":"ready"}'] },
  },

  handler: (_, { logLines }) => ({ lines: logLines() }),
})
