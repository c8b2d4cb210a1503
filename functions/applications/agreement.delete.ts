import * as z from 'zod'
import { removeAgreement } from '../../db/applications.ts'
import { WRITES } from '../../runtime/function.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { ApplicationId, Digest } from './application.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/updates/applications/agreement',
  summary: 'Withdraw an agreement to what an update of an application would run',
  description:
    'Nothing with this digest is run any more, on any container, until an administrator agrees to it again. An update that waits for its turn ends with `not_agreed`, and runs nothing. One that is at work goes on: cancel it. The digest may be another one than that of what was fetched last, and the application may be gone. `target` and `id` are for the audit log. Changes nothing, and writes no entry, where there is no such agreement.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['application_withdraw'],
  request: { body: z.object({ target: Target, id: ApplicationId, digest: Digest }) },
  response: z.object({ message: z.string() }),
  example: {
    body: {
      target: 'lxc:101',
      id: 'community_script:vaultwarden',
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    response: { message: 'Accord retiré.' },
  },
  errors: ['target_invalid'],

  async handler({ body: { target, id, digest } }, { db, auditEntry, fail }) {
    if (parseTarget(target)?.kind !== 'container')
      throw fail('target_invalid', { values: { target: shortened(target) } })
    await removeAgreement(db, digest, ({ address, agreed_at, agreed_by }) =>
      auditEntry('application_withdraw', {
        target,
        details: { application: id, address, digest, agreed_at, agreed_by },
      }),
    )
    return { message: 'Accord retiré.' }
  },
})
