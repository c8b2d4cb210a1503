import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { CurrentPassword } from '../auth/proof.ts'
import { defineFunction } from '../services.ts'
import { demandsOf } from './agreement.ts'
import { changeEvent } from './change-event.ts'
import { given, SettingsChange } from './fields.ts'
import { CHANGE_PROOF_ERRORS, proveChange } from './own-proof.ts'

export default defineFunction({
  method: 'PATCH',
  path: '/api/settings',
  summary: 'Change settings',
  description:
    'Changes all given settings or none, and reconnects to the host at once. An empty secret means no change. A new `ssh_host` needs its `ssh_host_key` and the caller’s own password as `current_password`, which the present host checks. A new `ssh_host_key` needs the password too, and so does a new `hypervisor_fingerprint` for the stored token. Where the present host takes no passwords, or asks more than one, `step_up_required` asks for a code or a passkey of the last five minutes instead. A new `hypervisor_url` needs its `hypervisor_token`, unless the certificate is still the agreed one.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['settings_changed', 'proof_refused'],
  request: { body: SettingsChange.extend({ current_password: CurrentPassword.optional() }) },
  response: z.object({ message: z.string() }),
  example: {
    body: {
      ssh_host: 'pve1.example:2222',
      ssh_host_key: 'SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc',
      current_password: 'correct horse battery staple',
    },
    response: { message: 'Réglages enregistrés.' },
  },
  errors: ['host_key_required', 'hypervisor_token_required', ...CHANGE_PROOF_ERRORS],

  async handler({ body: { current_password, ...body } }, context) {
    const { settings, user, auditEntry, fail } = context
    const change = given(body)
    const { missing, proof } = demandsOf(change, await settings.show())
    if (missing) throw fail(missing)
    if (proof) await proveChange(current_password, context)
    const changed = await settings.change(change, (details, keys) => [
      auditEntry('settings_changed', { details }),
      changeEvent(context, { username: user.username, keys }),
    ])
    return { message: changed.length === 0 ? 'Aucun réglage n’a changé.' : 'Réglages enregistrés.' }
  },
})
