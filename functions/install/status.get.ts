import * as z from 'zod'
import { defineFunction } from '../../runtime/function.ts'

/** Whether the service knows its host: the wizard is for who finds that it does not. */
export default defineFunction({
  method: 'GET',
  path: '/api/install/status',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  response: z.object({ installed: z.boolean() }),

  handler: async (_, { settings }) => ({ installed: await settings.hasSshHost() }),
})
