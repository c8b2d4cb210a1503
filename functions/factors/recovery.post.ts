import * as z from 'zod'
import { listFactors, replacingRecoveryCodes } from '../../db/access/factors.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_CODES, newRecoveryCodes, RecoveryCodes } from './recovery-codes.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/factors/recovery',
  summary: 'Replace the recovery codes',
  description: 'Makes ten new recovery codes. The former ones are void from now on.',
  auth: 'user',
  stepUp: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ['recovery_codes_made'],
  response: z.object({ recovery_codes: RecoveryCodes }),
  example: { response: { recovery_codes: EXAMPLE_CODES } },
  errors: ['factor_missing'],

  async handler(_, { db, user, auditEntry, fail }) {
    if ((await listFactors(db, user.id)).length === 0) throw fail('factor_missing')
    const { codes, hashes } = newRecoveryCodes()
    await db.batch([...replacingRecoveryCodes(user.id, hashes), auditEntry('recovery_codes_made')])
    return { recovery_codes: codes }
  },
})
