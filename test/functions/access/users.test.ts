import { expect, test } from 'vitest'
import * as z from 'zod'
import { addSession } from '../../../db/sessions.ts'
import { saveUser } from '../../../db/users.ts'
import bar from '../../../functions/access/bar.put.ts'
import unbar from '../../../functions/access/bar.delete.ts'
import endOne from '../../../functions/access/session.delete.ts'
import endAll from '../../../functions/access/sessions.delete.ts'
import sessions from '../../../functions/access/sessions.get.ts'
import users from '../../../functions/access/users.get.ts'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { type Client, meStatus, refreshStatus, signIn, storedSessions } from '../auth/client.ts'

const NOW = START.toISOString()
const FUNCTIONS = [users, sessions, endAll, endOne, bar, unbar, login, refresh, me]
const ADMIN = { uid: 1001, groups: ['alice', 'sudo'] }
const Listed = z.object({
  users: z.array(z.looseObject({ id: z.number(), username: z.string() })),
  next: z.string().nullable(),
})

/** An administrator, Alice, and Bob, who has two sessions. */
async function start(env: Record<string, string> = {}) {
  const app = await testApp(FUNCTIONS, {
    env,
    fake: {
      signIn: (name) => (name === 'alice' ? ADMIN : { uid: 1002, groups: [name] }),
      inspect: (name) => (name === 'alice' ? ADMIN : { uid: 1002, groups: [name] }),
    },
  })
  const alice = await signIn(app, 'alice')
  const bob = await signIn(app, 'bob')
  const phone = await signIn(app, 'bob')
  const ask = (method: string, path: string, as: Client = alice) =>
    app.request(method, `/api/auth/users${path}`, { headers: as.headers({ cookie: false }) })
  return {
    ...app,
    alice,
    bob,
    phone,
    ask,
    type: (...words: string[]) => typeCommand({ ...app.services, secrets: app.secrets }, words),
    entries: async () =>
      (await audited(app.db)).filter(({ action }) => !['login_success', 'access_refused'].includes(action)),
  }
}

const code = async (response: Response) => z.object({ code: z.string() }).parse(await response.json()).code

test('the list tells everybody’s role, sessions, factors and tokens, and not the service itself', async () => {
  const app = await start({ PANEL_OPERATOR_GROUPS: 'bob:lxc/101' })
  const { userId } = app.bob
  const other = await saveUser(app.db, 'carol', false, NOW, { kept_out: false, own_word: 'user', operates: null })
  await app.db.run(
    `INSERT INTO factors (user_id, kind, name, secret_sealed, created_at) VALUES (?, 'totp', 'phone', 'sealed', ?)`,
    [userId, NOW],
  )
  await app.db.run(
    `INSERT INTO recovery_codes (user_id, hash, used_at) VALUES (?1, 'a', NULL), (?1, 'b', NULL), (?1, 'c', ?2)`,
    [userId, NOW],
  )
  const token = `INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at, expires_at)
    VALUES (?1, 'ci', ?2, 'viewer', '"all"', ?3, ?4)`
  await app.db.run(token, [userId, 'h1', NOW, null])
  await app.db.run(token, [userId, 'h2', NOW, '2026-02-01T12:00:00.000Z'])
  await addSession(
    app.db,
    { user_id: userId, token_hash: 'old', expires_at: NOW, user_agent: '', ip: '', proven_by: 'password' },
    NOW,
  )

  const list = Listed.parse(await answered(await app.ask('GET', ''), 200))

  expect(list.next).toBe(null)
  expect(list.users).toEqual([
    {
      id: app.alice.userId,
      username: 'alice',
      role: 'admin',
      operates: 'all',
      last_login_at: NOW,
      rights_at: NOW,
      sessions: 1,
      tokens: 0,
      factors: { totp: 0, passkeys: 0, recovery_codes: 0 },
      barred_at: null,
      barred_by: null,
    },
    {
      id: userId,
      username: 'bob',
      role: 'operator',
      operates: ['lxc:101'],
      last_login_at: NOW,
      rights_at: NOW,
      sessions: 2,
      tokens: 1,
      factors: { totp: 1, passkeys: 0, recovery_codes: 2 },
      barred_at: null,
      barred_by: null,
    },
    expect.objectContaining({ id: other.id, username: 'carol', role: 'viewer', operates: [], sessions: 0 }),
  ])
})

test('the list comes by pages of a hundred, each with the name after which the next one begins', async () => {
  const app = await start()
  for (let n = 0; n < 250; n += 1)
    await app.db.run(`INSERT INTO users (username, is_admin, created_at) VALUES (?, 0, ?)`, [`user${1000 + n}`, NOW])
  const everybody = ['alice', 'bob', ...Array.from({ length: 250 }, (_, n) => `user${1000 + n}`)]
  const pageOf = async (query: string) => {
    const { users, next } = Listed.parse(await answered(await app.ask('GET', query), 200))
    return { names: users.map(({ username }) => username), next }
  }

  const first = await pageOf('')
  const second = await pageOf(`?after=${first.next}`)
  const third = await pageOf(`?after=${second.next}`)

  expect([first, second, third]).toEqual([
    { names: everybody.slice(0, 100), next: everybody[99] },
    { names: everybody.slice(100, 200), next: everybody[199] },
    { names: everybody.slice(200), next: null },
  ])
  expect(await pageOf('?limit=252')).toEqual({ names: everybody, next: null })
  expect(await pageOf('?limit=1&after=alicf')).toEqual({ names: ['bob'], next: 'bob' })
  for (const query of ['?limit=0', '?limit=501', '?limit=all', '?limit='])
    await refused(await app.ask('GET', query), 400, 'invalid_request')
})

test('the sessions of an account tell device, address and last proof, and no token', async () => {
  const app = await start()

  const list = await answered(await app.ask('GET', `/${app.bob.userId}/sessions`), 200)

  expect(list).toHaveLength(2)
  expect(list).toContainEqual(
    expect.objectContaining({ id: app.bob.sid, proven_at: NOW, proven_by: 'password', last_used_at: NOW }),
  )
  expect(JSON.stringify(list)).not.toContain('hash')
})

test('an administrator ends one session of another user: its token and its cookie are refused at once', async () => {
  const app = await start()

  await answered(await app.ask('DELETE', `/${app.bob.userId}/sessions/${app.bob.sid}`), 200)

  expect([await meStatus(app, app.bob), await refreshStatus(app, app.bob)]).toEqual([401, 401])
  expect([await meStatus(app, app.phone), await meStatus(app, app.alice)]).toEqual([200, 200])
  expect(await app.entries()).toMatchObject([
    { action: 'session_revoked', username: 'alice', target: String(app.bob.sid), details: { user: 'bob' } },
  ])
})

test('a session is ended only under its own account', async () => {
  const app = await start()

  await refused(await app.ask('DELETE', `/${app.alice.userId}/sessions/${app.bob.sid}`), 404, 'session_missing')
  await refused(await app.ask('DELETE', `/${app.bob.userId}/sessions/4711`), 404, 'session_missing')
  await refused(await app.ask('DELETE', `/${app.bob.userId}/sessions/x`), 404, 'session_missing')

  expect(await storedSessions(app)).toEqual([app.alice.sid, app.bob.sid, app.phone.sid])
})

test('an administrator ends all sessions of another user, and only those', async () => {
  const app = await start()

  expect(await answered(await app.ask('DELETE', `/${app.bob.userId}/sessions`), 200)).toMatchObject({ ended: 2 })

  expect(await storedSessions(app)).toEqual([app.alice.sid])
  expect([await meStatus(app, app.bob), await meStatus(app, app.phone)]).toEqual([401, 401])
  expect(await app.entries()).toMatchObject([{ action: 'sessions_ended', target: 'bob', details: { sessions: 2 } }])
  await signIn(app)
})

test('barring ends every session at once and refuses sign-in and refresh until the bar is lifted', async () => {
  const app = await start()

  await answered(await app.ask('PUT', `/${app.bob.userId}/bar`), 200)

  expect(await storedSessions(app)).toEqual([app.alice.sid])
  expect([await meStatus(app, app.bob), await refreshStatus(app, app.phone)]).toEqual([401, 401])
  const body = { username: 'bob', password: 'right horse' }
  await refused(await app.request('POST', '/api/auth/login', { body, from: '192.0.2.9' }), 403, 'account_barred')
  const list = Listed.parse(await answered(await app.ask('GET', ''), 200))
  expect(list.users.find(({ username }) => username === 'bob')).toMatchObject({ barred_at: NOW, barred_by: 'alice' })

  await answered(await app.ask('DELETE', `/${app.bob.userId}/bar`), 200)
  await answered(await app.ask('DELETE', `/${app.bob.userId}/bar`), 200)

  await signIn(app)
  expect((await app.entries()).map(({ action, target, details }) => [action, target, details])).toEqual([
    ['account_barred', 'bob', { sessions: 2 }],
    ['login_failed', null, { reason: 'barred' }],
    ['account_unbarred', 'bob', null],
  ])
})

test('a session that a sign-in under way would open after the bar is refused', async () => {
  const app = await start()
  await answered(await app.ask('PUT', `/${app.bob.userId}/bar`), 200)

  const late = { user_id: app.bob.userId, token_hash: 'late', expires_at: '2026-04-01T00:00:00.000Z' }
  const stored = addSession(app.db, { ...late, user_agent: '', ip: '', proven_by: 'password' }, NOW)

  await expect(stored).rejects.toThrow(/barred/)
  expect(await storedSessions(app)).toEqual([app.alice.sid])
})

test('barring twice is one entry, and keeps the first name and time', async () => {
  const app = await start()
  await answered(await app.ask('PUT', `/${app.bob.userId}/bar`), 200)
  app.advance(60_000)
  await answered(await app.ask('PUT', `/${app.bob.userId}/bar`), 200)

  expect((await app.entries()).map(({ action }) => action)).toEqual(['account_barred'])
  expect(await rows(app.db, `SELECT barred_at FROM users WHERE username = 'bob'`)).toEqual([{ barred_at: NOW }])
})

test('nobody bars their own account, the service itself or an unknown account', async () => {
  const app = await start()

  await refused(await app.ask('PUT', `/${app.alice.userId}/bar`), 409, 'bar_self')
  for (const id of ['0', '4711', '-1', '1e1', 'x', '9007199254740993', '%00'])
    await refused(await app.ask('PUT', `/${id}/bar`), 404, 'account_unknown')

  expect(await rows(app.db, 'SELECT id FROM users WHERE barred_at IS NOT NULL')).toEqual([])
  expect(await app.entries()).toEqual([])
})

test.each([
  ['GET', ''],
  ['GET', '/1/sessions'],
  ['DELETE', '/1/sessions'],
  ['DELETE', '/1/sessions/1'],
  ['PUT', '/1/bar'],
  ['DELETE', '/1/bar'],
])('%s /api/auth/users%s is for administrators', async (method, path) => {
  const app = await start()

  await refused(await app.ask(method, path, app.bob), 403, 'forbidden')

  expect(await storedSessions(app)).toHaveLength(3)
})

test('every change needs a recent proof, and reading does not', async () => {
  const app = await start()
  app.advance(14 * 60_000)
  await refreshStatus(app, app.alice)
  const { access_token } = z
    .object({ access_token: z.string() })
    .parse(
      await answered(
        await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${app.alice.refresh}` } }),
        200,
      ),
    )
  app.advance(60_001)
  const ask = (method: string, path: string) =>
    app.request(method, `/api/auth/users/${app.bob.userId}${path}`, {
      headers: { authorization: `Bearer ${access_token}` },
    })

  for (const [method, path] of [
    ['DELETE', '/sessions'],
    ['DELETE', `/sessions/${app.bob.sid}`],
    ['PUT', '/bar'],
    ['DELETE', '/bar'],
  ] as const)
    expect(await code(await ask(method, path))).toBe('step_up_required')

  expect((await ask('GET', '/sessions')).status).toBe(200)
  expect(await storedSessions(app)).toHaveLength(3)
})

test('a bar or an end that cannot be put in the audit log does not happen', async () => {
  const app = await start()
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)

  for (const [method, path] of [
    ['PUT', '/bar'],
    ['DELETE', '/sessions'],
    ['DELETE', `/sessions/${app.bob.sid}`],
  ] as const)
    await refused(await app.ask(method, `/${app.bob.userId}${path}`), 500, 'storage_failed')

  expect(await storedSessions(app)).toHaveLength(3)
  expect(await rows(app.db, 'SELECT id FROM users WHERE barred_at IS NOT NULL')).toEqual([])
  await expect(app.type('users', 'bar', 'bob')).rejects.toThrow()
  expect(await storedSessions(app)).toHaveLength(3)
})

test('the console bars and unbars every account, the last administrator’s too', async () => {
  const app = await start()

  const barred = await app.type('users', 'bar', 'alice')
  expect(barred.text).toContain('sessions terminées : 1')
  expect((await app.type('users')).text).toMatch(/alice +admin .*exclu le \S+ par operator/)
  await app.services.sessions.refresh()
  expect([await meStatus(app, app.alice), await refreshStatus(app, app.alice)]).toEqual([401, 401])

  expect((await app.type('users', 'unbar', 'alice')).text).toBe('alice est de nouveau admis.')
  expect((await app.type('users', 'unbar', 'alice')).text).toBe('alice n’était pas exclu.')
  await signIn(app, 'alice')
  await expect(app.type('users', 'bar', 'nobody')).rejects.toThrow(/jamais connecté/)

  expect((await app.entries()).map(({ action, username, ip, target }) => [action, username, ip, target])).toEqual([
    ['account_barred', 'operator', 'console', 'alice'],
    ['account_unbarred', 'operator', 'console', 'alice'],
  ])
})
