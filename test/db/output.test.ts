import { expect, test } from 'vitest'
import * as z from 'zod'
import { findJob } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { openMigrated } from './database.ts'
import { randomOf, seedOf } from '../rounds.ts'
import { appendOutput, recordJob, storeOutput } from './job.ts'

const seed = seedOf('test/db/output.test.ts')

/** Reads from a byte to the end in pieces, as clients do. */
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

test('a read from any byte and with any limit returns the same bytes', async () => {
  const random = randomOf(seed)
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  const whole = await storeOutput(
    db,
    job,
    Array.from({ length: 40 }, () => random.bytes(random.between(1, 11))),
  )

  for (let from = 0; from <= whole.length; from += 1) {
    for (const limit of [1, 7, 1000]) expect(await readAll(db, 'job', from, limit)).toEqual(whole.subarray(from))
  }
})

test('a read can start in the middle of a chunk', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abcdef'), Buffer.from('ghi')])

  expect(await readOutput(db, 'job', 4, 100)).toEqual([
    { offset: 4, bytes: Buffer.from('ef') },
    { offset: 6, bytes: Buffer.from('ghi') },
  ])
})

test('a read returns at least one chunk, and little more than the limit', async () => {
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

test('a read at the end, beyond it, or of a missing job returns nothing', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abc')])

  expect(await readOutput(db, 'job', 3, 100)).toEqual([])
  expect(await readOutput(db, 'job', 4_000_000_000_000, 100)).toEqual([])
  expect(await readOutput(db, 'other', 0, 100)).toEqual([])
})

test('the outputs of two jobs and their sizes are kept apart', async () => {
  const db = await openMigrated()
  const [one, two] = [await recordJob(db, 'one'), await recordJob(db, 'two')]

  await appendOutput(db, one, { offset: 0, bytes: Buffer.from('é') }, 1)
  await appendOutput(db, two, { offset: 0, bytes: Buffer.from('zwei') }, 4)

  expect(await readAll(db, 'one', 0, 100)).toEqual(Buffer.from('é'))
  expect(await findJob(db, 'one')).toMatchObject({ output_size: 2, host_offset: 1 })
  expect(await findJob(db, 'two')).toMatchObject({ output_size: 4, host_offset: 4 })
})

test('a second chunk at the same offset is refused, and the sizes stay', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await storeOutput(db, job, [Buffer.from('abc')])

  await expect(appendOutput(db, job, { offset: 0, bytes: Buffer.from('xyzxyz') }, 6)).rejects.toThrow()

  expect(await readAll(db, 'job', 0, 100)).toEqual(Buffer.from('abc'))
  expect(await findJob(db, 'job')).toMatchObject({ output_size: 3, host_offset: 3 })
})

test('long text is stored compressed and read unchanged from any byte; incompressible text is stored as it is', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  const repeating = Buffer.from('Réception de : 1 http://mirror.example/debian bookworm/main\n'.repeat(4_000))
  const random = randomOf(seed).bytes(100_000)
  const whole = await storeOutput(db, job, [repeating, 'a line\n', random, 'é'.repeat(5_000)])

  expect(await stored(db)).toEqual([
    { encoding: 'br', smaller: true },
    { encoding: null, smaller: false },
    { encoding: null, smaller: false },
    { encoding: 'br', smaller: true },
  ])
  for (const from of [0, 1, repeating.length - 1, repeating.length, repeating.length + 3, whole.length - 1])
    for (const limit of [1, 300_000, 1e9]) expect(await readAll(db, 'job', from, limit)).toEqual(whole.subarray(from))
})

async function stored(db: Database) {
  const Row = z.object({ encoding: z.string().nullable(), from: z.number(), stored: z.number() })
  const sql = 'SELECT encoding, offset AS "from", length(chunk) AS stored FROM job_output ORDER BY offset'
  const rows = await db.query(Row, sql)
  const end = (await findJob(db, 'job'))?.output_size ?? 0
  return rows.map(({ encoding, from, stored }, at) => ({
    encoding,
    smaller: stored < ((rows[at + 1]?.from ?? end) - from) / 2,
  }))
}
