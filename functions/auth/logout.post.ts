import * as z from 'zod'
import { withCount } from '../../db/audit.ts'
import { tokenHash } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'
import { clearedCookie, RefreshCookies } from './cookie.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/logout',
  summary: 'Sign out',
  description:
    'Ends the session of the cookie or, without a cookie, all sessions of the caller. It always succeeds, so that a panel can always forget its user.',
  auth: 'optional',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: false,
  audit: ['logout'],
  request: { cookies: RefreshCookies },
  response: z.object({ message: z.string() }),
  headers: { 'set-cookie': 'Clears the refresh token.' },
  example: {
    response: { message: 'Déconnexion réussie.' },
  },

  async handler({ cookies: { svc_refresh: token } }, { user, sessions, caller, auditEntry, header, log }) {
    header('set-cookie', clearedCookie(caller))
    try {
      if (user) {
        await sessions.end({ userId: user.id, ...(token !== undefined && { tokenHash: tokenHash(token) }) }, (count) =>
          withCount(auditEntry('logout'), 'sessions', count),
        )
      }
    } catch (error) {
      if (user) sessions.endHere(user.sid)
      log.error({ username: user?.username, err: error }, 'sessions may have survived their logout')
    }
    return { message: 'Déconnexion réussie.' }
  },
})
