import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { answered, refused } from '../functions/answers.ts'
import { openSocket } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import type { Sent } from '../send.ts'
import { later, newAddress, RFC_3339, type SignedIn, startPanel } from './client.ts'

const panel = await startPanel()

const View = z.strictObject({
  id: z.int(),
  user_agent: z.string(),
  ip: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  expires_at: z.string(),
  is_current: z.boolean(),
})

/** Returns the list for a caller with these headers. */
async function list(sent: Sent) {
  return z.array(View).parse(await answered(await panel.send('GET', '/api/auth/sessions', sent), 200))
}

const idsOf = async (sent: Sent) => (await list(sent)).map(({ id }) => id)
const revoke = (id: number | string, sent: Sent = {}) => panel.send('DELETE', `/api/auth/sessions/${id}`, sent)
const me = ({ token }: SignedIn) => panel.send('GET', '/api/auth/me', { token })

/** A new user of the test with this many sessions. */
async function signIn(count: number): Promise<[SignedIn, SignedIn, ...SignedIn[]]> {
  const first = await panel.login(panel.freshName())
  const second = count > 1 ? await panel.login(first.username) : first
  const others: SignedIn[] = []
  while (others.length < count - 2) others.push(await panel.login(first.username))
  return [first, second, ...others]
}

/** Changes a stored session. */
async function store(id: number, values: Record<string, string | null>): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await panel.db.run(`UPDATE sessions SET ${name} = ? WHERE id = ?`, [value, id])
}

/** A time relative to now, in the format of the service or in the older one. */
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const older = (text: string) => text.slice(0, 19).replace('T', ' ')

test('sessions: a JSON array of Session views, each with the fields of the table and nothing else', async () => {
  const username = panel.freshName()
  const from = newAddress()
  const { token, cookie, sid } = await panel.login(username, username, { from, headers: { 'user-agent': 'Agent/2' } })
  const [stored] = await panel.sessionsOf(username)

  const body = await answered(await panel.send('GET', '/api/auth/sessions', { token, cookie }), 200)

  expect(body).toEqual([
    {
      id: sid,
      user_agent: 'Agent/2',
      ip: from,
      created_at: expect.stringMatching(RFC_3339),
      last_used_at: expect.stringMatching(RFC_3339),
      expires_at: stored?.expires_at,
      is_current: true,
    },
  ])
})

test('sessions: the answer never contains the token or its hash', async () => {
  const [{ token, cookie, username }] = await signIn(1)
  const [stored] = await panel.sessionsOf(username)

  const text = await (await panel.send('GET', '/api/auth/sessions', { token, cookie })).text()

  expect(stored?.token_hash).toBe(createHash('sha256').update(cookie).digest('hex'))
  expect(text).not.toContain(stored?.token_hash)
  expect(text).not.toContain(cookie)
})

test('sessions: only the caller’s own, even for an administrator', async () => {
  const [first, second] = await signIn(2)
  await signIn(1)
  const admin = await panel.login('demo')

  expect(new Set(await idsOf(first))).toEqual(new Set([first.sid, second.sid]))
  expect(await idsOf(admin)).toEqual(await panel.sessionIdsOf('demo'))
})

test('sessions: limited to those with expires_at in the future', async () => {
  const [first, second, third] = await signIn(3)
  await store(second.sid, { expires_at: inSeconds(-1) })
  await store(third?.sid ?? 0, { expires_at: '1999-12-31T23:59:59.999Z' })

  expect(await idsOf(first)).toEqual([first.sid])
  expect(await panel.sessionIdsOf(first.username)).toEqual([first.sid, second.sid, third?.sid])
})

test('sessions: a session that expires while the service runs is no longer listed', async () => {
  const [first] = await signIn(1)
  await store(first.sid, { expires_at: inSeconds(60) })

  expect(await idsOf(first)).toEqual([first.sid])
  expect(await later(61_000, () => idsOf(first))).toEqual([])
})

test('sessions: expires_at stored as YYYY-MM-DD HH:MM:SS is compared as a time, not as text', async () => {
  const [first, second, third] = await signIn(3)
  await store(first.sid, { expires_at: older(inSeconds(20)) })
  await store(second.sid, { expires_at: older(inSeconds(-20)) })
  await store(third?.sid ?? 0, { expires_at: older(inSeconds(-86_400)) })

  expect(await idsOf(first)).toEqual([first.sid])
})

test('sessions: most recent activity first, where activity is last_used_at', async () => {
  const [first, second, third] = await signIn(3)
  const last = third?.sid ?? 0
  await store(first.sid, { last_used_at: inSeconds(-100), created_at: inSeconds(-1000) })
  await store(second.sid, { last_used_at: inSeconds(-300), created_at: inSeconds(-300) })
  await store(last, { last_used_at: inSeconds(-200), created_at: inSeconds(-200) })

  expect(await idsOf(first)).toEqual([first.sid, last, second.sid])
})

test('sessions: activity is created_at where last_used_at is empty; it is returned as null', async () => {
  const [first, second, third] = await signIn(3)
  const last = third?.sid ?? 0
  await store(first.sid, { last_used_at: inSeconds(-300) })
  await store(second.sid, { last_used_at: null, created_at: inSeconds(-200) })
  await store(last, { last_used_at: inSeconds(-100), created_at: inSeconds(-900) })

  const views = await list(first)

  expect(views.map(({ id }) => id)).toEqual([last, second.sid, first.sid])
  expect(views[1]?.last_used_at).toBeNull()
})

test('sessions: both formats of stored timestamps sort together', async () => {
  const [first, second, third] = await signIn(3)
  const last = third?.sid ?? 0
  await store(first.sid, { last_used_at: older(inSeconds(-100)) })
  await store(second.sid, { last_used_at: inSeconds(-200) })
  await store(last, { last_used_at: null, created_at: older(inSeconds(-150)) })

  const views = await list(first)

  expect(views.map(({ id }) => id)).toEqual([first.sid, last, second.sid])
  for (const { created_at, last_used_at } of views)
    for (const text of [created_at, last_used_at])
      if (text !== null) expect(text).toMatch(/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/)
})

test('sessions: a refresh is activity, and moves its session to the front', async () => {
  const [first, second] = await signIn(2)
  await store(first.sid, { last_used_at: inSeconds(-100) })
  await store(second.sid, { last_used_at: inSeconds(-50) })
  expect(await idsOf(first)).toEqual([second.sid, first.sid])

  await panel.send('POST', '/api/auth/refresh', { cookie: first.cookie })

  expect(await idsOf(first)).toEqual([first.sid, second.sid])
})

test('sessions: an empty list is []', async () => {
  const [{ token, username }] = await signIn(1)
  await panel.db.run('UPDATE sessions SET expires_at = ? WHERE user_id = (SELECT id FROM users WHERE username = ?)', [
    inSeconds(-1),
    username,
  ])

  const response = await panel.send('GET', '/api/auth/sessions', { token })

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('[]')
})

test('sessions, is_current: true for the session whose refresh cookie accompanies the request, and for no other', async () => {
  const [first, second] = await signIn(2)
  const current = async (cookie: string) =>
    (await list({ token: first.token, cookie })).filter(({ is_current }) => is_current).map(({ id }) => id)

  expect(await current(first.cookie)).toEqual([first.sid])
  expect(await current(second.cookie)).toEqual([second.sid])
})

test('sessions, is_current: false for all without the cookie, and with a cookie of another user', async () => {
  const [first] = await signIn(2)
  const [stranger] = await signIn(1)

  for (const sent of [{}, { cookie: '' }, { cookie: 'x' }, { cookie: stranger.cookie }])
    expect((await list({ token: first.token, ...sent })).map(({ is_current }) => is_current)).toEqual([false, false])
})

test('sessions: without a token 401, even with the refresh cookie', async () => {
  const [{ cookie }] = await signIn(1)

  await refused(await panel.send('GET', '/api/auth/sessions'), 401, 'unauthenticated')
  await refused(await panel.send('GET', '/api/auth/sessions', { cookie }), 401, 'unauthenticated')
})

test('sessions: a storage failure gives 500', async () => {
  const [{ token }] = await signIn(1)

  await panel.without('sessions', async () =>
    refused(await panel.send('GET', '/api/auth/sessions', { token }), 500, 'storage_failed'),
  )
})

test('revoke, success: 200 with {message}; that session is deleted, the others stay', async () => {
  const [first, second, third] = await signIn(3)
  const before = await panel.sessionsOf(first.username)

  const response = await revoke(second.sid, { token: first.token, cookie: first.cookie })

  expect(response.headers.getSetCookie()).toEqual([])
  expect(await answered(response, 200)).toEqual({ message: expect.stringMatching(/^[A-ZÀ-Ý].*\.$/) })
  expect(await panel.sessionsOf(first.username)).toEqual(before.filter(({ id }) => id !== second.sid))
  expect(new Set(await idsOf(first))).toEqual(new Set([first.sid, third?.sid]))
})

test('revoke, success: the audit action session_revoked is written, and its target is the id', async () => {
  const [first, second] = await signIn(2)
  const from = newAddress()

  await revoke(second.sid, { token: first.token, from })

  expect(await panel.auditOf(from)).toMatchObject([
    { action: 'session_revoked', target: String(second.sid), username: first.username, user_id: first.id },
  ])
})

test('revoke: the session of another user gives 404 and stays, and nothing is audited', async () => {
  const [mine] = await signIn(1)
  const [theirs] = await signIn(1)
  const before = await panel.sessionsOf(theirs.username)
  const from = newAddress()

  const { error } = await refused(await revoke(theirs.sid, { token: mine.token, from }), 404, 'session_missing')

  expect(error).toBe('Cette session n’existe pas.')
  expect(await panel.sessionsOf(theirs.username)).toEqual(before)
  expect((await me(theirs)).status).toBe(200)
  expect(await panel.auditOf(from)).toEqual([])
})

test('revoke: an administrator cannot revoke another user’s session either', async () => {
  const admin = await panel.login('demo')
  const [theirs] = await signIn(1)

  await refused(await revoke(theirs.sid, { token: admin.token }), 404, 'session_missing')

  expect(await panel.sessionIdsOf(theirs.username)).toEqual([theirs.sid])
})

test('revoke: a missing session gives 404, and so does a second revocation', async () => {
  const [first, second] = await signIn(2)
  const from = newAddress()
  await refused(await revoke(999_999, { token: first.token, from }), 404, 'session_missing')
  expect((await revoke(second.sid, { token: first.token, from })).status).toBe(200)

  await refused(await revoke(second.sid, { token: first.token, from }), 404, 'session_missing')

  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['session_revoked'])
})

test.each(['abc', '1.5', '-1', '0', '0x1', '1e0', '%31%20', 'null', "1'--", '9'.repeat(30), '%F0%28'])(
  'revoke, contract: an invalid or impossible id (%s) gives 404',
  async (id) => {
    const [{ token, username, sid }] = await signIn(1)

    const response = await revoke(id, { token })

    expect(response.status).toBe(404)
    expect(await panel.sessionIdsOf(username)).toEqual([sid])
  },
)

test('revoke: without a token 401, and the session stays', async () => {
  const [{ sid, cookie, username }] = await signIn(1)

  await refused(await revoke(sid), 401, 'unauthenticated')
  await refused(await revoke(sid, { cookie }), 401, 'unauthenticated')
  await refused(await revoke('abc'), 401, 'unauthenticated')

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('revoke: a storage failure gives 500, the session stays, and nothing is audited', async () => {
  const [first, second] = await signIn(2)
  const from = newAddress()

  for (const table of ['sessions', 'ended_sessions'])
    await panel.without(table, async () =>
      refused(await revoke(second.sid, { token: first.token, from }), 500, 'storage_failed'),
    )

  expect(await panel.sessionIdsOf(first.username)).toEqual([first.sid, second.sid])
  expect(await panel.auditOf(from)).toEqual([])
  expect((await me(second)).status).toBe(200)
})

test('revoke: the current session can be revoked', async () => {
  const [first, second] = await signIn(2)

  expect((await revoke(first.sid, first)).status).toBe(200)

  expect(await panel.sessionIdsOf(first.username)).toEqual([second.sid])
  await refused(await me(first), 401, 'unauthenticated')
})

test('revoke, contract: tokens of the revoked session are 401 at once, those of the caller are not', async () => {
  const [first, second] = await signIn(2)
  expect((await me(second)).status).toBe(200)

  await revoke(second.sid, first)

  await refused(await me(second), 401, 'unauthenticated')
  await refused(
    await panel.send('POST', '/api/updates/run', { token: second.token, body: { target: 'host' } }),
    401,
    'unauthenticated',
  )
  await refused(await panel.send('POST', '/api/auth/refresh', { cookie: second.cookie }), 401, 'session_ended')
  expect((await me(first)).status).toBe(200)
  expect((await panel.send('POST', '/api/auth/refresh', { cookie: first.cookie })).status).toBe(200)
})

test('revoke, contract: sockets of the revoked session close with 4401, those of the caller stay', async () => {
  const output = controlledOutput(panel.demo)
  onTestFinished(() => output.end())
  const [first, second] = await signIn(2)
  const path = `/ws/updates/${await panel.run(first.token, 'lxc:101')}`
  const staying = openSocket(panel.url, path, { token: first.token })
  const ending = openSocket(panel.url, path, { token: second.token })
  await Promise.all([staying.opened, ending.opened])

  await revoke(second.sid, first)

  expect(await ending.end).toBe(4401)
  output.print('encore\n')
  await expect.poll(() => staying.text()).toBe('encore\n')
})

test('revoke, contract: a socket opened with the token of a revoked session closes with 4401', async () => {
  const [first, second] = await signIn(2)
  await revoke(second.sid, first)

  expect(await openSocket(panel.url, '/ws/updates/1700000000-abcdefgh', { token: second.token }).end).toBe(4401)
})

test('session lifecycle: a session exists after a successful login and not before', async () => {
  const username = panel.freshName()
  await panel.attempt(username, 'wrong')
  expect(await panel.sessionsOf(username)).toEqual([])

  const { sid } = await panel.login(username)

  expect(await panel.sessionIdsOf(username)).toEqual([sid])
})

test('session lifecycle: past expires_at it is neither listed nor accepted at refresh', async () => {
  const [first] = await signIn(1)
  await store(first.sid, { expires_at: inSeconds(-1) })

  expect(await list(first)).toEqual([])
  await refused(await panel.send('POST', '/api/auth/refresh', { cookie: first.cookie }), 401, 'session_ended')
})

test('session lifecycle: logout, revoke, and logout without cookie each delete it', async () => {
  const [first, second, third] = await signIn(3)
  const last = third ?? second

  await panel.send('POST', '/api/auth/logout', { token: first.token, cookie: first.cookie })
  expect(await panel.sessionIdsOf(first.username)).toEqual([second.sid, last.sid])

  await revoke(second.sid, last)
  expect(await panel.sessionIdsOf(first.username)).toEqual([last.sid])

  await panel.login(first.username)
  await panel.send('POST', '/api/auth/logout', { token: last.token })
  expect(await panel.sessionsOf(first.username)).toEqual([])
})

test('session lifecycle: an id is never reused', async () => {
  const [first] = await signIn(1)
  await panel.send('POST', '/api/auth/logout', { token: first.token })

  expect((await panel.login(first.username)).sid).toBeGreaterThan(first.sid)
  await refused(await me(first), 401, 'unauthenticated')
})
