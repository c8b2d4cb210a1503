import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ChallengeId, createChallenge } from './challenges.ts'
import { expectRoom, FactorName } from './enrolment.ts'
import { newTotp } from './totp.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/factors/totp',
  summary: 'Begin with an authenticator',
  description:
    'Makes a secret for an authenticator, also as an address that authenticators read from a QR code. Nothing changes until a code of the authenticator confirms it, within ten minutes.',
  auth: 'user',
  stepUp: true,
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: false,
  request: { body: z.object({ name: FactorName }) },
  response: z.object({
    secret: z.string().meta({ description: 'In base32.' }),
    uri: z.string().meta({ description: 'An `otpauth:` address.' }),
    challenge: ChallengeId,
  }),
  example: {
    body: { name: 'Téléphone' },
    response: {
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      uri: 'otpauth://totp/ops-panel:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=ops-panel',
      challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM',
    },
  },
  errors: ['factors_full'],

  async handler({ body: { name } }, context) {
    const { user, config } = context
    await expectRoom(context)
    const place = config.publicUrl === undefined ? '' : `@${new URL(config.publicUrl).host}`
    const { secret, uri } = await newTotp(`${user.username}${place}`)
    const challenge = await createChallenge(context, { userId: user.id, purpose: 'totp', data: { name, secret } })
    return { secret, uri, challenge }
  },
})
