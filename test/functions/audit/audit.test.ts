import { expect, test } from 'vitest'
import * as z from 'zod'
import { type AuditEntry, addAuditEntry } from '../../../db/audit.ts'
import audit from '../../../functions/audit/audit.get.ts'
import login from '../../../functions/auth/login.post.ts'
import { START, testApp } from '../../app.ts'
import { answered, refused } from '../answers.ts'

const PATH = '/api/audit'
const NOW = START.toISOString()
const Page = z.object({ entries: z.array(z.object({ id: z.number() })), next: z.number().nullable() })

const start = () => testApp([audit, login])
type App = Awaited<ReturnType<typeof start>>

const ENTRY: AuditEntry = {
  action: 'update_start',
  user_id: 1,
  username: 'bob',
  target: 'host',
  ip: '10.0.0.1',
  details: null,
}

/** Writes entries; their ids are 1, 2, 3 … */
async function write(app: App, ...entries: Partial<AuditEntry>[]) {
  for (const entry of entries) await addAuditEntry(app.db, { ...ENTRY, ...entry }, NOW)
}

const many = (count: number) => Array.from({ length: count }, (_, at) => ({ target: `lxc:${at + 1}` }))
const get = (app: App, query = '') => app.request('GET', PATH + query, { as: 'admin' })
const read = async (app: App, query = '') => answered(await get(app, query), 200)

async function page(app: App, query = '') {
  const { entries, next } = Page.parse(await read(app, query))
  return { ids: entries.map(({ id }) => id), next }
}

test('an empty log gives an empty page', async () => {
  const app = await start()

  expect(await read(app)).toEqual({ entries: [], next: null })
})

test('lists actor, action, target, time and address, newest first', async () => {
  const app = await start()
  await write(app, {}, { action: 'login_failed', user_id: null, target: null, details: '{"reason":"lost","n":1}' })
  await write(app, { action: 'keys_rotated', username: null, details: '{"revoke":true,"sessions":2,"note":null}' })

  expect(await read(app)).toEqual({
    entries: [
      {
        id: 3,
        at: NOW,
        action: 'keys_rotated',
        username: null,
        target: 'host',
        ip: '10.0.0.1',
        details: { revoke: true, sessions: 2, note: null },
      },
      {
        id: 2,
        at: NOW,
        action: 'login_failed',
        username: 'bob',
        target: null,
        ip: '10.0.0.1',
        details: { reason: 'lost', n: 1 },
      },
      { id: 1, at: NOW, action: 'update_start', username: 'bob', target: 'host', ip: '10.0.0.1', details: null },
    ],
    next: null,
  })
})

test('lists the entries that the service itself has written', async () => {
  const app = await start()
  await app.request('POST', '/api/auth/login', { body: { username: 'carol', password: 'x' }, from: '203.0.113.9' })

  expect(await read(app)).toMatchObject({
    entries: [{ action: 'login_success', username: 'carol', ip: '203.0.113.9', details: null }],
  })
})

test('a page has a hundred entries, and `next` returns the following ones', async () => {
  const app = await start()
  await write(app, ...many(150))

  const first = await page(app)
  expect(first).toEqual({ ids: Array.from({ length: 100 }, (_, at) => 150 - at), next: 51 })
  expect(await page(app, `?before=${first.next}`)).toEqual({
    ids: Array.from({ length: 50 }, (_, at) => 50 - at),
    next: null,
  })
})

test('paging returns every entry once while new entries arrive', async () => {
  const app = await start()
  await write(app, ...many(10))
  const seen: number[] = []

  let { ids, next } = await page(app, '?limit=3')
  seen.push(...ids)
  while (next !== null) {
    await write(app, {})
    ;({ ids, next } = await page(app, `?limit=3&before=${next}`))
    seen.push(...ids)
  }

  expect(seen).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('a page that is exactly full is the last one when nothing follows', async () => {
  const app = await start()
  await write(app, ...many(3))

  expect(await page(app, '?limit=3')).toEqual({ ids: [3, 2, 1], next: null })
  expect(await page(app, '?limit=2')).toEqual({ ids: [3, 2], next: 2 })
  expect(await page(app, '?limit=500')).toEqual({ ids: [3, 2, 1], next: null })
  expect(await page(app, '?before=1')).toEqual({ ids: [], next: null })
  expect(await page(app, '?before=9007199254740')).toEqual({ ids: [3, 2, 1], next: null })
})

test('the action filter and the user filter apply to every page', async () => {
  const app = await start()
  await write(
    app,
    { action: 'login_success', username: 'bob' },
    { action: 'logout', username: 'bob' },
    { action: 'login_success', username: 'Bob' },
    { action: 'login_success', username: 'bob' },
    { action: 'login_rate_limited', username: null },
    { action: 'login_success', username: 'alice' },
  )

  expect((await page(app, '?action=login_success')).ids).toEqual([6, 4, 3, 1])
  expect((await page(app, '?user=bob')).ids).toEqual([4, 2, 1])
  expect((await page(app, '?user=bob&action=login_success')).ids).toEqual([4, 1])
  expect(await page(app, '?user=bob&action=login_success&limit=1')).toEqual({ ids: [4], next: 4 })
  expect(await page(app, '?user=bob&action=login_success&limit=1&before=4')).toEqual({ ids: [1], next: null })
  expect((await page(app, '?user=nobody')).ids).toEqual([])
  expect((await page(app, '?action=session_revoked')).ids).toEqual([])
})

test('the target and the time filter every page, in any zone', async () => {
  const app = await start()
  for (const [hour, target] of [
    ['09', 'host'],
    ['10', 'lxc:101'],
    ['11', 'host'],
    ['12', 'lxc:1010'],
  ])
    await addAuditEntry(app.db, { ...ENTRY, target: target ?? null }, `2026-02-01T${hour}:00:00.000Z`)

  expect((await page(app, '?target=lxc:101')).ids).toEqual([2])
  expect(await page(app, '?target=host&limit=1')).toEqual({ ids: [3], next: 3 })
  expect((await page(app, '?from=2026-02-01T10:00:00Z')).ids).toEqual([4, 3, 2])
  expect((await page(app, '?until=2026-02-01T11:00:00.000Z')).ids).toEqual([2, 1])
  expect((await page(app, '?from=2026-02-01T11:00:00%2B01:00&until=2026-02-01T06:00:00-05:00')).ids).toEqual([2])
  expect((await page(app, '?from=2026-02-01T12:00:00Z&target=host')).ids).toEqual([])
  for (const query of ['?from=2026-02-30T00:00:00Z', '?until=2026-02-01', '?from=1', `?target=${'x'.repeat(257)}`])
    await refused(await get(app, query), 400, 'invalid_request')
})

test('the user filter matches the whole name, not a pattern', async () => {
  const app = await start()
  await write(app, { username: 'bob' }, { username: "o'brien" }, { username: 'éloïse' })

  for (const name of ['bo', '%', 'b_b', "' OR 1=1 --", '*'])
    expect((await page(app, `?user=${encodeURIComponent(name)}`)).ids).toEqual([])
  expect((await page(app, `?user=${encodeURIComponent("o'brien")}`)).ids).toEqual([2])
  expect((await page(app, `?user=${encodeURIComponent('éloïse')}`)).ids).toEqual([3])
})

test('a name or a target with a NUL character is returned in full', async () => {
  const app = await start()
  await write(app, { username: 'bob\0admin', target: 'lxc:\0' })

  expect(await read(app)).toMatchObject({ entries: [{ username: 'bob\0admin', target: 'lxc:\0' }] })
})

test.each([
  ['limit', '0'],
  ['limit', '501'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', 'abc'],
  ['limit', ''],
  ['limit', '1e2'],
  ['limit', '9'.repeat(30)],
  ['before', '0'],
  ['before', '-5'],
  ['before', 'x'],
  ['before', '9'.repeat(30)],
  ['action', 'coffee_made'],
  ['action', ''],
  ['user', 'x'.repeat(257)],
])('%s=%s is refused, and the answer names the field', async (field, value) => {
  const app = await start()
  await write(app, {})

  const { details } = await refused(await get(app, `?${field}=${value}`), 400, 'invalid_request')

  expect(details?.map((detail) => detail.field)).toEqual([field])
})

test('a user who is not an administrator gets nothing', async () => {
  const app = await start()
  await write(app, { username: 'alice' })

  const response = await app.request('GET', PATH, { as: 'user' })
  expect(await response.clone().text()).not.toContain('alice')
  await refused(response, 403, 'forbidden')
  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  await refused(await app.request('GET', `${PATH}?limit=0`, { as: 'user' }), 403, 'forbidden')
})

test('reading the audit log adds no entry', async () => {
  const app = await start()

  await read(app)
  await read(app)

  expect((await page(app)).ids).toEqual([])
})

test('a storage failure gives 500', async () => {
  const app = await start()
  await app.db.script('ALTER TABLE audit RENAME TO gone')

  await refused(await get(app), 500, 'storage_failed')
})
