import * as z from 'zod'
import { addingTotp } from '../../db/access/factors.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ChallengeId, countChallengeAnswer, findChallenge, useChallenge, wrongAnswer } from './challenges.ts'
import { enrol, Enrolled, ENROLMENT_ACTIONS, ENROLMENT_ERRORS, EXAMPLE_FACTOR, MOST_FACTORS } from './enrolment.ts'
import { EXAMPLE_CODES } from './recovery-codes.ts'
import { stepOf, TotpCode, totpSecret } from './totp.ts'

/** The data of the challenge until the authenticator is confirmed. */
const Begun = z.object({ name: z.string(), secret: z.string() })

export default defineFunction({
  method: 'POST',
  path: '/api/auth/factors/totp/confirm',
  summary: 'Add an authenticator',
  description:
    'Adds the authenticator whose code is given: from now on, signing in needs a second factor. With the first factor come ten recovery codes, in this answer only. The access token stays as it is; renew it where a second factor had to be added first.',
  auth: 'user',
  stepUp: true,
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ENROLMENT_ACTIONS,
  request: { body: z.object({ challenge: ChallengeId, code: TotpCode }) },
  response: Enrolled,
  example: {
    body: { challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', code: '287082' },
    response: { factor: EXAMPLE_FACTOR, recovery_codes: EXAMPLE_CODES },
  },
  errors: ['factor_wrong', ...ENROLMENT_ERRORS],

  async handler({ body: { challenge: id, code } }, context) {
    const { user, clock, secrets } = context
    const challenge = await findChallenge(context, { id, purpose: 'totp', userId: user.id }, Begun)
    await countChallengeAnswer(context, challenge)
    const { name, secret } = challenge.data
    const now = clock()
    const step = await stepOf({ secret, code }, now)
    if (step === undefined) throw await wrongAnswer(context, challenge)
    const created_at = timestamp(now)
    const sealed = secrets.seal(totpSecret(user.id), secret)
    return enrol(context, user, { kind: 'totp', name, created_at }, [
      ...useChallenge(context, challenge),
      ...addingTotp({ userId: user.id, name, secret: sealed, step }, MOST_FACTORS, created_at),
    ])
  },
})
