import * as z from 'zod'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ChallengeId, countChallengeAnswer, findChallenge, useChallenge } from './challenges.ts'
import { enrol, Enrolled, ENROLMENT_ACTIONS, ENROLMENT_ERRORS, EXAMPLE_FACTOR, FactorName } from './enrolment.ts'
import { newPasskey, PASSKEY_ERRORS } from './new-passkey.ts'
import { EXAMPLE_REGISTRATION, Registration } from './passkey-shapes.ts'
import { PasskeyQuestion } from './passkeys.ts'
import { EXAMPLE_CODES } from './recovery-codes.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/factors/passkeys',
  summary: 'Add a passkey',
  description:
    'Adds the passkey that the browser has made: from now on, signing in needs a second factor. With the first factor come ten recovery codes, in this answer only. The access token stays as it is; renew it where a second factor had to be added first.',
  auth: 'user',
  stepUp: true,
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: [...ENROLMENT_ACTIONS, 'factor_refused'],
  request: { body: z.object({ challenge: ChallengeId, name: FactorName, response: Registration }) },
  response: Enrolled,
  example: {
    body: {
      challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM',
      name: 'Portable',
      response: EXAMPLE_REGISTRATION,
    },
    response: { factor: { ...EXAMPLE_FACTOR, kind: 'passkey', name: 'Portable' }, recovery_codes: EXAMPLE_CODES },
  },
  errors: [...PASSKEY_ERRORS, ...ENROLMENT_ERRORS],

  async handler({ body: { challenge: id, name, response } }, context) {
    const { user, clock } = context
    const challenge = await findChallenge(context, { id, purpose: 'passkey', userId: user.id }, PasskeyQuestion)
    await countChallengeAnswer(context, challenge)
    const created_at = timestamp(clock())
    const added = await newPasskey(context, challenge.data, { user, name, created_at, response })
    return enrol(context, user, { kind: 'passkey', name, created_at }, [...useChallenge(context, challenge), ...added])
  },
})
