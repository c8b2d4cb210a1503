import * as z from 'zod'
import { listApiTokens } from '../../db/access/api-tokens.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_TOKEN_ROW, shownToken, Token } from './token.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/tokens',
  summary: 'API tokens',
  description:
    'Lists the caller’s API tokens, the newest first, without the tokens themselves, which are shown once. Expired ones are listed for 30 days, the newest hundred of them. Administrators see everybody’s with `all=true`, at most 1,000.',
  auth: 'user',
  credential: 'session',
  targets: 'none',
  rateLimit: READS,
  request: { query: z.object({ all: z.enum(['true', 'false']).optional() }) },
  response: z.array(Token),
  example: { response: [EXAMPLE_TOKEN_ROW] },
  errors: ['forbidden'],

  async handler({ query: { all } }, { db, user, clock, fail }) {
    const isAll = all === 'true'
    if (isAll && user.role !== 'admin') throw fail('forbidden')
    const rows = await listApiTokens(db, isAll ? undefined : user.id)
    const now = clock()
    return rows.map((row) => shownToken(row, now))
  },
})
