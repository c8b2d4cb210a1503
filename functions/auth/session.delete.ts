import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import { WRITES } from '../../runtime/function.ts'
import { documentedAs } from '../../runtime/input.ts'
import { SessionId } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'

/** The id in an address. Text that is not a number means a session that does not exist. */
const GivenSessionId = documentedAs(SessionId, z.string())

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/sessions/:id',
  summary: 'End a session',
  description: 'Ends one of the caller’s sessions. The service refuses its tokens from then on and closes its sockets.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ['session_revoked'],
  request: { params: z.object({ id: GivenSessionId }) },
  response: z.object({ message: z.string() }),
  example: {
    response: { message: 'Session révoquée.' },
  },
  errors: ['session_missing'],

  async handler({ params: { id } }, { user, sessions, auditEntry, fail }) {
    if (!/^\d{1,15}$/.test(id)) throw fail('session_missing')
    const ended = await sessions.end({ userId: user.id, id: Number(id) }, (count) =>
      onlyIf(auditEntry('session_revoked', { target: String(Number(id)) }), count),
    )
    if (ended === 0) throw fail('session_missing')
    return { message: 'Session révoquée.' }
  },
})
