import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { migrate, SCHEMA_VERSION } from '../../db/migrate.ts'
import { open } from './database.ts'
import { temporaryFolder } from './folder.ts'

const Item = z.object({ id: z.number() })

async function items(db: Database): Promise<number[]> {
  const rows = await db.query(Item, 'SELECT id FROM items ORDER BY id')
  return rows.map(({ id }) => id)
}

async function withItems(url?: string): Promise<Database> {
  const db = await open(url)
  await db.script('CREATE TABLE items (id INTEGER PRIMARY KEY)')
  return db
}

test('a file database works in WAL, synchronous NORMAL, with foreign keys', async () => {
  const db = await open(`file:${join(await temporaryFolder(), 'panel.db')}`)

  expect(await db.query(z.unknown(), 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
  expect(await db.query(z.unknown(), 'PRAGMA synchronous')).toEqual([{ synchronous: 1 }])
  expect(await db.query(z.unknown(), 'PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }])
})

test('a database in memory keeps its rows from one call to the next, with foreign keys', async () => {
  const db = await withItems()
  await db.run('INSERT INTO items VALUES (1)')

  expect(await items(db)).toEqual([1])
  expect(await db.query(z.unknown(), 'PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }])
})

test.each(['memory', 'file'])('calls that are not awaited run in their order (%s)', async (kind) => {
  const db = await withItems(kind === 'file' ? `file:${join(await temporaryFolder(), 'panel.db')}` : undefined)
  const seen: Promise<number[]>[] = []

  for (let round = 0; round < 30; round += 1) {
    void db.run('INSERT INTO items VALUES (?)', [round * 3])
    void db.batch([{ sql: 'INSERT INTO items VALUES (?)', args: [round * 3 + 1] }])
    void db.script(`INSERT INTO items VALUES (${round * 3 + 2})`)
    seen.push(items(db))
  }

  const lengths = (await Promise.all(seen)).map((list) => list.length)
  expect(lengths).toEqual(Array.from({ length: 30 }, (_, round) => (round + 1) * 3))
})

test('a failed call neither stops nor reorders later calls', async () => {
  const db = await withItems()

  const before = db.run('INSERT INTO items VALUES (1)')
  const failed = db.run('INSERT INTO nowhere VALUES (1)')
  const after = db.run('INSERT INTO items VALUES (2)')

  await expect(failed).rejects.toThrow(StorageError)
  expect(await Promise.all([before, after])).toEqual([1, 1])
  expect(await items(db)).toEqual([1, 2])
})

test('run returns how many rows changed', async () => {
  const db = await withItems()
  await db.script('INSERT INTO items VALUES (1), (2), (3)')

  expect(await db.run('DELETE FROM items WHERE id > ?', [1])).toBe(2)
  expect(await db.run('DELETE FROM items WHERE id > ?', [1])).toBe(0)
})

test('a batch applies completely or not at all', async () => {
  const db = await withItems()
  await db.run('INSERT INTO items VALUES (3)')
  const insert = (id: number) => ({ sql: 'INSERT INTO items VALUES (?)', args: [id] })

  await expect(db.batch([insert(1), insert(2), insert(3), insert(4)])).rejects.toThrow(StorageError)
  expect(await items(db)).toEqual([3])

  expect(await db.batch([insert(1), { sql: 'DELETE FROM items' }])).toEqual([1, 2])
  expect(await items(db)).toEqual([])
  expect(await db.batch([])).toEqual([])
})

test('a batch that violates a foreign key changes nothing', async () => {
  const db = await withItems()
  await db.script('CREATE TABLE parts (item INTEGER NOT NULL REFERENCES items (id))')

  const broken = [{ sql: 'INSERT INTO items VALUES (1)' }, { sql: 'INSERT INTO parts VALUES (2)' }]
  await expect(db.batch(broken)).rejects.toThrow(/FOREIGN KEY/)

  expect(await items(db)).toEqual([])
})

test('a script that fails leaves no open transaction and no change', async () => {
  const db = await withItems(`file:${join(await temporaryFolder(), 'panel.db')}`)

  await expect(
    db.script('BEGIN; INSERT INTO items VALUES (1); INSERT INTO nowhere VALUES (1); COMMIT'),
  ).rejects.toThrow(StorageError)

  expect(await items(db)).toEqual([])
  await db.batch([{ sql: 'INSERT INTO items VALUES (2)' }])
  await db.script('BEGIN; INSERT INTO items VALUES (3); COMMIT')
  expect(await items(db)).toEqual([2, 3])
})

test('a script that does not commit is rolled back', async () => {
  const db = await withItems()

  await db.script('BEGIN; INSERT INTO items VALUES (1)')

  expect(await items(db)).toEqual([])
})

test('rows are parsed, and a row that does not match is refused', async () => {
  const db = await withItems()

  await expect(db.query(z.object({ id: z.string() }), 'SELECT 1 AS id')).rejects.toThrow(z.ZodError)
})

test('a failure is a StorageError with libSQL’s error as its cause, also after close', async () => {
  const db = await open()

  const error = await db.run('SELEC 1').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StorageError)
  expect(error).toMatchObject({ cause: { code: expect.stringContaining('SQLITE') } })

  // Without the schema, it is not a database of the service.
  await expect(db.probe()).rejects.toThrow(StorageError)
  await migrate(db, new Date(0))
  expect(await db.probe()).toBe(SCHEMA_VERSION)
  await db.close()
  await expect(db.probe()).rejects.toThrow(StorageError)
})
