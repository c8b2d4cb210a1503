import * as z from 'zod'
import { SealedChallenge, createChallenge } from '../factors/challenges.ts'
import { defineFunction } from '../services.ts'
import { authorizationRequest } from './provider.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/oidc',
  summary: 'Begin a sign-in by OpenID Connect',
  description:
    'Returns the address at which a person signs in at the provider (`PANEL_OIDC_ISSUER`), which sends the browser back to `/oidc` of the panel. The page that called this keeps the challenge: without it the answer opens no session.',
  auth: 'none',
  isEnabled: ({ oidc }) => oidc !== undefined,
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  response: z.object({ url: z.url(), challenge: SealedChallenge }),
  example: {
    response: {
      url: 'https://id.example/authorize?client_id=panel&response_type=code',
      challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM',
    },
  },
  errors: ['not_found', 'oidc_unreachable'],

  async handler(_, context) {
    const { config, clock, fail } = context
    if (!config.oidc) throw fail('not_found')
    const { url, pending } = await authorizationRequest(config.oidc, clock)
    return { url, challenge: await createChallenge(context, { userId: null, purpose: 'oidc', data: pending }) }
  },
})
