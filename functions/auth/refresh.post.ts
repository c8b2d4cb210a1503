import * as z from 'zod'
import { findSession, touchSession } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { ForeignPage } from '../../runtime/errors.ts'
import { EXAMPLE_TOKEN } from '../../runtime/function.ts'
import { ACCESS_SECONDS, tokenHash } from '../../sessions/sessions.ts'
import { mustEnrol } from '../factors/second-factor.ts'
import { defineFunction } from '../services.ts'
import { RefreshCookies } from './cookie.ts'
import { rightsForToken } from './host-account.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/refresh',
  summary: 'Renew the access token',
  description:
    'Returns a new access token for the session of the cookie; the cookie does not change. The service asks the host for the account again. If the account is gone, locked or expired, all its sessions end.',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  audit: ['account_ended', 'rights_changed'],
  request: { cookies: RefreshCookies },
  response: z.object({ access_token: z.string(), expires_in: z.literal(ACCESS_SECONDS) }),
  example: {
    response: { access_token: EXAMPLE_TOKEN, expires_in: ACCESS_SECONDS },
  },
  errors: ['refresh_missing', 'refresh_invalid', 'session_ended', 'user_missing'],

  async handler({ cookies: { svc_refresh: token } }, context) {
    const { db, sessions, clock, caller, fail } = context
    if (!token) throw fail('refresh_missing')
    if (caller.foreign !== undefined) throw fail('refresh_missing', { cause: new ForeignPage(caller.foreign) })
    const userId = await sessions.verifyRefresh(token)
    if (userId === undefined) throw fail('refresh_invalid')
    const now = timestamp(clock())
    const session = await findSession(db, userId, tokenHash(token), now)
    if (session === undefined) throw fail('session_ended')
    await touchSession(db, session.id, now)
    const current = await rightsForToken(context, userId, caller.address)
    if (typeof current === 'string') throw fail(current)
    const { username, rights } = current
    const proven = Date.parse(session.proven_at) / 1000
    const sid = String(session.id)
    const enrolling = await mustEnrol(context, userId, rights.role)
    const access_token = await sessions.accessToken({ id: userId, username, ...rights, sid, proven, enrolling })
    return { access_token, expires_in: ACCESS_SECONDS }
  },
})
