import { expect, test } from 'vitest'
import * as z from 'zod'
import { addAuditEntry, type AuditEntry, readAudit } from '../../db/audit.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { NOW, openMigrated } from './database.ts'

const ENTRY: AuditEntry = {
  action: 'logout',
  user_id: 7,
  username: 'bob',
  target: null,
  ip: '10.0.0.1',
  details: null,
}

async function log(...entries: Partial<AuditEntry>[]): Promise<Database> {
  const db = await openMigrated()
  for (const entry of entries) await addAuditEntry(db, { ...ENTRY, ...entry }, NOW)
  return db
}

const everything = (db: Database) => db.query(z.unknown(), 'SELECT * FROM audit ORDER BY id')
const ids = async (db: Database, wanted: Parameters<typeof readAudit>[1]) =>
  (await readAudit(db, wanted)).map(({ id }) => id)

test('an entry is read as it was written', async () => {
  const db = await log({ target: 'lxc:101', details: '{"a":1}' })

  expect(await everything(db)).toEqual([{ ...ENTRY, id: 1, at: NOW, target: 'lxc:101', details: '{"a":1}' }])
  expect(await readAudit(db, { limit: 10 })).toEqual([
    {
      id: 1,
      at: NOW,
      action: 'logout',
      username: 'bob',
      target: 'lxc:101',
      ip: '10.0.0.1',
      details: '{"a":1}',
    },
  ])
})

test('an entry without a user and a target is read as it was written', async () => {
  const db = await log({ user_id: null, username: null })

  expect(await readAudit(db, { limit: 10 })).toMatchObject([{ username: null, target: null, details: null }])
})

test('a text with a NUL character is read completely', async () => {
  const db = await log({ username: 'bob\0x', target: '\0' })

  expect(await readAudit(db, { limit: 10 })).toMatchObject([{ username: 'bob\0x', target: '\0' }])
})

test('the newest entries come first, at most the limit, below an id', async () => {
  const db = await log({}, {}, {}, {}, {})

  expect(await ids(db, { limit: 10 })).toEqual([5, 4, 3, 2, 1])
  expect(await ids(db, { limit: 2 })).toEqual([5, 4])
  expect(await ids(db, { limit: 2, before: 4 })).toEqual([3, 2])
  expect(await ids(db, { limit: 2, before: 1 })).toEqual([])
  expect(await ids(db, { limit: 0 })).toEqual([])
})

test('entries are ordered by their writing and not by the clock', async () => {
  const db = await log({})
  await addAuditEntry(db, ENTRY, '2020-01-01 00:00:00')

  expect(await readAudit(db, { limit: 10 })).toMatchObject([
    { id: 2, at: '2020-01-01 00:00:00' },
    { id: 1, at: NOW },
  ])
})

test('entries can be filtered by action, by user, or by both, below an id', async () => {
  const db = await log(
    {},
    { username: 'alice' },
    { action: 'login_success' },
    { username: null },
    { username: 'Bob' },
    {},
  )

  expect(await ids(db, { limit: 10, action: 'logout' })).toEqual([6, 5, 4, 2, 1])
  expect(await ids(db, { limit: 10, user: 'bob' })).toEqual([6, 3, 1])
  expect(await ids(db, { limit: 10, user: 'bob', action: 'logout' })).toEqual([6, 1])
  expect(await ids(db, { limit: 1, user: 'bob', action: 'logout', before: 6 })).toEqual([1])
  expect(await ids(db, { limit: 10, user: 'bo%' })).toEqual([])
  expect(await ids(db, { limit: 10, user: "' OR 1 --" })).toEqual([])
})

test.each([
  ['changed', `UPDATE audit SET username = 'nobody'`],
  ['changed in part', 'UPDATE audit SET details = NULL WHERE id = 1'],
  ['removed', 'DELETE FROM audit'],
  ['removed singly', 'DELETE FROM audit WHERE id = 1'],
  ['replaced by another', 'UPDATE OR REPLACE audit SET id = 2 WHERE id = 1'],
  ['replaced by a new one', `REPLACE INTO audit (id, at, action, ip) VALUES (1, '', 'logout', '')`],
])('an entry cannot be %s', async (_, sql) => {
  const db = await log({ details: '{}' }, {})
  const before = await everything(db)

  const error = await db.run(sql).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(StorageError)
  expect(error).toMatchObject({ message: expect.stringContaining('append-only') })
  expect(await everything(db)).toEqual(before)
  await addAuditEntry(db, ENTRY, NOW)
  expect(await everything(db)).toHaveLength(3)
})

test('a refused change rolls its whole transaction back', async () => {
  const db = await log({})

  await expect(
    db.batch([{ sql: `INSERT INTO settings VALUES ('a', 'b', '')` }, { sql: 'DELETE FROM audit' }]),
  ).rejects.toThrow(/append-only/)

  expect(await db.query(z.unknown(), 'SELECT * FROM settings')).toEqual([])
})

test('an entry stays after its user is removed', async () => {
  const db = await log({})
  await db.run(`INSERT INTO users (id, username, created_at) VALUES (7, 'bob', '')`)

  await db.run('DELETE FROM users')

  expect(await readAudit(db, { limit: 10 })).toMatchObject([{ username: 'bob' }])
})

test('a page of one action or one user uses an index', async () => {
  const db = await log()
  const plan = async (condition: string) =>
    JSON.stringify(
      await db.query(z.unknown(), `EXPLAIN QUERY PLAN SELECT * FROM audit WHERE ${condition} ORDER BY id DESC LIMIT 9`),
    )

  expect(await plan(`action = 'logout'`)).toContain('audit_by_action')
  expect(await plan(`username = 'bob'`)).toContain('audit_by_user')
  for (const condition of [`action = 'logout'`, `username = 'bob'`, 'id < 9'])
    expect(await plan(condition)).not.toContain('TEMP B-TREE')
})
