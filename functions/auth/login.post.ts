import * as z from 'zod'
import { addSession } from '../../db/sessions.ts'
import { saveUser } from '../../db/users.ts'
import { FOREIGN_HINT, limitKey } from '../../runtime/caller.ts'
import { timestamp } from '../../runtime/clock.ts'
import { defineFunction, EXAMPLE_TOKEN } from '../../runtime/function.ts'
import { SshError } from '../../runtime/ssh-connection.ts'
import { ACCESS_SECONDS } from '../../runtime/tokens.ts'
import { isAdministrator } from './administrator.ts'
import { refreshCookie } from './cookie.ts'
import { BUSY_SECONDS, PASSWORD_LIMIT } from './proof.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login',
  summary: 'Sign in',
  description:
    'Signs in with the host’s own credentials; the refresh token goes into a cookie that scripts cannot read.',
  auth: 'none',
  rateLimit: {
    ...PASSWORD_LIMIT,
    refusal: 'login_rate_limited',
    audit: 'login_rate_limited',
  },
  audit: ['login_failed', 'login_success'],
  request: {
    body: z.object({
      username: z
        .string()
        .min(1)
        .max(256)
        .refine((name) => !name.includes('\0'), 'caractère interdit')
        .meta({ pattern: '^[^\\u0000]*$' }),
      password: z.string().min(1).max(1024),
    }),
    refusal: 'credentials_missing',
  },
  response: z.object({
    access_token: z.string(),
    expires_in: z.literal(ACCESS_SECONDS),
    user: z.object({ id: z.int(), username: z.string(), is_admin: z.boolean() }),
  }),
  headers: { 'set-cookie': 'The refresh token, for `/api/auth/` alone.' },
  example: {
    body: { username: 'alice', password: 'correct horse battery staple' },
    response: {
      access_token: EXAMPLE_TOKEN,
      expires_in: ACCESS_SECONDS,
      user: { id: 1, username: 'alice', is_admin: true },
    },
  },
  errors: [
    'origin_forbidden',
    'ssh_host_missing',
    'bad_credentials',
    'ssh_unreachable',
    'ssh_throttled',
    'host_key_changed',
    'login_busy',
  ],

  async handler({ body: { username, password } }, context) {
    const { db, host, sessions, clock, caller, signal, log, audit, auditEntry, fail, header } = context
    // Else any page could sign its visitors in as somebody else.
    if (caller.foreign !== undefined) {
      log.warn({ path: '/api/auth/login', origin: caller.foreign, address: caller.address }, FOREIGN_HINT)
      throw fail('origin_forbidden')
    }
    const turn = { from: limitKey(caller.address), signal }
    const checked = await host.signIn(username, password, turn).catch(async (error: unknown) => {
      if (!(error instanceof SshError)) throw error
      await audit('login_failed', {
        user: { id: null, username },
        details: { reason: error.reason, error: error.message },
      })
      throw fail(REFUSALS[error.reason], { cause: error })
    })
    if (!checked) throw fail('login_busy', { retryAfter: BUSY_SECONDS, values: { seconds: BUSY_SECONDS } })

    const now = timestamp(clock())
    const isAdmin = await isAdministrator(context, username, checked.identity)
    const { id } = await saveUser(db, username, isAdmin, now)
    const { token, hash, expires } = await sessions.refreshToken(id)
    const sid = await addSession(
      db,
      {
        user_id: id,
        token_hash: hash,
        expires_at: timestamp(expires),
        user_agent: caller.userAgent,
        ip: caller.address,
      },
      now,
      [auditEntry('login_success', { user: { id, username } })],
    )
    const access_token = await sessions.accessToken({ id, username, isAdmin, sid: String(sid) })
    header('set-cookie', refreshCookie(token, expires, caller))
    return { access_token, expires_in: ACCESS_SECONDS, user: { id, username, is_admin: isAdmin } }
  },
})

const REFUSALS = {
  bad_credentials: 'bad_credentials',
  unreachable: 'ssh_unreachable',
  throttled: 'ssh_throttled',
  refused: 'ssh_unreachable',
  unanswered: 'ssh_unreachable',
  lost: 'ssh_unreachable',
  host_key_changed: 'host_key_changed',
} as const
