import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { answered, refused } from '../functions/answers.ts'
import { openSocket } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import type { Sent } from '../send.ts'
import { cookieOf, later, newAddress, type SignedIn, startPanel } from './client.ts'
import { bearerOf } from '../bearer.ts'

const panel = await startPanel()

const logout = (sent: Sent = {}) => panel.send('POST', '/api/auth/logout', sent)

/** Checks for the only answer of logout, with the cookie cleared. */
async function signedOut(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  const { name, value, attributes } = cookieOf(response)
  expect({ name, value }).toEqual({ name: 'svc_refresh', value: '' })
  expect(attributes).toMatchObject({
    path: '/api/auth/',
    httponly: '',
    expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
    'max-age': '-1',
  })
  expect(await answered(response, 200)).toEqual({ message: 'Déconnexion réussie.' })
}

/** A new user of the test with this many sessions, and the first of them. */
async function signIn(count: number): Promise<[SignedIn, SignedIn[]]> {
  const first = await panel.login(panel.freshName())
  const others: SignedIn[] = []
  while (others.length < count - 1) others.push(await panel.login(first.username))
  return [first, others]
}

const isAlive = async ({ token }: SignedIn) => (await panel.send('GET', '/api/auth/me', { token })).status === 200

test('logout, authenticated with the cookie: only the session of the cookie is deleted', async () => {
  const [{ username, token, cookie, from }, [other]] = await signIn(2)
  const [before] = (await panel.sessionsOf(username)).slice(1)

  await signedOut(await logout({ token, cookie, from }))

  expect(await panel.sessionsOf(username)).toEqual([before])
  expect(other && (await isAlive(other))).toBe(true)
})

test('logout, authenticated with the cookie: the cookie selects the session, not the access token', async () => {
  const [{ username, token, sid }, [other]] = await signIn(2)

  await signedOut(await logout({ token, cookie: other?.cookie ?? '' }))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('logout, authenticated with the cookie of another user: hash and user must match, so no session is deleted', async () => {
  const [mine] = await signIn(1)
  const [theirs] = await signIn(1)

  await signedOut(await logout({ token: mine.token, cookie: theirs.cookie }))

  expect(await panel.sessionIdsOf(mine.username)).toEqual([mine.sid])
  expect(await panel.sessionIdsOf(theirs.username)).toEqual([theirs.sid])
  expect(await isAlive(theirs)).toBe(true)
})

test('logout, authenticated with a cookie without a session: no session is deleted', async () => {
  const [{ username, token, sid }] = await signIn(1)

  await signedOut(await logout({ token, cookie: 'rubbish' }))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('logout, authenticated without the cookie: all sessions of the user are deleted, and no other user’s', async () => {
  const [{ username, token }, others] = await signIn(3)
  const [stranger] = await signIn(1)

  await signedOut(await logout({ token }))

  expect(await panel.sessionsOf(username)).toEqual([])
  expect(await panel.sessionIdsOf(stranger.username)).toEqual([stranger.sid])
  expect(await isAlive(stranger)).toBe(true)
  for (const other of others)
    await refused(await panel.send('POST', '/api/auth/refresh', { cookie: other.cookie }), 401, 'session_ended')
})

test('logout, authenticated, with another cookie only: counts as without the refresh cookie', async () => {
  const [{ username, token }] = await signIn(2)

  await signedOut(await logout({ token, headers: { cookie: 'svc_refresh_old=x; theme=dark' } }))

  expect(await panel.sessionsOf(username)).toEqual([])
})

test('logout, not authenticated: 200, the cookie is cleared, no session is deleted and nothing is audited', async () => {
  const [{ username, cookie, sid }] = await signIn(1)
  const from = newAddress()

  await signedOut(await logout({ from }))
  await signedOut(await logout({ cookie, from }))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
  expect(await panel.auditOf(from)).toEqual([])
})

test('logout, contract: a bad token counts as no token', async () => {
  const [{ username, cookie, sid, id }] = await signIn(1)
  const from = newAddress()
  const signer = await panel.signer(901)
  const expired = await signer.accessToken(bearerOf({ id, username, isAdmin: false, sid: String(sid) }, new Date()))

  for (const token of ['rubbish', 'a.b.c', expired, cookie]) await signedOut(await logout({ token, from }))
  await signedOut(await logout({ from, headers: { authorization: 'Basic Z3Vlc3Q6Z3Vlc3Q=' } }))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
  expect(await panel.auditOf(from)).toEqual([])
})

test('logout, when authenticated: the audit action logout is written, with that user and that address', async () => {
  const [{ username, id, token, cookie }] = await signIn(1)
  const from = newAddress()

  await signedOut(await logout({ token, cookie, from }))

  expect(await panel.auditOf(from)).toMatchObject([{ action: 'logout', username, user_id: id }])
})

test('logout, when authenticated: it is written also when there is no session to delete', async () => {
  const [{ token }] = await signIn(1)
  const from = newAddress()

  await signedOut(await logout({ token, cookie: 'rubbish', from }))

  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['logout'])
})

test('logout: a second one with the token and cookie of the first is 200 and unauthenticated', async () => {
  const [{ token, cookie }] = await signIn(1)
  const from = newAddress()
  await signedOut(await logout({ token, cookie, from }))

  await signedOut(await logout({ token, cookie, from }))

  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['logout'])
})

test.each(['{', 'x', '[]', ''])('logout has no body: with %j it is 200 too', async (body) => {
  await signedOut(await logout({ body }))
})

test.each(['svc_refresh', 'svc_refresh=%E0%A4%A', '=;;=', 'svc_refresh="'])(
  'logout always returns 200: with the cookie header %j, too',
  async (cookie) => {
    await signedOut(await logout({ headers: { cookie } }))
  },
)

test.each(['sessions', 'ended_sessions', 'audit', 'users'])(
  'logout always returns 200 and clears the cookie: without the table %s, too',
  async (table) => {
    const [{ token, cookie }] = await signIn(1)

    await panel.without(table, async () => {
      await signedOut(await logout({ token, cookie }))
      await signedOut(await logout({ token }))
      await signedOut(await logout({ cookie }))
    })
  },
)

test('logout always returns 200 and clears the cookie: even when the owner of the token cannot be looked up', async () => {
  const [{ username, token, cookie, sid }] = await signIn(1)

  // Ended sessions are read again after at most half a minute.
  await panel.without('ended_sessions', () => later(61_000, async () => signedOut(await logout({ token, cookie }))))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('logout always returns 200 and clears the cookie: even when another process locks the database', async () => {
  const [{ username, token, cookie, sid }] = await signIn(1)

  await panel.whileLocked(async () => signedOut(await logout({ token, cookie })))

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('logout, contract: tokens of the ended session are 401 at once; those of another session of the user are not', async () => {
  const [{ token, cookie }, [other]] = await signIn(2)
  const refreshed = await panel.send('POST', '/api/auth/refresh', { cookie })
  const { access_token } = z.object({ access_token: z.string() }).parse(await refreshed.json())

  await signedOut(await logout({ token, cookie }))

  for (const ended of [token, access_token])
    await refused(await panel.send('GET', '/api/auth/me', { token: ended }), 401, 'unauthenticated')
  await refused(await panel.send('POST', '/api/auth/refresh', { cookie }), 401, 'session_ended')
  expect(other && (await isAlive(other))).toBe(true)
})

test('logout, contract: sockets of the ended session close with 4401, those of another session stay', async () => {
  const output = controlledOutput(panel.demo)
  onTestFinished(() => output.end())
  const [{ token, cookie }, [other]] = await signIn(2)
  const path = `/ws/updates/${await panel.run(token, 'lxc:101')}`
  const mine = openSocket(panel.url, path, { token })
  const staying = openSocket(panel.url, path, { token: other?.token ?? '' })
  await Promise.all([mine.opened, staying.opened])

  await signedOut(await logout({ token, cookie }))

  expect(await mine.end).toBe(4401)
  output.print('toujours là\n')
  await expect.poll(() => staying.text()).toBe('toujours là\n')
  expect(mine.text()).toBe('')
})

test('logout of all sessions, contract: sockets of each of them close with 4401', async () => {
  const output = controlledOutput(panel.demo)
  onTestFinished(() => output.end())
  const [{ token }, [other]] = await signIn(2)
  const path = `/ws/updates/${await panel.run(token, 'lxc:102')}`
  const sockets = [openSocket(panel.url, path, { token }), openSocket(panel.url, path, { token: other?.token ?? '' })]
  await Promise.all(sockets.map(({ opened }) => opened))

  await signedOut(await logout({ token }))

  expect(await Promise.all(sockets.map(({ end }) => end))).toEqual([4401, 4401])
})
