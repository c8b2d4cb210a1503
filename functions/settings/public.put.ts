import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { DashboardShortcuts, EXAMPLE_SHORTCUTS } from '../dashboard/shortcuts.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'PUT',
  path: '/api/settings/public',
  summary: 'Store public settings',
  description: 'Replaces the settings that every signed-in user may read.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['settings_changed'],
  request: { body: z.strictObject({ dashboard_shortcuts: DashboardShortcuts }) },
  response: z.object({ message: z.string() }),
  example: {
    body: { dashboard_shortcuts: EXAMPLE_SHORTCUTS },
    response: { message: 'Raccourcis enregistrés.' },
  },

  async handler({ body }, { settings, auditEntry }) {
    await settings.change(body, (details) => auditEntry('settings_changed', { details }))
    return { message: 'Raccourcis enregistrés.' }
  },
})
