import * as z from 'zod'
import { SealedChallenge, createChallenge } from '../factors/challenges.ts'
import { EXAMPLE_REQUEST, RequestOptions } from '../factors/passkey-shapes.ts'
import { requestOptions } from '../factors/passkeys.ts'
import { defineFunction } from '../services.ts'
import { expectOffered, OFFER_ERRORS } from './offered.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login/passkey/options',
  summary: 'Begin to sign in by passkey',
  description:
    'Returns what the browser needs to ask for a passkey (the argument of `PublicKeyCredential.parseRequestOptionsFromJSON`). It names no account: the passkey does. Needs `PANEL_PASSKEY_SIGN_IN=on`.',
  auth: 'none',
  rateLimit: { limit: 20, seconds: 60, by: 'address', refusal: 'login_rate_limited' },
  audit: false,
  response: z.object({ challenge: SealedChallenge, options: RequestOptions }),
  example: { response: { challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', options: EXAMPLE_REQUEST } },
  errors: [...OFFER_ERRORS, 'passkeys_need_name'],

  async handler(_, context) {
    const { caller, fail } = context
    expectOffered(context)
    const asked = await requestOptions(context, caller, 'anybody')
    if (!asked) throw fail('passkeys_need_name')
    const { options, question } = asked
    return {
      challenge: await createChallenge(context, { userId: null, purpose: 'passkey_sign_in', data: { question } }),
      options,
    }
  },
})
