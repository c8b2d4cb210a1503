import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'

/** The settings that everybody who is signed in may read and write. */
export default defineFunction({
  method: 'GET',
  path: '/api/settings/public',
  auth: 'user',
  rateLimit: READS,
  response: z.object({ dashboard_shortcuts: z.string() }),

  handler: (_, { settings }) => settings.show(),
})
