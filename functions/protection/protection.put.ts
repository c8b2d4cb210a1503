import * as z from 'zod'
import { saveProtection } from '../../db/protections.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { notedChange } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { DEFAULT_TARGET, expectPolicyTarget, policyOf, PolicyTarget } from './policies.ts'
import { DEFAULT_PROTECTION, forAudit, Protection } from './protection.ts'

export default defineFunction({
  method: 'PUT',
  path: '/api/updates/protection/:target',
  summary: 'Set a policy of protection',
  description:
    'Stores the policy of one container in the last list (`lxc:<id>`), or of every container without its own (`default`), in place of the former one. It holds for the upgrades that start afterwards.',
  auth: 'admin',
  stepUp: true,
  targets: ({ params: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['protection_change'],
  request: { params: z.object({ target: PolicyTarget }), body: Protection, refusal: 'protection_invalid' },
  response: z.object({ message: z.string() }),
  example: { body: DEFAULT_PROTECTION, response: { message: 'Protection enregistrée.' } },
  errors: ['target_invalid'],

  async handler({ params: { target }, body }, { db, user, clock, auditEntry }) {
    await expectPolicyTarget(db, target)
    const { before, keep, on_failure, settle_seconds, probes } = body
    const former = await policyOf(db, target)
    await saveProtection(
      db,
      { target, protection: JSON.stringify(body) },
      {
        at: timestamp(clock()),
        by: user.username,
        entry: auditEntry('protection_change', {
          target,
          details: {
            before,
            backup_storage: body.backup_storage,
            keep,
            on_failure,
            settle_seconds,
            probes: probes.length,
            ...notedChange(forAudit(former), forAudit(body)),
          },
        }),
      },
    )
    return { message: target === DEFAULT_TARGET ? 'Protection par défaut enregistrée.' : 'Protection enregistrée.' }
  },
})
