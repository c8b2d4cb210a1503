import * as z from 'zod'
import { PublicKey } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/.well-known/jwks.json',
  area: 'auth',
  summary: 'Public keys',
  description: 'Returns the public keys that verify access tokens, as a JWK set (RFC 7517).',
  auth: 'none',
  rateLimit: false,
  response: z.object({ keys: z.array(PublicKey) }),
  example: {
    response: {
      keys: [
        {
          kty: 'RSA',
          n: 'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri',
          e: 'AQAB',
          kid: 'NzbLsXh8',
          alg: 'RS256',
          use: 'sig',
        },
      ],
    },
  },

  handler: async (_, { sessions }) => ({ keys: await sessions.publishedKeys() }),
})
