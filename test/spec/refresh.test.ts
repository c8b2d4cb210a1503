import { decodeJwt } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { answered, refused } from '../functions/answers.ts'
import type { Sent } from '../send.ts'
import { DAY_MS, later, RFC_3339, startPanel } from './client.ts'

const panel = await startPanel()

const refresh = (sent: Sent = {}) => panel.send('POST', '/api/auth/refresh', sent)
const Answer = z.object({ access_token: z.string() })

const LONG_AGO = '2026-01-01T00:00:00.000Z'

/** A signed-in user whose session was last used long ago. */
async function signIn() {
  const signedIn = await panel.login(panel.freshName())
  await panel.db.run('UPDATE sessions SET last_used_at = ? WHERE id = ?', [LONG_AGO, signedIn.sid])
  return signedIn
}

const lastUsed = async (username: string) => (await panel.sessionsOf(username)).map(({ last_used_at }) => last_used_at)

test('refresh, rule 1: no cookie gives 401, also for a valid access token', async () => {
  const { username, token } = await signIn()

  const { error } = await refused(await refresh(), 401, 'refresh_missing')
  await refused(await refresh({ token }), 401, 'refresh_missing')
  await refused(await refresh({ headers: { cookie: 'other=x' } }), 401, 'refresh_missing')

  expect(error).toBe('Aucune session : connectez-vous.')
  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test('refresh, rule 1: an empty cookie, such as logout leaves, gives 401', async () => {
  await refused(await refresh({ cookie: '' }), 401, 'refresh_missing')
})

test('refresh, rule 1: a token in the body or in the Authorization header is no cookie', async () => {
  const { cookie, username } = await signIn()

  await refused(await refresh({ token: cookie }), 401, 'refresh_missing')
  await refused(await refresh({ body: { svc_refresh: cookie, refresh_token: cookie } }), 401, 'refresh_missing')

  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test.each(['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIiwidHlwIjoicmVmcmVzaCJ9.'])(
  'refresh, rule 2: an invalid refresh token (%s) gives 401',
  async (cookie) => {
    await refused(await refresh({ cookie }), 401, 'refresh_invalid')
  },
)

test('refresh, rule 2: a changed token gives 401, although its session exists', async () => {
  const { cookie, username } = await signIn()
  const [header, , signature] = cookie.split('.')
  const claims = Buffer.from(JSON.stringify({ ...decodeJwt(cookie), exp: 4_102_444_800 })).toString('base64url')

  await refused(await refresh({ cookie: `${header}.${claims}.${signature}` }), 401, 'refresh_invalid')

  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test('refresh, rule 2: an expired token gives 401, even if its session record has not expired', async () => {
  const { id, username, sid } = await signIn()
  const signer = await panel.signer(7 * 86_400 + 1)
  const { token, hash } = await signer.refreshToken(id)
  await panel.db.run('UPDATE sessions SET token_hash = ? WHERE id = ?', [hash, sid])

  await refused(await refresh({ cookie: token }), 401, 'refresh_invalid')

  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test('refresh, rule 2: a session ends after the seven days of its lifetime, and not before', async () => {
  const { cookie } = await signIn()

  expect(await later(7 * DAY_MS - 60_000, async () => (await refresh({ cookie })).status)).toBe(200)
  await later(7 * DAY_MS + 1000, async () => refused(await refresh({ cookie }), 401, 'refresh_invalid'))
})

test('refresh, contract: an access token is no refresh token', async () => {
  const { token, username } = await signIn()

  await refused(await refresh({ cookie: token }), 401, 'refresh_invalid')

  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test('refresh, rule 3: a valid token without a session record gives 401', async () => {
  const { id, username } = await signIn()
  const { token } = await (await panel.signer(0)).refreshToken(id)

  await refused(await refresh({ cookie: token }), 401, 'session_ended')

  expect(await lastUsed(username)).toEqual([LONG_AGO])
})

test('refresh, rule 3: a revoked session gives 401', async () => {
  const { token, cookie, sid } = await signIn()
  expect((await panel.send('DELETE', `/api/auth/sessions/${sid}`, { token })).status).toBe(200)

  await refused(await refresh({ cookie }), 401, 'session_ended')
})

test.each([
  ['RFC 3339', () => new Date(Date.now() - 1000).toISOString()],
  ['YYYY-MM-DD HH:MM:SS', () => new Date(Date.now() - 1000).toISOString().slice(0, 19).replace('T', ' ')],
])('refresh, rule 3: a session past expires_at (stored as %s) gives 401 and is not updated', async (_, past) => {
  const { cookie, username, sid } = await signIn()
  await panel.db.run('UPDATE sessions SET expires_at = ? WHERE id = ?', [past(), sid])

  await refused(await refresh({ cookie }), 401, 'session_ended')

  // The task that removes expired sessions may have run.
  expect((await lastUsed(username)).filter((at) => at !== LONG_AGO)).toEqual([])
})

test('refresh, rule 3: an expires_at of the form YYYY-MM-DD HH:MM:SS later today is in the future', async () => {
  const { cookie, sid } = await signIn()
  const soon = new Date(Date.now() + 30_000).toISOString().slice(0, 19).replace('T', ' ')
  await panel.db.run('UPDATE sessions SET expires_at = ? WHERE id = ?', [soon, sid])

  expect((await refresh({ cookie })).status).toBe(200)
})

test('refresh, rule 3: the session must belong to that user', async () => {
  const mine = await signIn()
  const other = await signIn()
  await panel.db.run('UPDATE sessions SET user_id = ? WHERE id = ?', [other.id, mine.sid])

  await refused(await refresh({ cookie: mine.cookie }), 401, 'session_ended')

  expect(await lastUsed(other.username)).toEqual([LONG_AGO, LONG_AGO])
})

test('refresh, rule 4: only the last_used_at of that session is updated', async () => {
  const { username, cookie, sid } = await signIn()
  const other = await panel.login(username)
  await panel.db.run('UPDATE sessions SET last_used_at = ? WHERE id = ?', [LONG_AGO, other.sid])
  const [first, second] = await panel.sessionsOf(username)
  const before = Date.now()

  expect((await refresh({ cookie })).status).toBe(200)

  const now = expect.stringMatching(RFC_3339)
  expect(await panel.sessionsOf(username)).toEqual([{ ...first, id: sid, last_used_at: now }, second])
  expect(Date.parse((await lastUsed(username))[0] ?? '')).toBeGreaterThanOrEqual(before)
})

test('refresh, rule 5: when the user record is missing, the answer is 401, after last_used_at was updated', async () => {
  const { id, username, cookie, sid } = await signIn()
  await panel.forgetUser(username)

  const { error } = await refused(await refresh({ cookie }), 401, 'user_missing')

  expect(error).toBe('Ce compte n’existe plus.')
  const used = z.object({ last_used_at: z.string() })
  const rows = await panel.db.query(used, 'SELECT last_used_at FROM sessions WHERE id = ? AND user_id = ?', [sid, id])
  expect(rows).toHaveLength(1)
  expect(rows[0]?.last_used_at).not.toBe(LONG_AGO)
})

test('refresh, response 200: access_token and expires_in 900, and nothing else', async () => {
  const { cookie, token } = await signIn()

  const body = await answered(await refresh({ cookie }), 200)

  expect(body).toEqual({ access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expires_in: 900 })
  expect(Answer.parse(body).access_token).not.toBe(token)
})

test('refresh, response 200: the token has the same user and session, with the rights that the host reports now', async () => {
  const name = panel.freshName()
  const account = { name, password: name, uid: 4000, groups: [name, 'sudo'] }
  panel.demo.users.set(name, account)
  const { id, username, cookie, sid, token } = await panel.login(name)
  expect(decodeJwt(token)).toMatchObject({ is_admin: true })
  panel.demo.users.set(name, { ...account, groups: [name] })

  const { access_token } = Answer.parse(await answered(await refresh({ cookie }), 200))

  expect(decodeJwt(access_token)).toMatchObject({ sub: String(id), username, is_admin: false, sid: String(sid) })
  expect(await answered(await panel.send('GET', '/api/auth/me', { token: access_token }), 200)).toMatchObject({
    username,
    is_admin: false,
  })
  expect(await panel.userOf(username)).toMatchObject({ is_admin: 0 })
})

test('refresh: the refresh token is not rotated and the cookie is not set again', async () => {
  const { username, cookie } = await signIn()
  const [{ last_used_at: _, ...before } = { last_used_at: null }] = await panel.sessionsOf(username)

  for (let n = 0; n < 3; n++) {
    const response = await refresh({ cookie })
    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie()).toEqual([])
  }

  expect(await panel.sessionsOf(username)).toMatchObject([before])
})

test('refresh has no body: a body is not read', async () => {
  const { cookie } = await signIn()

  expect((await refresh({ cookie, body: '{' })).status).toBe(200)
})

test('refresh needs no access token, and ignores a bad or expired one', async () => {
  const { cookie } = await signIn()

  expect((await refresh({ cookie, token: 'rubbish' })).status).toBe(200)
})

test('refresh is not an audited event', async () => {
  const { cookie, from } = await signIn()
  await refresh({ cookie, from })
  await refresh({ from })
  await refresh({ cookie: 'x', from })

  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['login_success'])
})

test.each(['sessions', 'users'])('refresh: a failure to read %s gives 500, not 401', async (table) => {
  const { cookie } = await signIn()

  await panel.without(table, async () => refused(await refresh({ cookie }), 500, 'storage_failed'))

  expect((await refresh({ cookie })).status).toBe(200)
})

test.each(['https://evil.example', 'null', 'http://127.0.0.1:1'])(
  'refresh, contract: with a foreign Origin (%s) it counts as without a cookie',
  async (origin) => {
    const { username, cookie } = await signIn()

    await refused(await refresh({ cookie, headers: { origin } }), 401, 'refresh_missing')

    expect(await lastUsed(username)).toEqual([LONG_AGO])
  },
)

test('refresh, contract: the service’s own Origin is not foreign', async () => {
  const { cookie } = await signIn()

  expect((await refresh({ cookie, headers: { origin: panel.url } })).status).toBe(200)
})

test('refresh, contract: an Origin of PANEL_ORIGINS is not foreign', async () => {
  const { cookie } = await signIn()
  const env = { PANEL_ORIGINS: 'https://panel.example' }
  const open = await startPanel({ env, beside: panel }, onTestFinished)
  const from = (origin: string) => open.send('POST', '/api/auth/refresh', { cookie, headers: { origin } })

  expect((await from('https://panel.example')).status).toBe(200)
  await refused(await from('https://other.example'), 401, 'refresh_missing')
})
