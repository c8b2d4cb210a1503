import * as z from 'zod'
import { removeProtection } from '../../db/protections.ts'
import { WRITES } from '../../runtime/function.ts'
import { notedChange } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { DEFAULT_TARGET, policyOf, PolicyTarget } from './policies.ts'
import { DEFAULT_PROTECTION, forAudit } from './protection.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/updates/protection/:target',
  summary: 'Return to the default policy of protection',
  description:
    'Removes the policy of one container, so that the default holds for it, or the stored default (`default`), so that the default of the service holds. Without such a policy it changes nothing.',
  auth: 'admin',
  stepUp: true,
  targets: ({ params: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['protection_change'],
  request: { params: z.object({ target: PolicyTarget }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'La protection par défaut s’applique.' } },
  errors: [],

  async handler({ params: { target } }, { db, auditEntry }) {
    const next = target === DEFAULT_TARGET ? DEFAULT_PROTECTION : await policyOf(db, DEFAULT_TARGET)
    const change = notedChange(forAudit(await policyOf(db, target)), forAudit(next))
    const details = { removed: true, ...change }
    await removeProtection(db, target, auditEntry('protection_change', { target, details }))
    return { message: 'La protection par défaut s’applique.' }
  },
})
