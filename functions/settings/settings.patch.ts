import * as z from 'zod'
import { defineFunction, WRITES } from '../../runtime/function.ts'
import { given, KEY_STAYS, keepsKey, SettingsChange } from './fields.ts'

/** Changes settings, all that are given or none; the host is connected anew at once. The audit names them, no value. */
export default defineFunction({
  method: 'PATCH',
  path: '/api/settings',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['settings_changed'],
  request: { body: SettingsChange },
  response: z.object({ message: z.string() }),

  async handler({ body }, { settings, auditEntry }) {
    const changed = await settings.change(given(body), (keys) =>
      auditEntry('settings_changed', { details: { keys: keys.join(', ') } }),
    )
    if (changed.length === 0) return { message: 'Aucun réglage n’a changé.' }
    const hint = keepsKey(changed, await settings.show()) ? ` ${KEY_STAYS}` : ''
    return { message: `Réglages enregistrés.${hint}` }
  },
})
