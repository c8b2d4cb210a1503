import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { findJob } from '../../db/jobs.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { createOutputWriter, type JobOutput, type JobText, LeaseLost } from '../../jobs/output.ts'
import { openMigrated } from '../db/database.ts'
import { recordJob } from '../db/job.ts'
import { randomOf, seedOf } from '../rounds.ts'

const seed = seedOf('test/jobs/output.test.ts')

let real: Database
let db: Database
/** The number of batches that reached the database. */
let batches: number
/** Runs before each batch; a test makes it fail. */
let before: () => Promise<void>
let published: { jobId: string; text: JobText }[]

beforeEach(async () => {
  real = await openMigrated()
  batches = 0
  before = async () => {}
  published = []
  db = {
    ...real,
    async batch(statements) {
      batches += 1
      await before()
      return real.batch(statements)
    },
  }
  for (let at = 0; at < 60; at += 1) await recordJob(real, `job ${at}`)
})

const writer = () =>
  createOutputWriter(db, (jobId, { bytes, ...where }) => {
    // The bytes are valid only during the call.
    const text = { bytes: Buffer.from(bytes), ...where }
    published.push({ jobId, text })
    return true
  })

/** The row of a job that starts now. */
const newRow = (id: string, epoch = 1) => ({ id, epoch, output_size: 0, host_offset: 0 })

/** Appends text; the host's offsets are ten times as far. */
function appender(output: JobOutput, from = 0) {
  let offset = from
  return async (text: string) => {
    const bytes = Buffer.from(text)
    offset += bytes.length
    await output.append(bytes, offset * 10)
  }
}

async function stored(id: string): Promise<string> {
  const chunks = await readOutput(db, id, 0, 1e9)
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
}

test('the text of several jobs is stored in order, and each row is published after it is stored', async () => {
  const { open } = writer()
  const random = randomOf(seed)
  const expected = new Map<string, string>()
  const follow = async (id: string) => {
    const output = open(newRow(id))
    const append = appender(output)
    for (let line = 0; line < 40; line += 1) {
      const text = `${id}: line ${line} ${'é'.repeat(random.between(0, 199))}\n`
      expected.set(id, (expected.get(id) ?? '') + text)
      await append(text)
      // The writers continue at different times.
      if (line % 7 === 0) await pause(random.between(0, 14))
    }
    await output.flush()
    expect(await stored(id)).toBe(expected.get(id))
  }

  await Promise.all(['job 1', 'job 2', 'job 3'].map(follow))

  for (const [id, text] of expected) {
    const mine = published.filter(({ jobId }) => jobId === id)
    expect(Buffer.concat(mine.map(({ text: { bytes } }) => bytes)).toString()).toBe(text)
    let at = 0
    for (const { text: row } of mine) {
      expect(row.offset).toBe(at)
      at += row.bytes.length
      expect(row.hostOffset).toBe(at * 10)
    }
    expect(await findJob(db, id)).toMatchObject({ output_size: at, host_offset: at * 10 })
  }
})

test('the text that sixty jobs write at the same time is stored in one batch', async () => {
  const { open } = writer()
  const outputs = Array.from({ length: 60 }, (_, at) => open(newRow(`job ${at}`)))

  const writes = outputs.map((output, at) => appender(output)(`text of ${at}`))
  await Promise.all([...writes, ...outputs.map((output) => output.flush())])

  expect(batches).toBe(1)
  expect(published).toHaveLength(60)
  expect(await stored('job 59')).toBe('text of 59')
})

test('small pieces of one job are stored in one row, and published in few events', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  const append = appender(output)

  for (let line = 0; line < 2000; line += 1) void append('a short line of some thirty bytes\n')
  await output.flush()

  expect(await readOutput(db, 'job 1', 0, 1e9)).toHaveLength(1)
  expect(published).toHaveLength(3)
  expect(await stored('job 1')).toBe('a short line of some thirty bytes\n'.repeat(2000))
})

/** Waits by turns of the event loop, in which no fake time passes: `expect.poll` would advance the timers. */
async function expectPublishedNow(count: number): Promise<void> {
  for (let turn = 0; turn < 10_000 && published.length < count; turn += 1) await nextTurn()
  expect(published).toHaveLength(count)
}

test('the first piece after a pause is stored at once, and a steady stream fifty times a second', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  const append = appender(output)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.advanceTimersByTime(20)
  for (let round = 0; round < 10; round += 1) {
    await append('x')
    await expectPublishedNow(round + 1)
    vi.advanceTimersByTime(20)
  }
  await append('y')
  await expectPublishedNow(11)

  for (let round = 0; round < 15; round += 1) {
    for (let ms = 1; ms < 20; ms += 1) {
      await append('z')
      vi.advanceTimersByTime(1)
      await nextTurn()
    }
    expect(published).toHaveLength(11 + round)
    vi.advanceTimersByTime(1)
    await expectPublishedNow(12 + round)
  }
  expect(batches).toBe(26)
})

test('a reader waits while much text is not stored yet', async () => {
  const { open } = writer()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  before = () => held
  const append = appender(open(newRow('job 1')))
  let settled = 0
  const big = 'x'.repeat(640 * 1024)
  for (let round = 0; round < 10; round += 1) void append(big).then(() => (settled += 1))

  await expect.poll(() => batches).toBe(1)
  await nextTurn()
  expect(settled).toBeLessThan(6)

  release()
  await expect.poll(() => settled).toBe(10)
  expect(await stored('job 1')).toBe(big.repeat(10))
})

test('text that could not be stored is not published, and its job accepts no more', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  const append = appender(output)
  await append('stored, ')
  await output.flush()

  before = () => Promise.reject(new StorageError('disk full'))
  await append('lost')
  expect(output.failed.aborted).toBe(false)
  await expect(output.flush()).rejects.toThrow('disk full')
  expect(output.failed.aborted).toBe(true)
  before = async () => {}

  await expect(append('behind a gap')).rejects.toThrow('disk full')
  await expect(output.flush()).rejects.toThrow('disk full')
  expect(published.map(({ text }) => text.bytes.toString())).toEqual(['stored, '])
  expect(await stored('job 1')).toBe('stored, ')
})

test('text that was written during a failed store is not stored after the gap', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  const append = appender(output)
  let fail = (_: Error) => {}
  before = () =>
    new Promise((_, reject) => {
      fail = reject
    })
  await append('first ')
  await expect.poll(() => batches).toBe(1)
  await append('second ')

  before = async () => {}
  fail(new StorageError('busy'))
  await expect(output.flush()).rejects.toThrow('busy')

  expect(await stored('job 1')).toBe('')
  expect(await findJob(db, 'job 1')).toMatchObject({ output_size: 0, host_offset: 0 })
})

test('a job that is opened again continues after the stored text, and other jobs are not affected', async () => {
  const { open } = writer()
  const [first, other] = [open(newRow('job 1')), open(newRow('job 2'))]
  before = () => Promise.reject(new StorageError('busy'))
  await appender(first)('lost')
  await expect(first.flush()).rejects.toThrow('busy')
  before = async () => {}

  const again = open(newRow('job 1'))
  await appender(again)('whole')
  await appender(other)('other')
  await Promise.all([again.flush(), other.flush()])

  expect([await stored('job 1'), await stored('job 2')]).toEqual(['whole', 'other'])
  await expect(first.flush()).rejects.toThrow('busy')
})

test('a flush without text stores nothing', async () => {
  const output = writer().open(newRow('job 1'))

  await output.append(Buffer.alloc(0), 0)
  await output.flush()

  expect(batches).toBe(0)
  expect(published).toEqual([])
})

test('a previous follower stores and publishes nothing, and gets a LeaseLost at once', async () => {
  const { open } = writer()
  const [former, other] = [open(newRow('job 1')), open(newRow('job 2'))]
  await appender(former)('before')
  await former.flush()
  await real.run('UPDATE jobs SET epoch = 2 WHERE id = ?', ['job 1'])

  const append = appender(former, 6)
  await append(' late')
  await appender(other)('other')

  await expect.poll(() => former.failed.aborted).toBe(true)
  await expect(former.flush()).rejects.toThrow(LeaseLost)
  await expect(append(' later')).rejects.toThrow(LeaseLost)
  await other.flush()
  expect([await stored('job 1'), await stored('job 2')]).toEqual(['before', 'other'])
  expect(other.failed.aborted).toBe(false)
  expect(published.map(({ jobId, text }) => [jobId, text.bytes.toString()])).toEqual([
    ['job 1', 'before'],
    ['job 2', 'other'],
  ])
  expect(await findJob(db, 'job 1')).toMatchObject({ output_size: 6, host_offset: 60 })
  const mine = open({ ...newRow('job 1', 2), output_size: 6, host_offset: 60 })
  await mine.append(Buffer.from(' mine'), 70)
  await mine.flush()
  expect(await stored('job 1')).toBe('before mine')
})

test('text of the service itself does not change the offset in the host’s file', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  await output.append(Buffer.from('host'), 4)
  await output.append(Buffer.from(', service'))
  await output.flush()

  expect(await stored('job 1')).toBe('host, service')
  expect(await findJob(db, 'job 1')).toMatchObject({ output_size: 13, host_offset: 4 })
})

test('a long piece is stored in rows of 256 KiB and published in pieces of 32 KiB, cut between characters', async () => {
  const { open } = writer()
  const output = open(newRow('job 1'))
  const text = `x${'é€🦊'.repeat(120_000)}`
  await output.append(Buffer.from(text), 17)
  await output.append(Buffer.from('end'), 20)
  await output.flush()

  const rows = await readOutput(db, 'job 1', 0, 1e9)
  expect(Math.max(...rows.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(256 * 1024)
  expect(Math.max(...published.map(({ text: { bytes } }) => bytes.length))).toBeLessThanOrEqual(32 * 1024)
  expect(rows.map(({ bytes }) => bytes.toString()).join('')).toBe(`${text}end`)
  expect(published.map(({ text: { bytes } }) => bytes.toString()).join('')).toBe(`${text}end`)
  expect(await findJob(db, 'job 1')).toMatchObject({ output_size: Buffer.byteLength(text) + 3, host_offset: 20 })
})

test('a chunk stays as it is until a slow database has written it, whatever is appended meanwhile', async () => {
  const random = randomOf(seed)
  const chunks: { before: string; after: string }[] = []
  /** The pieces appended so far, and whether a batch is on its way. */
  let [appended, writing] = [0, false]
  const { open } = createOutputWriter(
    {
      ...real,
      async batch(statements) {
        const chunk = statements[0]?.args?.[1]
        const before = `${chunk}`
        const enough = Math.min(appended + 3, 40)
        writing = true
        while (appended < enough) await nextTurn()
        writing = false
        const counts = await real.batch(statements)
        chunks.push({ before, after: `${chunk}` })
        return counts
      },
    },
    (jobId, { bytes, ...where }) => {
      published.push({ jobId, text: { bytes: Buffer.from(bytes), ...where } })
      return true
    },
  )
  const output = open(newRow('job 1'))
  let all = ''
  for (let round = 0; round < 40; round += 1) {
    // Short lines, and random bytes that do not compress; no two pieces are equal.
    const text = round % 3 === 0 ? random.bytes(6_000).toString('hex') : `line ${round} of forty\n`
    all += text
    await output.append(Buffer.from(text))
    appended += 1
    await nextTurn()
    if (appended % 4 === 0 && appended < 40) await expect.poll(() => writing, { interval: 1 }).toBe(true)
  }
  await output.flush()

  expect(await stored('job 1')).toBe(all)
  expect(published.map(({ text: { bytes } }) => bytes.toString()).join('')).toBe(all)
  expect(chunks.length).toBeGreaterThan(8)
  for (const { before, after } of chunks) expect(after).toBe(before)
})

test('appended bytes are freed once they are stored and published, and kept when they could not be stored', async () => {
  const freed = Buffer.alloc(30_000, 'f')
  const kept = Buffer.alloc(30_000, 'k')
  const output = writer().open(newRow('job 1'))
  await output.append(freed)
  await output.flush()
  before = () => Promise.reject(new Error('the database is away'))
  const failing = writer().open(newRow('job 2'))
  failing.append(kept)?.catch(() => {})
  await expect(failing.flush()).rejects.toThrow('the database is away')

  expect(await stored('job 1')).toBe('f'.repeat(30_000))
  expect([freed.length, kept.length]).toEqual([0, 30_000])
})
