import * as z from 'zod'
import { addApiToken } from '../../db/access/api-tokens.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { newApiToken } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_TOKEN_ROW, exceeds, expiryOf, MOST_TOKENS, NewToken, shownToken, Token, toldToken } from './token.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/tokens',
  summary: 'Make an API token',
  description:
    'Makes a token with which a program acts for the caller: `Authorization: Bearer opt_…`. It never may more than its owner may at that moment, and nothing that needs a recent proof. The answer is the only one that has the token. Without `expires_in_days` and `expires_at` it expires after 90 days.',
  auth: 'user',
  credential: 'session',
  stepUp: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ['token_created'],
  request: { body: NewToken },
  status: 201,
  response: Token.extend({ token: z.string().meta({ description: 'Shown once: the service stores its hash.' }) }),
  example: {
    body: { name: 'Supervision', role: 'viewer', targets: 'all' },
    response: { ...EXAMPLE_TOKEN_ROW, token: `opt_${'A'.repeat(43)}` },
  },
  errors: ['token_expiry_invalid', 'token_exceeds', 'tokens_full'],

  async handler({ body }, { db, user, secrets, clock, auditEntry, fail }) {
    const { name, role, targets } = body
    if (exceeds(user, body)) throw fail('token_exceeds')
    const now = clock()
    const hasBoth = body.expires_in_days !== undefined && body.expires_at !== undefined
    const expires_at = hasBoth ? undefined : expiryOf(body, now)
    if (expires_at === undefined) throw fail('token_expiry_invalid')
    const { token, hash } = newApiToken(secrets)
    const wanted = { user_id: user.id, name, hash, role, targets, expires_at }
    const entry = auditEntry('token_created', toldToken(wanted))
    const row = await addApiToken(db, wanted, { now: timestamp(now), most: MOST_TOKENS, entry })
    if (!row) throw fail('tokens_full', { values: { most: MOST_TOKENS } })
    return { ...shownToken(row, now), token }
  },
})
