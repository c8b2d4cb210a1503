import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { checkChain, FIRST_HASH, type Link, linkEntries, newestLink } from '../../../db/access/audit-chain.ts'
import { addAuditEntry, type AuditEntry } from '../../../db/audit.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { NOW, openMigrated } from '../database.ts'
import { temporaryFolder } from '../folder.ts'
import { startLibsqlServer } from '../../libsql-server.ts'

const ENTRY: AuditEntry = { action: 'logout', user_id: 7, username: 'bob', target: null, ip: '10.0.0.1', details: null }
/** Later than every entry of these tests. */
const LATER = '2099-01-01T00:00:00.000Z'

async function log(count: number, db?: Database): Promise<Database> {
  const opened = db ?? (await openMigrated())
  for (let n = 1; n <= count; n++) await addAuditEntry(opened, { ...ENTRY, details: JSON.stringify({ n }) }, NOW)
  return opened
}

async function linked(count: number): Promise<Database> {
  const db = await log(count)
  await linkEntries(db, 1_000, LATER)
  return db
}

/** Changes the file of the database, whose owner can drop the triggers first. */
async function tamper(db: Database, sql: string): Promise<void> {
  const triggers = await db.query(
    z.object({ name: z.string() }),
    `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('audit', 'audit_links')`,
  )
  for (const { name } of triggers) await db.run(`DROP TRIGGER ${name}`)
  await db.script(sql)
}

const check = (db: Database, noted?: Link) => checkChain(db.query, noted)
const links = (db: Database) =>
  db.query(z.object({ audit_id: z.number(), hash: z.string() }), 'SELECT * FROM audit_links')

test('the link of an entry is the hash of the link before and of the entry, as documented', async () => {
  const db = await openMigrated()
  await addAuditEntry(db, { ...ENTRY, target: 'lxc:101', details: '{"é":"\\u0000"}' }, NOW)
  await addAuditEntry(db, { ...ENTRY, user_id: null, username: 'a\0b' }, NOW)

  expect(await linkEntries(db, 10, LATER)).toBe(2)

  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const first = hash(
    `${FIRST_HASH}\n[1,"${NOW}","logout",7,"bob","lxc:101","10.0.0.1",${JSON.stringify('{"é":"\\u0000"}')}]`,
  )
  const second = hash(`${first}\n[2,"${NOW}","logout",null,{"hex":"610062"},null,"10.0.0.1",null]`)
  expect(await links(db)).toEqual([
    { audit_id: 1, hash: first },
    { audit_id: 2, hash: second },
  ])
  expect(await newestLink(db)).toEqual({ id: 2, hash: second })
})

test('a whole log is sound; entries without a link are counted', async () => {
  const db = await linked(5)
  const newest = await newestLink(db)
  await log(2, db)

  expect(await check(db)).toEqual({
    entries: 7,
    linked: 5,
    newest,
    unlinked: 2,
    unlinkedSince: NOW,
    until: NOW,
    fault: undefined,
  })
  expect(await check(await openMigrated())).toMatchObject({
    entries: 0,
    linked: 0,
    newest: undefined,
    fault: undefined,
  })
})

test('a long log is linked in steps, and checked in pages', async () => {
  const db = await openMigrated()
  await db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
     INSERT INTO audit (at, action, ip) SELECT ?, 'logout', i FROM n`,
    [NOW],
  )

  const steps = [await linkEntries(db, 1_000, LATER), await linkEntries(db, 1_000, LATER)]
  expect(await check(db)).toMatchObject({ linked: 2_000, unlinked: 500, fault: undefined })
  steps.push(await linkEntries(db, 1_000, LATER), await linkEntries(db, 1_000, LATER))

  expect(steps).toEqual([1_000, 1_000, 500, 0])
  expect(await check(db)).toMatchObject({ entries: 2_500, linked: 2_500, unlinked: 0, fault: undefined })
})

test.each([
  ['changed', `UPDATE audit SET username = 'eve' WHERE id = 3`, 3, 'changed'],
  ['changed in its time', `UPDATE audit SET at = '2026-03-01T12:00:00.001Z' WHERE id = 3`, 3, 'changed'],
  ['made anonymous', 'UPDATE audit SET user_id = NULL WHERE id = 1', 1, 'changed'],
  ['changed from nothing to an empty text', `UPDATE audit SET target = '' WHERE id = 2`, 2, 'changed'],
  ['changed from a text to bytes', `UPDATE audit SET username = CAST('bob' AS BLOB) WHERE id = 2`, 2, 'changed'],
  ['removed', 'DELETE FROM audit WHERE id = 3', 3, 'entry_missing'],
  [
    'removed with its link',
    'DELETE FROM audit WHERE id = 3; DELETE FROM audit_links WHERE audit_id = 3',
    3,
    'entry_missing',
  ],
  [
    'removed, and the later ones moved up',
    `DELETE FROM audit WHERE id = 3; UPDATE audit SET id = 3 WHERE id = 4;
    UPDATE audit SET id = 4 WHERE id = 5`,
    3,
    'changed',
  ],
  ['the first, and removed', 'DELETE FROM audit WHERE id = 1', 1, 'entry_missing'],
  ['the last, and removed', 'DELETE FROM audit WHERE id = 5', 5, 'entry_missing'],
  [
    'cut off with its link',
    'DELETE FROM audit WHERE id = 5; DELETE FROM audit_links WHERE audit_id = 5',
    5,
    'entry_missing',
  ],
  ['inserted before the first', `INSERT INTO audit (id, at, action, ip) VALUES (0, '', 'logout', '')`, 0, 'added'],
  [
    'inserted',
    `UPDATE audit SET id = -id WHERE id > 2; INSERT INTO audit (id, at, action, ip) VALUES (3, '', 'logout', '');
    UPDATE audit SET id = 1 - id WHERE id < 0`,
    3,
    'changed',
  ],
  [
    'swapped with another',
    `UPDATE audit SET id = 99 WHERE id = 2; UPDATE audit SET id = 2 WHERE id = 4;
    UPDATE audit SET id = 4 WHERE id = 99`,
    2,
    'changed',
  ],
  ['robbed of its link', 'DELETE FROM audit_links WHERE audit_id = 3', 3, 'link_missing'],
  ['given another link', `UPDATE audit_links SET hash = '${'f'.repeat(64)}' WHERE audit_id = 3`, 3, 'changed'],
])('an entry that was %s is found', async (_, sql, id, fault) => {
  const db = await linked(5)

  await tamper(db, sql)

  expect((await check(db)).fault).toEqual({ id, fault })
})

test('a tail that was cut off without a trace is found by a link that was noted before', async () => {
  const db = await linked(5)
  const noted = await newestLink(db)
  const cut = 'DELETE FROM audit WHERE id > 3; DELETE FROM audit_links WHERE audit_id > 3'
  await tamper(db, `${cut}; UPDATE sqlite_sequence SET seq = 3 WHERE name = 'audit'`)

  expect((await check(db)).fault).toBeUndefined()
  expect((await check(db, noted)).fault).toEqual({ id: 5, fault: 'noted_missing' })
})

test('a chain that was made anew is found by a link that was noted before', async () => {
  const db = await linked(5)
  const noted = await newestLink(db)
  await tamper(db, `UPDATE audit SET username = 'eve' WHERE id = 2; DELETE FROM audit_links`)
  await linkEntries(db, 10, LATER)

  expect(await check(db)).toMatchObject({ linked: 5, fault: undefined })
  expect((await check(db, noted)).fault).toEqual({ id: 5, fault: 'noted_differs' })
})

test('a link that was noted long ago still counts', async () => {
  const db = await linked(5)
  const noted = await newestLink(db)
  await log(3, db)
  await linkEntries(db, 10, LATER)

  expect((await check(db, noted)).fault).toBeUndefined()
  expect((await check(db, { id: 4, hash: noted?.hash ?? '' })).fault).toEqual({ id: 4, fault: 'noted_differs' })
})

test('no link passes a missing id before the transactions of that time have ended', async () => {
  const db = await linked(2)
  await tamper(db, `INSERT INTO audit (id, at, action, ip) VALUES (4, '${NOW}', 'logout', '')`)

  expect(await linkEntries(db, 10, NOW)).toBe(0)
  await tamper(db, `INSERT INTO audit (id, at, action, ip) VALUES (3, '${NOW}', 'logout', '')`)
  expect(await linkEntries(db, 10, NOW)).toBe(2)

  await tamper(db, `INSERT INTO audit (id, at, action, ip) VALUES (6, '${NOW}', 'logout', '')`)
  expect(await linkEntries(db, 10, LATER)).toBe(1)
  expect((await check(db)).fault).toEqual({ id: 5, fault: 'entry_missing' })
})

test('a rolled back transaction leaves no gap in the ids', async () => {
  const db = await log(2)
  const entry = { sql: `INSERT INTO audit (at, action, ip) VALUES ('', 'logout', '')` }

  await expect(db.batch([entry, entry, { sql: 'DELETE FROM audit' }])).rejects.toThrow(/append-only/)
  await log(1, db)
  await linkEntries(db, 10, LATER)

  expect(await check(db)).toMatchObject({ linked: 3, fault: undefined })
})

test('links can be neither changed, replaced nor removed', async () => {
  const db = await linked(2)
  const before = await links(db)

  for (const sql of [
    `UPDATE audit_links SET hash = ''`,
    'DELETE FROM audit_links WHERE audit_id = 2',
    `REPLACE INTO audit_links VALUES (2, '')`,
  ])
    await expect(db.run(sql)).rejects.toThrow(/append-only/)

  expect(await links(db)).toEqual(before)
})

test('many instances that write and link at the same time make one chain', async () => {
  const url = `file:${await temporaryFolder()}/panel.db`
  const first = await openMigrated(url)
  const instances = [first, await openDatabase(url), await openDatabase(url)]

  await Promise.all(
    instances.map(async (db) => {
      for (let round = 0; round < 20; round++) {
        await log(2, db)
        await linkEntries(db, 7, LATER)
      }
    }),
  )
  while ((await linkEntries(first, 50, LATER)) > 0);

  expect(await check(first)).toMatchObject({ entries: 120, linked: 120, unlinked: 0, fault: undefined })
  for (const db of instances.slice(1)) await db.close()
})

test('a libSQL server makes the same chain', async () => {
  const { url, stop } = await startLibsqlServer()
  onTestFinished(stop)
  const db = await openMigrated(url)
  const other = await openDatabase(url)

  await Promise.all([log(10, db), log(10, other)])
  await Promise.all([linkEntries(db, 100, LATER), linkEntries(other, 100, LATER)])

  expect(await check(other)).toMatchObject({ entries: 20, linked: 20, fault: undefined })
  await other.close()
})
