import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type Transaction } from '@libsql/client'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { open } from './database.ts'
import { temporaryFolder } from './folder.ts'

/** A database of one table, and another connection that can lock it. */
async function contended(): Promise<{ db: Database; lock(): Promise<Transaction> }> {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const db = await open(url)
  await db.script('CREATE TABLE items (id INTEGER PRIMARY KEY)')
  const other = createClient({ url })
  onTestFinished(() => other.close())
  return { db, lock: () => other.transaction('write') }
}

async function count(db: Database): Promise<number> {
  const [row] = await db.query(z.object({ count: z.number() }), 'SELECT count(*) AS count FROM items')
  return row?.count ?? -1
}

/**
 * Runs the work and returns how often the event loop turned meanwhile, and its longest delay. A blocking wait delays it
 * for the whole time.
 */
async function watchLoop(work: () => Promise<unknown>) {
  let turns = 0
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    turns += 1
  }, 5)
  const started = performance.now()
  await work().finally(() => clearInterval(timer))
  return { turns, longest, ms: performance.now() - started }
}

test('a write lock of another connection delays a write without an error and without blocking the event loop', async () => {
  const { db, lock } = await contended()
  const held = await lock()
  const released = pause(1_000).then(() => held.rollback())

  const { turns, longest, ms } = await watchLoop(() => db.run('INSERT INTO items VALUES (1)'))
  await released

  expect(await count(db)).toBe(1)
  expect(ms).toBeGreaterThan(900)
  expect(turns).toBeGreaterThan(5)
  expect(longest).toBeLessThan(ms / 2)
})

test('a batch and a script wait for the lock too, in order, and take effect once', async () => {
  const { db, lock } = await contended()
  const held = await lock()
  const released = pause(150).then(() => held.rollback())

  const script = db.script('BEGIN IMMEDIATE; INSERT INTO items VALUES (1); COMMIT')
  const batch = db.batch([{ sql: 'INSERT INTO items VALUES (2)' }, { sql: 'DELETE FROM items WHERE id = 1' }])
  const left = count(db)
  await Promise.all([script, released])

  expect(await batch).toEqual([1, 1])
  expect(await left).toBe(1)
})

test('the settings of the connection hold after a busy answer, and transactions work', async () => {
  const { db, lock } = await contended()
  const held = await lock()
  const released = pause(100).then(() => held.rollback())
  await db.run('INSERT INTO items VALUES (1)')
  await released

  expect(await db.query(z.unknown(), 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
  expect(await db.query(z.unknown(), 'PRAGMA synchronous')).toEqual([{ synchronous: 1 }])
  expect(await db.query(z.unknown(), 'PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }])
  await db.script('CREATE TABLE parts (item INTEGER NOT NULL REFERENCES items (id))')
  await expect(db.batch([{ sql: 'INSERT INTO parts VALUES (9)' }])).rejects.toThrow(/FOREIGN KEY/)
  expect(await db.batch([{ sql: 'INSERT INTO parts VALUES (1)' }])).toEqual([1])
})

test('a write of another connection does not delay a reader', async () => {
  const { db, lock } = await contended()
  const held = await lock()
  await held.execute('INSERT INTO items VALUES (1)')

  const { ms } = await watchLoop(() => count(db))

  // A call that waits for a lock gives up after five seconds.
  expect(ms).toBeLessThan(2_500)
  expect(await count(db)).toBe(0)
  await held.rollback()
})

test('a permanent lock gives a StorageError in bounded time, and the database works afterwards', async () => {
  const { db, lock } = await contended()
  const held = await lock()

  const { ms, longest } = await watchLoop(async () => {
    const error = await db.run('INSERT INTO items VALUES (1)').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ cause: { code: expect.stringMatching(/^SQLITE_BUSY/) } })
  })
  await held.rollback()

  expect(ms).toBeGreaterThan(3_000)
  expect(ms).toBeLessThan(8_000)
  expect(longest).toBeLessThan(ms / 2)
  expect(await count(db)).toBe(0)
  await db.run('INSERT INTO items VALUES (2)')
  expect(await count(db)).toBe(1)
})

test('all calls behind a permanent lock fail in the time of one, not one after the other', async () => {
  const { db, lock } = await contended()
  const held = await lock()
  const calls = [
    db.run('INSERT INTO items VALUES (1)'),
    db.batch([{ sql: 'INSERT INTO items VALUES (2)' }, { sql: 'INSERT INTO items VALUES (3)' }]),
    db.script('BEGIN IMMEDIATE; INSERT INTO items VALUES (4); COMMIT'),
    db.run('INSERT INTO items VALUES (5)'),
    db.run('INSERT INTO items VALUES (6)'),
  ]

  const { ms, longest } = await watchLoop(async () => {
    for (const result of await Promise.allSettled(calls))
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } })
  })
  await held.rollback()

  expect(ms).toBeGreaterThan(3_000)
  expect(ms).toBeLessThan(7_000)
  expect(longest).toBeLessThan(ms / 2)
  expect(await count(db)).toBe(0)
})

test('a write after a call that failed at a lock is committed: others see it and can write', async () => {
  const insert = (n: number) => `INSERT INTO items VALUES (${n})`
  const ways: Record<string, (db: Database, n: number) => Promise<unknown>> = {
    run: (db, n) => db.run(insert(n)),
    batch: (db, n) => db.batch([{ sql: insert(n) }]),
    script: (db, n) => db.script(`BEGIN IMMEDIATE; ${insert(n)}; COMMIT`),
  }

  const outcomes = await Promise.all(
    Object.entries(ways).map(async ([way, write]) => {
      const { db, lock } = await contended()
      const held = await lock()
      await expect(write(db, 1)).rejects.toThrow(StorageError)
      await held.rollback()
      await db.run(insert(2))
      const another = await lock().catch((error: unknown) => String(error))
      if (typeof another === 'string') return { way, another }
      const { rows } = await another.execute('SELECT id FROM items')
      await another.commit()
      return { way, seen: rows.map(({ id }) => id) }
    }),
  )

  expect(outcomes).toEqual(Object.keys(ways).map((way) => ({ way, seen: [2] })))
})
