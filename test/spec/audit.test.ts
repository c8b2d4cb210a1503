import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { addAuditEntry } from '../../db/audit.ts'
import { answered, refused, rows } from '../functions/answers.ts'
import { newAddress, RFC_3339, startPanel } from './client.ts'

const panel = await startPanel()
const admin = await panel.login('demo')
const user = await panel.login('guest')

const PATH = '/api/audit'
const Page = z.strictObject({
  entries: z.array(
    z.strictObject({
      id: z.int(),
      at: z.string().regex(RFC_3339),
      action: z.string(),
      username: z.string().nullable(),
      target: z.string().nullable(),
      ip: z.string(),
      details: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
  next: z.int().nullable(),
})

const ask = (query = '') => panel.send('GET', `${PATH}${query}`, { token: admin.token })

async function page(query: Record<string, string | number> = {}) {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  return Page.parse(await answered(await ask(`?${text}`), 200))
}

/** Returns every page, one after the other; `between` runs after each. */
async function walk(query: Record<string, string | number>, between: () => Promise<void> = async () => {}) {
  const ids: number[] = []
  const sizes: number[] = []
  for (let before: number | null | undefined; before !== null; ) {
    const { entries, next } = await page({ ...query, ...(before !== undefined && { before }) })
    ids.push(...entries.map(({ id }) => id))
    sizes.push(entries.length)
    before = next
    await between()
    if (sizes.length > 1000) throw new Error('the pages do not end')
  }
  return { ids, sizes }
}

/** Writes entries of a user with that name, like logins and logouts in turn; returns their ids, newest first. */
async function entriesOf(username: string, count: number): Promise<number[]> {
  for (let n = 0; n < count; n++) {
    const action = n % 2 === 0 ? 'login_success' : 'logout'
    const entry = { action, user_id: null, username, target: null, ip: '192.0.2.1', details: null }
    await addAuditEntry(panel.db, entry, new Date().toISOString())
  }
  const found = await panel.db.query(
    z.object({ id: z.number() }),
    'SELECT id FROM audit WHERE username = ? ORDER BY id DESC',
    [username],
  )
  return found.map(({ id }) => id)
}

const actionsOf = async (from: string) => (await panel.auditOf(from)).map(({ action }) => action)

// The Events table of the specification.

test('events, login_rate_limited: written by login when the address is over the limit, and not before', async () => {
  const from = newAddress()
  for (let n = 0; n < 5; n++) await panel.send('POST', '/api/auth/login', { from, body: '{' })
  expect(await actionsOf(from)).toEqual([])

  for (let n = 0; n < 3; n++) await panel.attempt('guest', 'guest', { from })

  const entries = await panel.auditOf(from)
  expect(entries.map(({ action }) => action)).toEqual(Array.from({ length: 3 }, () => 'login_rate_limited'))
  expect(entries[0]).toMatchObject({ at: expect.stringMatching(RFC_3339), target: null, user_id: null, ip: from })
})

test('events, login_rate_limited; login, rule 1: each attempt over the limit has its entry, even the tenth', async () => {
  const from = newAddress()

  for (let n = 0; n < 15; n++) await panel.send('POST', '/api/auth/login', { from, body: '{' })

  expect(await actionsOf(from)).toEqual(Array.from({ length: 10 }, () => 'login_rate_limited'))
})

test('events, login_failed: written by login on bad credentials, with the error text in its details', async () => {
  const from = newAddress()

  await refused(await panel.attempt('guest', 'not the password', { from }), 401, 'bad_credentials')

  const entries = await panel.auditOf(from)
  expect(entries).toEqual([
    {
      at: expect.stringMatching(RFC_3339),
      action: 'login_failed',
      user_id: null,
      username: 'guest',
      target: null,
      ip: from,
      details: expect.objectContaining({ error: expect.stringContaining('authentification refusée') }),
    },
  ])
})

test('events, login_failed: not written for other errors (400, 503)', async () => {
  const from = newAddress()

  await panel.send('POST', '/api/auth/login', { from, body: '{' })
  await panel.attempt('', '', { from })
  await panel.withSetting('ssh_host', '', () => panel.attempt('guest', 'guest', { from }))

  expect(await panel.auditOf(from)).toEqual([])
})

test('events, login_success: written by login, once', async () => {
  const from = newAddress()

  const { id } = await panel.login('guest', 'guest', { from })

  expect(await panel.auditOf(from)).toMatchObject([
    { at: expect.stringMatching(RFC_3339), action: 'login_success', user_id: id, username: 'guest' },
  ])
})

test('events, logout: written by logout when authenticated, and only then', async () => {
  const { token, cookie, id } = await panel.login('guest')
  const from = newAddress()

  await panel.send('POST', '/api/auth/logout', { from })
  await panel.send('POST', '/api/auth/logout', { from, cookie })
  await panel.send('POST', '/api/auth/logout', { from, cookie, token: 'rubbish' })
  expect(await panel.auditOf(from)).toEqual([])
  await panel.send('POST', '/api/auth/logout', { from, cookie, token })

  expect(await panel.auditOf(from)).toMatchObject([{ action: 'logout', user_id: id, username: 'guest' }])
})

test('events, session_revoked: written by session revoke, and its target is the id; not written for a 404 or a 401', async () => {
  const other = await panel.login('guest')
  const from = newAddress()
  const revoke = (id: number | string, token?: string) =>
    panel.send('DELETE', `/api/auth/sessions/${id}`, { from, ...(token !== undefined && { token }) })

  await revoke(admin.sid, user.token)
  await revoke('abc', user.token)
  await revoke(other.sid)
  expect(await panel.auditOf(from)).toEqual([])
  expect((await revoke(other.sid, user.token)).status).toBe(200)

  expect(await panel.auditOf(from)).toMatchObject([
    { action: 'session_revoked', target: String(other.sid), user_id: user.id, username: 'guest' },
  ])
})

test.each(['host', 'lxc:101', 'all', 'not a target'])(
  'events, update_start: written by update run with the target as sent (%s)',
  async (target) => {
    const from = newAddress()

    const response = await panel.send('POST', '/api/updates/run', { token: user.token, from, body: { target } })

    expect(response.status).toBe(202)
    expect(await panel.auditOf(from)).toMatchObject([
      { action: 'update_start', target, user_id: user.id, username: 'guest' },
    ])
  },
)

test('events, update_start: not written when nothing starts (400, 401, 503)', async () => {
  const from = newAddress()
  const run = (body: unknown, token = user.token) => panel.send('POST', '/api/updates/run', { token, from, body })

  const statuses = [
    (await run('{')).status,
    (await run({})).status,
    (await run({ target: 'host' }, 'rubbish')).status,
    (await panel.withSetting('ssh_username', '', () => run({ target: 'host' }))).status,
  ]

  expect(statuses).toEqual([400, 400, 401, 503])
  expect(await panel.auditOf(from)).toEqual([])
})

test('events: no entry holds a password, an access token or a refresh token', async () => {
  const { token, cookie } = await panel.login('guest')
  await panel.attempt('guest', 'a password that is wrong')
  await panel.send('POST', '/api/auth/logout', { token, cookie })

  const text = JSON.stringify(await rows(panel.db, 'SELECT * FROM audit'))

  for (const secret of ['a password that is wrong', token, cookie, panel.demo.service.password])
    expect(text).not.toContain(secret)
})

// GET /api/audit in the contract.

test('audit, contract: only for administrators; 403 for a user and 401 without a token', async () => {
  await refused(await panel.send('GET', PATH), 401, 'unauthenticated')
  await refused(await panel.send('GET', PATH, { token: user.token }), 403, 'forbidden')
  await refused(await panel.send('GET', `${PATH}?limit=0`, { token: user.token }), 403, 'forbidden')
})

test('audit, contract: an entry is {id, at, action, username, target, ip, details}', async () => {
  const from = newAddress()
  await panel.attempt('somebody-new', 'x', { from })

  const { entries } = await page({ user: 'somebody-new' })

  expect(entries).toEqual([
    {
      id: expect.any(Number),
      at: expect.stringMatching(RFC_3339),
      action: 'login_failed',
      username: 'somebody-new',
      target: null,
      ip: from,
      details: expect.objectContaining({ error: expect.any(String) }),
    },
  ])
})

test('audit, contract: newest first', async () => {
  const from = newAddress()
  await panel.attempt('somebody-else', 'x', { from })

  const { entries } = await page({ limit: 500 })

  expect(entries[0]).toMatchObject({ action: 'login_failed', username: 'somebody-else', ip: from })
  const ids = entries.map(({ id }) => id)
  expect(ids).toEqual([...ids].sort((a, b) => b - a))
  expect(ids.length).toBeGreaterThan(5)
})

test.each([
  [1, 5],
  [3, 10],
  [5, 10],
  [7, 10],
  [10, 10],
  [11, 10],
])('audit, contract: pages of %i by before and next hold each of %i entries once, in order', async (limit, count) => {
  const username = panel.freshName()
  const ids = await entriesOf(username, count)
  expect(ids).toHaveLength(count)

  const walked = await walk({ user: username, limit })

  expect(walked.ids).toEqual(ids)
  expect(Math.max(...walked.sizes)).toBeLessThanOrEqual(limit)
})

test('audit, contract: new entries move no page: no gap and no repeat', async () => {
  const username = panel.freshName()
  const ids = await entriesOf(username, 12)

  const walked = await walk({ user: username, limit: 5 }, async () => {
    await entriesOf(username, 3)
  })

  expect(walked.ids).toEqual(ids)
})

test('audit, contract: without a filter the pages hold the whole log', async () => {
  const all = z.array(z.object({ id: z.number() })).parse(await rows(panel.db, 'SELECT id FROM audit ORDER BY id DESC'))

  expect((await walk({ limit: 20 })).ids).toEqual(all.map(({ id }) => id))
})

test('audit, contract: the filter action gives only the entries of that action, page by page', async () => {
  const found = await rows(panel.db, `SELECT id FROM audit WHERE action = 'login_success' ORDER BY id DESC`)
  const ids = z.array(z.object({ id: z.number() })).parse(found)

  expect((await page({ action: 'login_success' })).entries.every(({ action }) => action === 'login_success')).toBe(true)
  expect((await walk({ action: 'login_success', limit: 6 })).ids).toEqual(ids.map(({ id }) => id))
})

test('audit, contract: the filters action and user together give the entries that match both', async () => {
  const username = panel.freshName()
  await entriesOf(username, 9)

  const { entries, next } = await page({ action: 'logout', user: username })

  expect(entries.map(({ action, username: of }) => [action, of])).toEqual(
    Array.from({ length: 4 }, () => ['logout', username]),
  )
  expect(next).toBeNull()
})

test('audit, contract: the filter user is the whole name, and a name without entries gives none', async () => {
  const username = panel.freshName()
  await entriesOf(username, 1)

  for (const name of ['user', `${username}x`, '%', `${username}' OR '1'='1`])
    expect(await page({ user: name })).toEqual({ entries: [], next: null })
})

test('audit, contract: the page before the first entry is empty', async () => {
  const [{ id } = { id: 0 }] = z
    .array(z.object({ id: z.number() }))
    .parse(await rows(panel.db, 'SELECT min(id) AS id FROM audit'))

  expect(await page({ before: id })).toEqual({ entries: [], next: null })
})

test('audit, contract: without a limit a page is bounded all the same', async () => {
  const username = panel.freshName()
  await panel.db.run(
    `INSERT INTO audit (at, action, username, ip)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
     SELECT '2026-01-01T00:00:00.000Z', 'logout', ?, '192.0.2.1' FROM n`,
    [username],
  )

  const { entries, next } = await page({ user: username })

  expect(entries.length).toBeLessThan(1200)
  expect(next).toBe(entries.at(-1)?.id)
})

test.each([
  ['limit', '0'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', 'ten'],
  ['limit', ''],
  ['limit', '1000000'],
  ['before', '-1'],
  ['before', '1.5'],
  ['before', 'x'],
  ['action', 'no_such_action'],
])('audit, contract: %s=%s is refused with 400, and the answer names the parameter', async (name, value) => {
  const { details } = await refused(await ask(`?${name}=${value}`), 400, 'invalid_request')

  expect(details?.map(({ field }) => field)).toEqual([name])
})

test('audit: the log is append-only: the database itself refuses to change or delete an entry', async () => {
  const before = await rows(panel.db, 'SELECT * FROM audit ORDER BY id')

  await expect(panel.db.run(`UPDATE audit SET username = 'x'`)).rejects.toThrow(/append-only/)
  await expect(panel.db.run('DELETE FROM audit')).rejects.toThrow(/append-only/)

  expect(await rows(panel.db, 'SELECT * FROM audit ORDER BY id')).toEqual(before)
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('audit, contract: %s is 405, and GET is allowed', async (method) => {
  const response = await panel.send(method, PATH, { token: admin.token })

  expect(response.headers.get('allow')).toBe('GET')
  await refused(response, 405, 'method_not_allowed')
})

test('audit, contract: reading the log writes nothing into it', async () => {
  const before = await rows(panel.db, 'SELECT count(*) AS n FROM audit')

  await page()
  await ask('?limit=x')

  expect(await rows(panel.db, 'SELECT count(*) AS n FROM audit')).toEqual(before)
})

test('audit, contract: a database that does not answer gives 500', async () => {
  await panel.without('audit', async () => refused(await ask(), 500, 'storage_failed'))
})

test('audit: entries survive the deletion of their user and sessions', async () => {
  const { username, token } = await panel.login(panel.freshName())
  await panel.send('POST', '/api/auth/logout', { token })
  await panel.db.run('DELETE FROM users WHERE username = ?', [username])

  expect((await page({ user: username })).entries.map(({ action }) => action)).toEqual(['logout', 'login_success'])
})

test('audit: entries survive a restart', async () => {
  const ids = await entriesOf(panel.freshName(), 1)
  const again = await startPanel({ beside: panel }, onTestFinished)

  const { entries } = Page.parse(await answered(await again.send('GET', PATH, { token: admin.token }), 200))

  expect(entries.map(({ id }) => id)).toContain(ids[0])
})
