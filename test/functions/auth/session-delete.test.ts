import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import revoke from '../../../functions/auth/session.delete.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, auditedActions, refused } from '../answers.ts'
import { type App, type Client, meStatus, refreshStatus, signIn, storedSessions } from './client.ts'

const start = () => testApp([login, me, refresh, revoke])

const remove = (app: App, client: Client, id: number | string, from = '203.0.113.9') =>
  app.request('DELETE', `/api/auth/sessions/${id}`, { headers: client.headers(), from })

const alive = async (app: App, client: Client) => [await meStatus(app, client), await refreshStatus(app, client)]

test('another session of the caller ends: its tokens are refused at once, the caller’s own are not', async () => {
  const app = await start()
  const [here, lost, alice] = [await signIn(app), await signIn(app), await signIn(app, 'alice')]
  expect(await alive(app, lost)).toEqual([200, 200])

  expect(await answered(await remove(app, here, lost.sid), 200)).toEqual({ message: 'Session révoquée.' })

  expect(await alive(app, lost)).toEqual([401, 401])
  expect(await alive(app, here)).toEqual([200, 200])
  expect(await alive(app, alice)).toEqual([200, 200])
  expect(await storedSessions(app)).toEqual([here.sid, alice.sid])
  expect((await audited(app.db)).slice(3)).toEqual([
    {
      at: START.toISOString(),
      action: 'session_revoked',
      user_id: here.userId,
      username: 'bob',
      target: String(lost.sid),
      ip: '203.0.113.9',
      details: null,
    },
  ])
})

test('the caller can end the current session, and the cookie stays', async () => {
  const app = await start()
  const bob = await signIn(app)

  const response = await remove(app, bob, bob.sid)

  expect(response.headers.getSetCookie()).toEqual([])
  await answered(response, 200)
  expect(await alive(app, bob)).toEqual([401, 401])
  await refused(await remove(app, bob, bob.sid), 401, 'unauthenticated')
})

test('another user’s session is not found and does not end', async () => {
  const app = await start()
  const [bob, alice] = [await signIn(app), await signIn(app, 'alice')]

  const { error } = await refused(await remove(app, bob, alice.sid), 404, 'session_missing')

  expect(error).toBe('Cette session n’existe pas.')
  expect(await alive(app, alice)).toEqual([200, 200])
  expect(await storedSessions(app)).toEqual([bob.sid, alice.sid])
  expect(await auditedActions(app.db)).toEqual(['login_success', 'login_success'])
})

test.each([
  '99',
  '0',
  '-1',
  '1.0',
  '1e0',
  '0x1',
  'abc',
  '%31%20',
  '%201',
  "1'--",
  '9'.repeat(16),
  '9'.repeat(40),
  '%00',
  'null',
  '1%2F',
])('%s is not a session', async (id) => {
  const app = await start()
  const bob = await signIn(app)
  expect(bob.sid).toBe(1)

  await refused(await remove(app, bob, id), 404, 'session_missing')

  expect(await alive(app, bob)).toEqual([200, 200])
  expect(await auditedActions(app.db)).toEqual(['login_success'])
})

test('without a token the answer is 401, and the session continues', async () => {
  const app = await start()
  const bob = await signIn(app)

  const headers = { cookie: `svc_refresh=${bob.refresh}` }
  await refused(await app.request('DELETE', `/api/auth/sessions/${bob.sid}`, { headers }), 401, 'unauthenticated')

  expect(await alive(app, bob)).toEqual([200, 200])
})
