import * as z from 'zod'
import { defineFunction } from '../../runtime/function.ts'
import { PublicKey } from '../../runtime/signing-keys.ts'

/** The public keys that access tokens are signed with, as a JWK set (RFC 7517). */
export default defineFunction({
  method: 'GET',
  path: '/.well-known/jwks.json',
  auth: 'none',
  rateLimit: false,
  response: z.object({ keys: z.array(PublicKey) }),

  handler: async (_, { sessions }) => ({ keys: await sessions.publishedKeys() }),
})
