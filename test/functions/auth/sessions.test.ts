import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import sessions from '../../../functions/auth/sessions.get.ts'
import { START, testApp } from '../../app.ts'
import { answered, rows } from '../answers.ts'
import { type App, type Client, refreshStatus, signIn } from './client.ts'

const PATH = '/api/auth/sessions'
const NOW = START.toISOString()
const Ids = z.array(z.object({ id: z.number() }))

const start = () => testApp([login, me, refresh, sessions])

const list = async (app: App, client: Client) =>
  answered(await app.request('GET', PATH, { headers: client.headers() }), 200)
const ids = async (app: App, client: Client) => Ids.parse(await list(app, client)).map(({ id }) => id)

test('a session is listed with its origin, last use and end, and without its hash', async () => {
  const app = await start()
  const bob = await signIn(app, 'bob', { 'user-agent': 'Navigateur/1.0', 'x-forwarded-for': '203.0.113.9' })
  const before = await rows(app.db, 'SELECT * FROM sessions')

  const text = JSON.stringify(await list(app, bob))

  expect(JSON.parse(text)).toEqual([
    {
      id: bob.sid,
      user_agent: 'Navigateur/1.0',
      ip: '203.0.113.9',
      created_at: NOW,
      last_used_at: NOW,
      expires_at: '2026-03-08T12:00:00.000Z',
      is_current: true,
    },
  ])
  expect(text).not.toContain(String(before[0]?.token_hash))
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual(before)
})

test('the session of the cookie is the current one, whatever the token says', async () => {
  const app = await start()
  const [one, two] = [await signIn(app), await signIn(app)]

  const mixed = { ...one.headers(), cookie: `a=b; svc_refresh=${two.refresh}` }
  const answer = await answered(await app.request('GET', PATH, { headers: mixed }), 200)

  expect(answer).toMatchObject([
    { id: two.sid, is_current: true },
    { id: one.sid, is_current: false },
  ])
})

test('the most recently used session comes first, and a refresh counts as use', async () => {
  const app = await start()
  const [one, two, three] = [await signIn(app), await signIn(app), await signIn(app)]
  expect(await ids(app, one)).toEqual([three.sid, two.sid, one.sid])
  app.advance(1)

  expect(await refreshStatus(app, two)).toBe(200)

  expect(await ids(app, one)).toEqual([two.sid, three.sid, one.sid])
})

test('an unused session is sorted by its start; both timestamp formats sort together', async () => {
  const app = await start()
  const clients = [await signIn(app), await signIn(app), await signIn(app), await signIn(app)]
  const [one, two, three, four] = clients.map(({ sid }) => sid)
  const [bob] = clients
  if (!bob) throw new Error('nobody signed in')
  const use = (id: number | undefined, used: string | null, created: string) =>
    app.db.run('UPDATE sessions SET last_used_at = ?, created_at = ? WHERE id = ?', [used, created, id ?? 0])
  await use(one, '2026-03-01 11:00:00', '2026-02-01 00:00:00')
  await use(two, null, '2026-03-01T11:00:01.000Z')
  await use(three, '2026-03-01T10:59:59.999Z', '2026-03-01T11:59:00.000Z')
  await use(four, null, '2026-03-01 11:00:02')

  const answer = await list(app, bob)

  expect(answer).toMatchObject([
    { id: four, last_used_at: null, created_at: '2026-03-01 11:00:02' },
    { id: two, last_used_at: null },
    { id: one, last_used_at: '2026-03-01 11:00:00' },
    { id: three },
  ])
})

test.each([
  ['2026-03-01T12:00:00.001Z', true],
  ['2026-03-01 12:00:01', true],
  ['2026-03-01T12:00:00.000Z', false],
  ['2026-03-01 12:00:00', false],
  ['2026-02-28 23:59:59', false],
])('at noon a session that expires at %s is listed: %s', async (at, listed) => {
  const app = await start()
  const [bob, other] = [await signIn(app), await signIn(app)]
  await app.db.run('UPDATE sessions SET expires_at = ? WHERE id = ?', [at, other.sid])

  expect((await ids(app, bob)).includes(other.sid)).toBe(listed)
})

test('the list is empty without sessions', async () => {
  const app = await start()
  const bob = await signIn(app)
  await app.db.run('DELETE FROM sessions')

  expect(await list(app, bob)).toEqual([])
})
