import { generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import logout from '../../../functions/auth/logout.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { START, testApp } from '../../app.ts'
import { answered, auditedActions, decoded, refused, rows } from '../answers.ts'
import { type App, type Client, meStatus, signIn, storedSessions } from './client.ts'

const PATH = '/api/auth/refresh'
const DAY = 86_400_000
const Answer = z.object({ access_token: z.string(), expires_in: z.number() })

const start = (env: Record<string, string> = {}) => testApp([login, logout, me, refresh], { env })

const refreshed = (app: App, { refresh: token }: Pick<Client, 'refresh'>, headers: Record<string, string> = {}) =>
  app.request('POST', PATH, { headers: { cookie: `svc_refresh=${token}`, ...headers } })

/** Checks that nothing was written: the session was last used at login, and the audit log has only the login. */
async function untouched(app: App) {
  expect(await rows(app.db, 'SELECT last_used_at FROM sessions')).toEqual([{ last_used_at: START.toISOString() }])
  expect(await auditedActions(app.db)).toEqual(['login_success'])
}

test('a refresh returns a new access token of the same session, and nothing else', async () => {
  const app = await start()
  const bob = await signIn(app)
  app.advance(600_000)

  const response = await refreshed(app, bob)

  expect(response.headers.getSetCookie()).toEqual([])
  const answer = await answered(response, 200)
  expect(answer).toEqual({ access_token: expect.any(String), expires_in: 900 })
  const { access_token } = Answer.parse(answer)
  const at = START.getTime() / 1000 + 600
  expect(decoded(access_token).claims).toMatchObject({
    sub: String(bob.userId),
    username: 'bob',
    is_admin: false,
    sid: String(bob.sid),
    iat: at,
    exp: at + 900,
  })
  expect(access_token).not.toBe(bob.token)
  const fresh = { authorization: `Bearer ${access_token}` }
  app.advance(899_000)
  expect((await app.request('GET', '/api/auth/me', { headers: fresh })).status).toBe(200)
})

test('only the caller’s session counts as used; the refresh token stays, and nothing is audited', async () => {
  const app = await start()
  const [bob, other] = [await signIn(app), await signIn(app)]
  const before = await rows(app.db, 'SELECT token_hash, expires_at FROM sessions ORDER BY id')
  app.advance(60_000)

  await answered(await refreshed(app, bob), 200)

  expect(await rows(app.db, 'SELECT id, last_used_at FROM sessions ORDER BY id')).toEqual([
    { id: bob.sid, last_used_at: '2026-03-01T12:01:00.000Z' },
    { id: other.sid, last_used_at: START.toISOString() },
  ])
  expect(await rows(app.db, 'SELECT token_hash, expires_at FROM sessions ORDER BY id')).toEqual(before)
  expect(await auditedActions(app.db)).toEqual(['login_success', 'login_success'])
})

test('an expired or invalid access token does not prevent a refresh', async () => {
  const app = await start()
  const bob = await signIn(app)
  app.advance(3 * DAY)

  expect(await meStatus(app, bob)).toBe(401)
  await answered(await refreshed(app, bob, { authorization: `Bearer ${bob.token}` }), 200)
  await answered(await refreshed(app, bob, { authorization: 'Bearer x' }), 200)
})

test.each([
  ['no cookie', undefined],
  ['an empty cookie', 'svc_refresh='],
  ['other cookies', 'theme=dark; svc_refresh2=x; SVC_REFRESH=x'],
])('%s gives 401', async (_, cookie) => {
  const app = await start()
  await signIn(app)

  const response = await app.request('POST', PATH, { headers: cookie === undefined ? {} : { cookie } })

  const { error } = await refused(response, 401, 'refresh_missing')
  expect(error).toBe('Aucune session : connectez-vous.')
  await untouched(app)
})

test('an invalid token, an access token, and a token of another key give 401', async () => {
  const app = await start()
  const bob = await signIn(app)
  const { header, claims } = decoded(bob.refresh)
  const { kid } = z.object({ kid: z.string() }).parse(header)
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const forged = await new SignJWT(z.record(z.string(), z.unknown()).parse(claims))
    .setProtectedHeader({ alg: 'RS256', kid })
    .sign(stranger)
  const [head = '', payload = ''] = bob.refresh.split('.')

  for (const token of ['x', 'a.b.c', bob.token, forged, `${head}.${payload}.`, bob.refresh.slice(0, -8)]) {
    const { error } = await refused(await refreshed(app, { refresh: token }), 401, 'refresh_invalid')
    expect(error).toBe('Votre session est invalide ou a expiré. Reconnectez-vous.')
  }

  await untouched(app)
})

test('the refresh token is accepted until it expires', async () => {
  const app = await start()
  const bob = await signIn(app)

  app.advance(7 * DAY - 1_000)
  await answered(await refreshed(app, bob), 200)
  app.advance(1_000)
  await refused(await refreshed(app, bob), 401, 'refresh_invalid')

  expect(await rows(app.db, 'SELECT last_used_at FROM sessions')).toEqual([
    { last_used_at: '2026-03-08T11:59:59.000Z' },
  ])
})

test.each([
  ['2026-03-01 12:00:01', 200],
  ['2026-03-01T12:00:00.001Z', 200],
  ['2026-03-01 12:00:00', 401],
  ['2026-03-01 11:59:59', 401],
  ['2026-03-01T12:00:00.000Z', 401],
])('a session that expires at %s gives %i at noon, in either timestamp format', async (at, status) => {
  const app = await start()
  const bob = await signIn(app)
  await app.db.run('UPDATE sessions SET expires_at = ?', [at])

  const response = await refreshed(app, bob)

  if (status === 200) await answered(response, 200)
  else await refused(response, 401, 'session_ended')
})

test('an ended session gives 401, even with a valid token', async () => {
  const app = await start()
  const bob = await signIn(app)
  await answered(await app.request('POST', '/api/auth/logout', { headers: bob.headers() }), 200)

  const { error } = await refused(await refreshed(app, bob), 401, 'session_ended')

  expect(error).toBe('Votre session est terminée. Reconnectez-vous.')
  expect(await storedSessions(app)).toEqual([])
})

test.each([['https://evil.example'], ['null'], ['https://localhost'], ['http://localhost:81']])(
  'a page of the origin %s is answered as if it had no cookie, and the log names the setting',
  async (origin) => {
    const app = await start({ PANEL_ORIGINS: 'https://panel.example' })
    const bob = await signIn(app)

    await refused(await refreshed(app, bob, { origin, host: 'localhost' }), 401, 'refresh_missing')

    await untouched(app)
    const warnings = app.lines().filter((line) => line.includes('"level":"warn"'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('PANEL_ORIGINS')
    expect(warnings[0]).toContain(`"origin":"${origin}"`)
  },
)

test.each([['http://localhost'], ['https://panel.example']])('a page of the origin %s is served', async (origin) => {
  const app = await start({ PANEL_ORIGINS: 'https://panel.example' })
  const bob = await signIn(app)

  await answered(await refreshed(app, bob, { origin, host: 'localhost' }), 200)
})

test('neither the received nor the returned token is in the log', async () => {
  const app = await start()
  const bob = await signIn(app)

  const { access_token } = Answer.parse(await answered(await refreshed(app, bob), 200))
  await refused(await refreshed(app, { refresh: 'no-such-token' }), 401, 'refresh_invalid')

  const log = app.lines().join('\n')
  for (const secret of [bob.refresh, access_token, 'no-such-token']) expect(log).not.toContain(secret)
})
