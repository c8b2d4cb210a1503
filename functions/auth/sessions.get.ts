import * as z from 'zod'
import { listSessions } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { SessionId, tokenHash } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'
import { RefreshCookies } from './cookie.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/sessions',
  summary: 'The caller’s sessions',
  description:
    'Lists the sessions that have not expired, the last used first. `is_current` marks the session of the cookie.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: READS,
  request: { cookies: RefreshCookies },
  response: z.array(
    z.object({
      id: SessionId,
      user_agent: z.string(),
      ip: z.string(),
      created_at: z.string(),
      last_used_at: z.string().nullable(),
      expires_at: z.string(),
      is_current: z.boolean(),
    }),
  ),
  example: {
    response: [
      {
        id: 12,
        user_agent: 'Mozilla/5.0',
        ip: '192.0.2.7',
        created_at: '2026-03-01T12:00:00.000Z',
        last_used_at: '2026-03-01T12:10:00.000Z',
        expires_at: '2026-03-08T12:00:00.000Z',
        is_current: true,
      },
    ],
  },

  async handler({ cookies: { svc_refresh: token } }, { db, user, clock }) {
    const current = token && tokenHash(token)
    const sessions = await listSessions(db, user.id, timestamp(clock()))
    return sessions.map(({ token_hash, ...session }) => ({ ...session, is_current: token_hash === current }))
  },
})
