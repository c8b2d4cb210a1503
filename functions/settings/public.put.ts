import * as z from 'zod'
import { defineFunction, WRITES } from '../../runtime/function.ts'
import { DashboardShortcuts } from './fields.ts'

/** Writes the public settings. */
export default defineFunction({
  method: 'PUT',
  path: '/api/settings/public',
  auth: 'user',
  rateLimit: WRITES,
  audit: ['settings_changed'],
  request: { body: z.strictObject({ dashboard_shortcuts: DashboardShortcuts }) },
  response: z.object({ message: z.string() }),

  async handler({ body }, { settings, auditEntry }) {
    await settings.change(body, (keys) => auditEntry('settings_changed', { details: { keys: keys.join(', ') } }))
    return { message: 'Raccourcis enregistrés.' }
  },
})
