import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'

/** The newest 300 lines of the log, the oldest of them first. */
export default defineFunction({
  method: 'GET',
  path: '/api/settings/logs',
  auth: 'admin',
  rateLimit: READS,
  response: z.object({ lines: z.array(z.string()) }),

  handler: (_, { logLines }) => ({ lines: logLines() }),
})
