import * as z from 'zod'
import { findApiTokenById, removeApiToken } from '../../db/access/api-tokens.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { GivenTokenId, toldToken } from './token.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/tokens/:id',
  summary: 'Revoke an API token',
  description:
    'Removes one of the caller’s API tokens; administrators remove anybody’s. It is refused at once and its sockets close; on other instances within a minute.',
  auth: 'user',
  credential: 'session',
  stepUp: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ['token_revoked'],
  request: { params: z.object({ id: GivenTokenId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Jeton révoqué.' } },
  errors: ['token_missing'],

  async handler({ params: { id } }, { db, user, sessions, auditEntry, fail }) {
    const row = /^\d{1,15}$/.test(id) ? await findApiTokenById(db, Number(id)) : undefined
    if (!row || (row.user_id !== user.id && user.role !== 'admin')) throw fail('token_missing')
    const told = toldToken(row)
    const entry = auditEntry('token_revoked', {
      ...told,
      details: { ...told.details, id: row.id, owner: row.username },
    })
    const removed = await removeApiToken(db, row.id, entry)
    await sessions.endTokens({ id: row.id })
    if (!removed) throw fail('token_missing')
    return { message: 'Jeton révoqué.' }
  },
})
