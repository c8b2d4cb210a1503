import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { CurrentPassword } from '../auth/proof.ts'
import { boundToken } from '../forge/settings.ts'
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
    'Changes all given settings or none, and reconnects to the host at once. An empty secret means no change. A new `ssh_host` needs its `ssh_host_key` and the caller’s own password as `current_password`, which the present host checks. A new `ssh_host_key` needs the password too, and so does a new `hypervisor_fingerprint` for the stored token. Where the present host takes no passwords, or asks more than one, `step_up_required` asks for a code or a passkey of the last five minutes instead. A new `hypervisor_url` needs its `hypervisor_token`, unless the certificate is still the agreed one. A `forge_url` of another origin forgets the stored `forge_token`, unless its own comes with it; another `forge_fingerprint` for a known token needs the password.',
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
  errors: ['host_key_required', 'hypervisor_token_required', 'forge_url_required', ...CHANGE_PROOF_ERRORS],

  async handler({ body: { current_password, ...body } }, context) {
    const { settings, user, config, auditEntry, fail } = context
    const change = given(body)
    const now = await settings.show()
    const { missing, proof } = demandsOf(change, now, config)
    if (missing) throw fail(missing)
    const bound = boundToken(change, now, config.forge)
    if (!bound) throw fail('forge_url_required')
    if (proof) await proveChange(current_password, context)
    const changed = await settings.change(
      bound.values,
      (details, keys) => [
        auditEntry('settings_changed', { details }),
        changeEvent(context, { username: user.username, keys }),
      ],
      bound.removed,
    )
    return { message: changed.length === 0 ? 'Aucun réglage n’a changé.' : 'Réglages enregistrés.' }
  },
})
