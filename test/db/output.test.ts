import { randomBytes, randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Database } from '../../db/client.ts'
import { findJob } from '../../db/jobs.ts'
import { appendOutput, readOutput } from '../../db/output.ts'
import { openMigrated } from './database.ts'
import { recordJob, storeOutput } from './job.ts'

/** Reads from a byte to the end, as clients do: piece by piece. */
async function readAll(db: Database, id: string, from: number, limit: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = from; ; ) {
    const chunks = await readOutput(db, id, at, limit)
    if (chunks.length === 0) return Buffer.concat(parts)
    for (const { offset, bytes } of chunks) {
      expect(offset).toBe(at)
      expect(bytes.length).toBeGreaterThan(0)
      parts.push(bytes)
      at += bytes.length
    }
  }
}

test('reads the same bytes from every byte on, whatever the limit', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  const whole = await storeOutput(
    db,
    job,
    Array.from({ length: 40 }, () => randomBytes(randomInt(1, 12))),
  )

  for (let from = 0; from <= whole.length; from += 1) {
    for (const limit of [1, 7, 1000]) expect(await readAll(db, 'job', from, limit)).toEqual(whole.subarray(from))
  }
})

test('starts in the middle of a chunk', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abcdef'), Buffer.from('ghi')])

  expect(await readOutput(db, 'job', 4, 100)).toEqual([
    { offset: 4, bytes: Buffer.from('ef') },
    { offset: 6, bytes: Buffer.from('ghi') },
  ])
})

test('gives at least one chunk and not many over the limit', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(
    db,
    job,
    Array.from({ length: 10 }, () => Buffer.alloc(100, 'x')),
  )

  expect(await readOutput(db, 'job', 0, 1)).toHaveLength(1)
  expect(await readOutput(db, 'job', 0, 250)).toHaveLength(3)
  expect(await readOutput(db, 'job', 950, 1)).toHaveLength(1)
})

test('has nothing at the end, beyond it, and for a job that is not there', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abc')])

  expect(await readOutput(db, 'job', 3, 100)).toEqual([])
  expect(await readOutput(db, 'job', 4_000_000_000_000, 100)).toEqual([])
  expect(await readOutput(db, 'other', 0, 100)).toEqual([])
})

test('keeps the outputs of two jobs apart, and where each ends', async () => {
  const db = await openMigrated()
  const [one, two] = [await recordJob(db, 'one'), await recordJob(db, 'two')]

  await db.batch(appendOutput(one, { offset: 0, bytes: Buffer.from('é') }, 1))
  await db.batch(appendOutput(two, { offset: 0, bytes: Buffer.from('zwei') }, 4))

  expect(await readAll(db, 'one', 0, 100)).toEqual(Buffer.from('é'))
  expect(await findJob(db, 'one')).toMatchObject({ output_size: 2, host_offset: 1 })
  expect(await findJob(db, 'two')).toMatchObject({ output_size: 4, host_offset: 4 })
})

test('one byte is not stored twice: a second chunk at an offset is refused, and the sizes stay', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abc')])

  await expect(db.batch(appendOutput(job, { offset: 0, bytes: Buffer.from('xyzxyz') }, 6))).rejects.toThrow()

  expect(await readAll(db, 'job', 0, 100)).toEqual(Buffer.from('abc'))
  expect(await findJob(db, 'job')).toMatchObject({ output_size: 3, host_offset: 3 })
})
