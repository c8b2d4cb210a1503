import * as z from 'zod'
import { removeProtection } from '../../db/protections.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { PolicyTarget } from './policies.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/updates/protection/:target',
  summary: 'Return to the default policy of protection',
  description:
    'Removes the policy of one container, so that the default holds for it, or the stored default (`default`), so that the default of the service holds. Without such a policy it changes nothing.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['protection_change'],
  request: { params: z.object({ target: PolicyTarget }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'La protection par défaut s’applique.' } },
  errors: [],

  async handler({ params: { target } }, { db, auditEntry }) {
    await removeProtection(db, target, auditEntry('protection_change', { target, details: { removed: true } }))
    return { message: 'La protection par défaut s’applique.' }
  },
})
