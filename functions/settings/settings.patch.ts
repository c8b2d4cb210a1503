import * as z from 'zod'
import { defineFunction, WRITES } from '../../runtime/function.ts'
import { given, KEY_STAYS, keepsKey, SettingsChange } from './fields.ts'

export default defineFunction({
  method: 'PATCH',
  path: '/api/settings',
  summary: 'Change settings',
  description:
    'Changes settings, all that are given or none; the host is connected anew at once. An empty secret means no change.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['settings_changed'],
  request: { body: SettingsChange },
  response: z.object({ message: z.string() }),
  example: {
    body: { ssh_host: 'pve1.example:2222' },
    response: { message: 'Réglages enregistrés.' },
  },

  async handler({ body }, { settings, auditEntry }) {
    const changed = await settings.change(given(body), (keys) =>
      auditEntry('settings_changed', { details: { keys: keys.join(', ') } }),
    )
    if (changed.length === 0) return { message: 'Aucun réglage n’a changé.' }
    const hint = keepsKey(changed, await settings.show()) ? ` ${KEY_STAYS}` : ''
    return { message: `Réglages enregistrés.${hint}` }
  },
})
