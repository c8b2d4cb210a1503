import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import logout from '../../../functions/auth/logout.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, auditedActions } from '../answers.ts'
import { meStatus, refreshStatus, signIn, storedSessions } from './client.ts'

const PATH = '/api/auth/logout'
const CLEARED = 'svc_refresh=; Path=/api/auth/; HttpOnly; SameSite=Strict; Expires=Thu, 01 Jan 1970 00:00:00 GMT'

const start = () => testApp([login, logout, me, refresh])

/** Checks for the only possible answer: success, with the cookie cleared. */
async function signedOut(response: Response) {
  expect(await answered(response, 200)).toEqual({ message: 'Déconnexion réussie.' })
  expect(response.headers.getSetCookie()).toEqual([`${CLEARED}; Max-Age=-1`])
}

const logoutEntries = async (app: Awaited<ReturnType<typeof start>>) =>
  (await audited(app.db)).filter(({ action }) => action === 'logout')

test('logout with the cookie ends that session and no other', async () => {
  const app = await start()
  const [here, elsewhere, alice] = [await signIn(app), await signIn(app), await signIn(app, 'alice')]

  await signedOut(await app.request('POST', PATH, { headers: here.headers(), from: '203.0.113.9' }))

  expect(await storedSessions(app)).toEqual([elsewhere.sid, alice.sid])
  expect([await meStatus(app, here), await refreshStatus(app, here)]).toEqual([401, 401])
  for (const other of [elsewhere, alice])
    expect([await meStatus(app, other), await refreshStatus(app, other)]).toEqual([200, 200])
  expect(await logoutEntries(app)).toEqual([
    {
      at: START.toISOString(),
      action: 'logout',
      user_id: here.userId,
      username: 'bob',
      target: null,
      ip: '203.0.113.9',
      details: { sessions: 1 },
    },
  ])
})

test('logout without a cookie ends all sessions of the user, and no other user’s', async () => {
  const app = await start()
  const [one, two, alice] = [await signIn(app), await signIn(app), await signIn(app, 'alice')]

  await signedOut(await app.request('POST', PATH, { headers: one.headers({ cookie: false }) }))

  expect(await storedSessions(app)).toEqual([alice.sid])
  for (const client of [one, two])
    expect([await meStatus(app, client), await refreshStatus(app, client)]).toEqual([401, 401])
  expect(await meStatus(app, alice)).toBe(200)
  expect(await logoutEntries(app)).toMatchObject([{ details: { sessions: 2 } }])
})

test('the cookie of another user’s session ends nothing', async () => {
  const app = await start()
  const [bob, alice] = [await signIn(app), await signIn(app, 'alice')]

  const headers = { ...bob.headers(), cookie: `svc_refresh=${alice.refresh}` }
  await signedOut(await app.request('POST', PATH, { headers }))

  expect(await storedSessions(app)).toEqual([bob.sid, alice.sid])
  expect([await meStatus(app, bob), await meStatus(app, alice)]).toEqual([200, 200])
  expect(await logoutEntries(app)).toMatchObject([{ username: 'bob', details: { sessions: 0 } }])
})

test.each([
  ['no token', {}],
  ['an invalid token', { authorization: 'Bearer a.b.c' }],
  ['another scheme', { authorization: 'Basic Ym9iOng=' }],
])('with %s the cookie is cleared, and nothing else happens', async (_, authorization) => {
  const app = await start()
  const bob = await signIn(app)

  const headers = { ...authorization, cookie: `svc_refresh=${bob.refresh}` }
  await signedOut(await app.request('POST', PATH, { headers }))

  expect(await storedSessions(app)).toEqual([bob.sid])
  expect([await meStatus(app, bob), await refreshStatus(app, bob)]).toEqual([200, 200])
  expect(await auditedActions(app.db)).toEqual(['login_success'])
})

test('an expired token counts as no token', async () => {
  const app = await start()
  const bob = await signIn(app)
  app.advance(900_000)

  await signedOut(await app.request('POST', PATH, { headers: bob.headers() }))

  expect(await storedSessions(app)).toEqual([bob.sid])
  expect(await auditedActions(app.db)).toEqual(['login_success'])
})

test('a second logout finds no session to end', async () => {
  const app = await start()
  const [bob, other] = [await signIn(app), await signIn(app)]
  await signedOut(await app.request('POST', PATH, { headers: bob.headers() }))

  await signedOut(await app.request('POST', PATH, { headers: bob.headers({ cookie: false }) }))

  expect(await storedSessions(app)).toEqual([other.sid])
  expect(await logoutEntries(app)).toHaveLength(1)
})

test('the request body is ignored', async () => {
  const app = await start()
  const bob = await signIn(app)

  await signedOut(await app.request('POST', PATH, { headers: bob.headers(), body: '{' }))

  expect(await storedSessions(app)).toEqual([])
})

test.each([['sessions'], ['ended_sessions'], ['audit']])(
  'when the table %s fails the client is signed out anyway, and the log contains the failure',
  async (table) => {
    const app = await start()
    const bob = await signIn(app)
    await app.db.script(`ALTER TABLE ${table} RENAME TO gone`)

    await signedOut(await app.request('POST', PATH, { headers: bob.headers() }))

    const errors = app.lines().filter((line) => line.includes('"level":"error"'))
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain('"username":"bob"')
    expect(app.lines().join('\n')).not.toContain(bob.refresh)
    // The end could not be stored, but this instance applies it.
    expect(await meStatus(app, bob)).toBe(401)
  },
)

test('the client is signed out even when its user cannot be identified', async () => {
  const app = await start()
  const bob = await signIn(app)
  app.advance(31_000)
  await app.db.script('ALTER TABLE ended_sessions RENAME TO gone')

  await signedOut(await app.request('POST', PATH, { headers: bob.headers() }))

  expect(await storedSessions(app)).toEqual([bob.sid])
  expect(await auditedActions(app.db)).toEqual(['login_success'])
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
})

test('the clearing cookie has the same Secure attribute as the original', async () => {
  const app = await start()

  const response = await app.request('POST', PATH, { headers: { 'x-forwarded-proto': 'https' } })

  expect(response.headers.getSetCookie()).toEqual([`${CLEARED}; Secure; Max-Age=-1`])
})
