import * as z from 'zod'
import { withCount } from '../../db/audit.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { expectAccount, GivenAccountId } from './account.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/users/:id/sessions',
  summary: 'End all sessions of an account',
  description:
    'Ends every session of one account: their tokens are refused from then on and their sockets close, on other instances within a minute. API tokens stay.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['sessions_ended'],
  request: { params: z.object({ id: GivenAccountId }) },
  response: z.object({ ended: z.int(), message: z.string() }),
  example: { response: { ended: 2, message: 'Toutes les sessions de ce compte sont terminées.' } },
  errors: ['account_unknown'],

  async handler({ params: { id } }, services) {
    const { sessions, auditEntry } = services
    const account = await expectAccount(services, id)
    const ended = await sessions.end({ userId: account.id }, (count) =>
      withCount(auditEntry('sessions_ended', { target: account.username }), 'sessions', count),
    )
    return { ended, message: 'Toutes les sessions de ce compte sont terminées.' }
  },
})
