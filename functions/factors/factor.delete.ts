import * as z from 'zod'
import { isLostClaim } from '../../db/access/claims.ts'
import { listFactors, removingFactor } from '../../db/access/factors.ts'
import { WRITES } from '../../runtime/function.ts'
import { documentedAs } from '../../runtime/input.ts'
import { defineFunction } from '../services.ts'
import { FactorId } from './enrolment.ts'
import { isFactorRequired } from './second-factor.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/factors/:id',
  summary: 'Remove a second factor',
  description:
    'Removes a second factor of the caller, and with the last one the recovery codes. The last one stays where this service demands one.',
  auth: 'user',
  stepUp: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ['factor_remove'],
  request: { params: z.object({ id: documentedAs(FactorId, z.string()) }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Second facteur supprimé.' } },
  errors: ['factor_missing', 'factor_needed'],

  async handler({ params: { id: given } }, { db, config, user, auditEntry, fail }) {
    const keepLast = isFactorRequired(config, user.role)
    const factor = (await listFactors(db, user.id)).find((each) => String(each.id) === given)
    if (!factor) throw fail('factor_missing')
    const { id, kind, name } = factor
    const entry = auditEntry('factor_remove', { target: user.username, details: { kind, name } })
    await db.batch([...removingFactor({ id, userId: user.id }, keepLast), entry]).catch(async (error: unknown) => {
      if (!isLostClaim(error)) throw error
      const isThere = (await listFactors(db, user.id)).some((each) => each.id === id)
      throw fail(isThere ? 'factor_needed' : 'factor_missing', { cause: error })
    })
    return { message: 'Second facteur supprimé.' }
  },
})
