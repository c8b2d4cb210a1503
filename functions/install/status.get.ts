import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/install/status',
  summary: 'Whether there is a host',
  description: 'Whether the service knows its host: the wizard is for who finds that it does not.',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  response: z.object({ installed: z.boolean() }),
  example: {
    response: { installed: true },
  },

  handler: async (_, { settings }) => ({ installed: await settings.hasSshHost() }),
})
