import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import { WRITES } from '../../runtime/function.ts'
import { documentedAs } from '../../runtime/input.ts'
import { SessionId } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'
import { expectAccount, GivenAccountId } from './account.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/users/:id/sessions/:session',
  summary: 'End a session of an account',
  description:
    'Ends one session of one account: its tokens are refused from then on and its sockets close, on other instances within a minute.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['session_revoked'],
  request: { params: z.object({ id: GivenAccountId, session: documentedAs(SessionId, z.string()) }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Session révoquée.' } },
  errors: ['account_unknown', 'session_missing'],

  async handler({ params: { id, session } }, services) {
    const { sessions, auditEntry, fail } = services
    const account = await expectAccount(services, id)
    if (!/^\d{1,15}$/.test(session)) throw fail('session_missing')
    const note = { target: String(Number(session)), details: { user: account.username } }
    const ended = await sessions.end({ userId: account.id, id: Number(session) }, (count) =>
      onlyIf(auditEntry('session_revoked', note), count),
    )
    if (ended === 0) throw fail('session_missing')
    return { message: 'Session révoquée.' }
  },
})
