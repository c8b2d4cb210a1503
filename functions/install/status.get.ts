import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/install/status',
  summary: 'The state of the installation',
  description: 'Says whether the service has a host. If it has none, the panel opens the wizard.',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  response: z.object({ installed: z.boolean() }),
  example: {
    response: { installed: true },
  },

  handler: async (_, { settings }) => ({ installed: await settings.hasSshHost() }),
})
