import * as z from 'zod'
import { countRecoveryCodes, listFactors } from '../../db/access/factors.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_FACTOR, Factor } from './enrolment.ts'
import { isFactorRequired } from './second-factor.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/factors',
  summary: 'The caller’s second factors',
  description:
    'Lists the second factors, the oldest first, and tells how many recovery codes are left. `required` says whether this service demands a second factor of the caller.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: READS,
  response: z.object({
    factors: z.array(Factor),
    recovery_codes_left: z.int(),
    required: z.boolean(),
  }),
  example: {
    response: { factors: [EXAMPLE_FACTOR], recovery_codes_left: 10, required: true },
  },

  async handler(_, { db, config, user }) {
    return {
      factors: await listFactors(db, user.id),
      recovery_codes_left: await countRecoveryCodes(db, user.id),
      required: isFactorRequired(config, user.role),
    }
  },
})
