import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { EXAMPLE_SHORTCUTS } from '../dashboard/shortcuts.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/settings/public',
  summary: 'Public settings',
  description: 'Returns the settings that every signed-in user may read.',
  auth: 'user',
  targets: 'none',
  rateLimit: READS,
  response: z.object({ dashboard_shortcuts: z.string() }),
  example: {
    response: { dashboard_shortcuts: EXAMPLE_SHORTCUTS },
  },

  handler: (_, { settings }) => settings.show(),
})
