import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { admitHit, pruneHits } from '../../db/rate-hits.ts'
import { openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'

const LIMIT = { limit: 5, windowMs: 60_000 }

test('five hits within the window are admitted, and the sixth gets the time to wait', async () => {
  const db = await openMigrated()
  const hit = (nowMs: number) => admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs })

  const waits: number[] = []
  for (const nowMs of [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]) waits.push(await hit(nowMs))

  expect(waits).toEqual([0, 0, 0, 0, 0, 55_000])
})

test('a refused hit is not counted: repeated attempts succeed when the first hit leaves the window', async () => {
  const db = await openMigrated()
  const hit = (nowMs: number) => admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs })
  for (const nowMs of [0, 10, 20, 30, 40]) await hit(nowMs)

  for (let nowMs = 100; nowMs < 60_000; nowMs += 10_000) expect(await hit(nowMs)).toBe(60_000 - nowMs)

  expect(await hit(59_999)).toBe(1)
  expect(await hit(60_000)).toBe(0)
  expect(await hit(60_001)).toBe(9)
})

test('each address and each bucket is counted separately', async () => {
  const db = await openMigrated()
  const hit = (bucket: string, address: string) =>
    admitHit(db, bucket, address, { limit: 1, windowMs: 1000, nowMs: 5_000 })

  expect(await hit('login', '10.0.0.1')).toBe(0)
  expect(await hit('login', '10.0.0.2')).toBe(0)
  expect(await hit('check', '10.0.0.1')).toBe(0)
  expect(await hit('login', '10.0.0.1')).toBe(1000)
})

test('an instance whose clock is ahead does not use up the hits of another one', async () => {
  const db = await openMigrated()
  for (let n = 0; n < 5; n += 1) await admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs: 1_000_000 })

  await admitHit(db, 'login', '10.0.0.2', { ...LIMIT, nowMs: 1_000_000 + 61_000 })

  expect(await admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs: 1_000_001 })).toBeGreaterThan(0)
})

test('a clock that is set back delays nobody for longer than the window', async () => {
  const db = await openMigrated()
  for (let n = 0; n < 5; n += 1) await admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs: 10_000_000 })

  expect(await admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs: 10_000_000 - 30_000 })).toBe(60_000)
  expect(await admitHit(db, 'login', '10.0.0.1', { ...LIMIT, nowMs: 10_000_000 - 3_600_000 })).toBe(0)
})

test('the limit holds across two processes on one file, even with simultaneous hits', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const [one, two] = [await openMigrated(url), await openMigrated(url)]

  const waits = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      admitHit(at % 2 ? one : two, 'login', '10.0.0.1', { ...LIMIT, nowMs: 1_000 }),
    ),
  )

  expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
  expect(waits.filter((wait) => wait === 60_000)).toHaveLength(15)
})

test('pruning removes the older hits of all buckets, and returns their number', async () => {
  const db = await openMigrated()
  for (const [bucket, at] of [
    ['a', 1_000],
    ['a', 2_000],
    ['b', 1_999],
    ['b', 3_000],
    ['b', 9_001],
  ] as const)
    await admitHit(db, bucket, 'me', { ...LIMIT, nowMs: at })

  expect(await pruneHits(db, { before: 2_000, after: 9_000 })).toBe(3)

  expect(await db.query(z.unknown(), 'SELECT at_ms FROM rate_hits ORDER BY at_ms')).toEqual([
    { at_ms: 2_000 },
    { at_ms: 3_000 },
  ])
  expect(await pruneHits(db, { before: 2_000, after: 9_000 })).toBe(0)
})
