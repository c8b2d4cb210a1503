import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createClient, type InValue } from '@libsql/client'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { open } from './database.ts'
import { temporaryFolder } from './folder.ts'

const ANY = z.unknown()

async function withItems(): Promise<Database> {
  const db = await open()
  await db.script('CREATE TABLE items (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO items VALUES (1, NULL)')
  return db
}

test('a repeated statement with fewer arguments does not reuse earlier ones', async () => {
  const db = await open()
  const sql = 'SELECT ? AS first, ? AS second'

  expect(await db.query(ANY, sql, ['a', 'secret'])).toEqual([{ first: 'a', second: 'secret' }])
  expect(await db.query(ANY, sql, ['b'])).toEqual([{ first: 'b', second: null }])
  expect(await db.query(ANY, sql)).toEqual([{ first: null, second: null }])
  expect(await db.query(ANY, sql, ['c', 'd'])).toEqual([{ first: 'c', second: 'd' }])
})

test('a repeated statement returns the columns that another connection has added or renamed', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const db = await open(url)
  await db.script('CREATE TABLE items (id INTEGER); INSERT INTO items VALUES (1)')
  const other = createClient({ url })
  onTestFinished(() => other.close())
  const all = () => db.query(ANY, 'SELECT * FROM items')
  expect(await all()).toEqual([{ id: 1 }])

  await other.execute('ALTER TABLE items ADD COLUMN size DEFAULT 7')
  expect(await all()).toEqual([{ id: 1, size: 7 }])

  await other.execute('ALTER TABLE items RENAME COLUMN size TO length')
  expect(await all()).toEqual([{ id: 1, length: 7 }])

  await other.execute('DROP TABLE items')
  await expect(all()).rejects.toThrow(/no such table/)
})

test('a statement that failed works the next time', async () => {
  const db = await withItems()
  const insert = (id: number) => db.run('INSERT INTO items (id) VALUES (?)', [id])

  expect(await insert(2)).toBe(1)
  await expect(insert(2)).rejects.toMatchObject({ cause: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
  expect(await insert(3)).toBe(1)
})

const bytes = Buffer.from('bytes')
test.each<[string, InValue, unknown]>([
  ['a text', 'é 🎉', 'é 🎉'],
  ['an empty text', '', ''],
  ['a number', -1.5, -1.5],
  ['the largest exact integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['a bigint', 10n, 10],
  ['nothing', null, null],
  ['true', true, 1],
  ['a moment', new Date(5), 5],
  ['bytes', bytes, new Uint8Array(bytes).buffer],
  ['bytes out of others', bytes.subarray(1, 3), new Uint8Array([121, 116]).buffer],
  ['a buffer of bytes', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2]).buffer],
])('%s is stored and read, each time', async (_, value, expected) => {
  const db = await withItems()
  const given = () => db.query(ANY, 'SELECT ? AS value', [value])

  expect(await given()).toEqual([{ value: expected }])
  expect(await given()).toEqual([{ value: expected }])
  expect(await db.run('UPDATE items SET text = ?', [value])).toBe(1)
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n])(
  '%s is refused, and not stored as another value',
  async (value) => {
    const db = await withItems()

    await expect(db.run('UPDATE items SET text = ?', [value])).rejects.toThrow(StorageError)
    expect(await db.query(ANY, 'SELECT text FROM items')).toEqual([{ text: null }])
  },
)

test('an integer that a number cannot hold is refused rather than rounded', async () => {
  const db = await open()
  const sum = (addend: bigint) => db.query(ANY, 'SELECT ? + 1 AS sum', [addend])

  expect(await sum(2n ** 53n - 2n)).toEqual([{ sum: Number.MAX_SAFE_INTEGER }])
  await expect(sum(2n ** 53n)).rejects.toThrow(StorageError)
  expect(await sum(-(2n ** 53n))).toEqual([{ sum: Number.MIN_SAFE_INTEGER }])
})

test('a change that returns rows runs once and reports 0', async () => {
  const db = await withItems()
  const sql = "INSERT INTO items (text) VALUES ('x') RETURNING id"

  expect(await db.query(ANY, sql)).toEqual([{ id: 2 }])
  expect(await db.run(sql)).toBe(0)
  expect(await db.batch([{ sql }, { sql: 'DELETE FROM items' }])).toEqual([0, 4])
})

test('a PRAGMA takes effect each time', async () => {
  const db = await open()
  const enforced = () => db.query(ANY, 'PRAGMA foreign_keys')

  for (const value of [0, 1, 0, 1]) {
    await db.run(`PRAGMA foreign_keys = ${value}`)
    expect(await enforced()).toEqual([{ foreign_keys: value }])
  }
})

test('a closed database does not answer a statement that it has prepared', async () => {
  const db = await open(`file:${join(await temporaryFolder(), 'panel.db')}`)
  const ask = () => db.query(ANY, 'SELECT 1 AS one')
  await ask()

  await db.close()

  await expect(ask()).rejects.toThrow(StorageError)
  await expect(db.batch([{ sql: 'SELECT 1' }])).rejects.toThrow(StorageError)
  await expect(db.script('SELECT 1')).rejects.toThrow(StorageError)
})

test('a change during close is refused', async () => {
  const db = await open(`file:${join(await temporaryFolder(), 'panel.db')}`)

  const closed = db.close()

  await expect(db.script('CREATE TABLE late (id INTEGER)')).rejects.toThrow(StorageError)
  await closed
})

test('statements that are never repeated do not stay in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = z.custom<() => void>().parse(runInNewContext('gc'))
  const db = await open()
  const [texts, size] = [8_000, 32 * 1024]
  const before = process.memoryUsage.rss()

  for (let n = 0; n < texts; n += 1) {
    await db.query(ANY, `SELECT ${n} /* ${'x'.repeat(size)} */`)
    if (n % 500 > 0) continue
    collect()
    await turn()
  }

  // SQLite keeps copies of its own, so four times as much would stay.
  expect(process.memoryUsage.rss() - before).toBeLessThan(2 * texts * size)
})
