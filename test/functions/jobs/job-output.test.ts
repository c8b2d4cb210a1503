import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob } from '../../../db/jobs.ts'
import { removeOldOutput } from '../../../db/output.ts'
import output from '../../../functions/jobs/job-output.get.ts'
import { testApp } from '../../app.ts'
import { recordJob, storeOutput } from '../../db/job.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { controlledOutput } from '../../runtime/upgrade-output.ts'
import { answered, audited, refused } from '../answers.ts'

const MIB = 1024 * 1024
const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const

const Piece = z.strictObject({ chunk: z.string(), offset: z.number(), next_offset: z.number(), ended: z.boolean() })

/** The app with one job and its pieces of output. */
async function outputApp(pieces: readonly (string | Buffer)[], { ended = true } = {}) {
  const app = await testApp([output])
  const job = await recordJob(app.db, 'job')
  const whole = await storeOutput(app.db, job, pieces)
  if (ended) await endJob(app.db, job, SUCCESS, { now: '' })
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  const ask = (query = '', id = 'job') => app.request('GET', `/api/updates/jobs/${id}/output${query}`, { headers })
  const read = async (query = '') => Piece.parse(await answered(await ask(query), 200))
  return { ...app, job, whole, ask, read }
}

test('without an offset the output is returned from start to end', async () => {
  const { read, db } = await outputApp(['un\n', 'deux é\n'])

  expect(await read()).toEqual({ chunk: 'un\ndeux é\n', offset: 0, next_offset: 11, ended: true })
  expect(await audited(db)).toEqual([])
})

test('the output can start at a byte in the middle of a row', async () => {
  const { read } = await outputApp(['un\n', 'deux é\n'])

  expect(await read('?offset=5')).toEqual({ chunk: 'ux é\n', offset: 5, next_offset: 11, ended: true })
})

test.each([11, 12, 4_000_000_000_000])(
  'at the end and beyond (%i) the answer is empty and reports the end',
  async (at) => {
    const { read } = await outputApp(['un\n', 'deux é\n'])

    expect(await read(`?offset=${at}`)).toEqual({ chunk: '', offset: 11, next_offset: 11, ended: true })
  },
)

test('a running job reports no end, at its last byte or before', async () => {
  const { read } = await outputApp(['un\n'], { ended: false })

  expect(await read()).toEqual({ chunk: 'un\n', offset: 0, next_offset: 3, ended: false })
  expect(await read('?offset=3')).toEqual({ chunk: '', offset: 3, next_offset: 3, ended: false })
  // After a rollback of the service's own data, the job comes to this byte once more.
  expect(await read('?offset=99')).toEqual({ chunk: '', offset: 99, next_offset: 99, ended: false })
})

test('a long output comes in pieces of at most a mebibyte, each byte once, without split characters', async () => {
  // Rows of odd lengths, each of whole characters, as the service writes them.
  const rows = Array.from({ length: 120 }, (_, at) => `${at} ${'é€🦊'.repeat(3_000 + at)}\n`)
  const { read, whole } = await outputApp(rows)
  const pieces: string[] = []

  for (let at = 0, ended = false; !ended; ) {
    const piece = await read(`?offset=${at}`)
    expect(piece.offset).toBe(at)
    expect(piece.next_offset - at).toBe(Buffer.byteLength(piece.chunk))
    expect(piece.next_offset - at).toBeLessThanOrEqual(MIB)
    expect(piece.next_offset).toBeGreaterThan(at)
    expect(piece.chunk).not.toContain('\uFFFD')
    expect(piece.ended).toBe(piece.next_offset === whole.length)
    pieces.push(piece.chunk)
    at = piece.next_offset
    ended = piece.ended
  }

  expect(pieces.join('') === whole.toString()).toBe(true)
  expect(pieces.length).toBeGreaterThan(2)
})

test('exactly a mebibyte is one piece', async () => {
  const { read } = await outputApp(Array.from({ length: 32 }, () => 'x'.repeat(32 * 1024)))

  const { chunk, next_offset, ended } = await read()

  expect([chunk.length, next_offset, ended]).toEqual([MIB, MIB, true])
})

test('a job without output reports its end and nothing else', async () => {
  const { read } = await outputApp([])

  expect(await read()).toEqual({ chunk: '', offset: 0, next_offset: 0, ended: true })
})

test('pruned output is skipped, and the offset in the answer shows it', async () => {
  const { read, db } = await outputApp(Array.from({ length: 130 }, () => '0123456789'))
  // One step takes 128 rows.
  expect(await removeOldOutput(db, { kind: 'upgrade', keep: 0 })).toBe(true)

  expect(await read('?offset=7')).toEqual({
    chunk: '01234567890123456789',
    offset: 1280,
    next_offset: 1300,
    ended: true,
  })
  expect((await read('?offset=1290')).offset).toBe(1290)
  expect(await removeOldOutput(db, { kind: 'upgrade', keep: 0 })).toBe(true)
  expect(await read()).toEqual({ chunk: '', offset: 1300, next_offset: 1300, ended: true })
})

test.each(['-1', '1.5', 'x', '', '1e3', '0x10'])('an offset of %j is refused by name', async (offset) => {
  const { ask } = await outputApp(['un\n'])

  const { details } = await refused(await ask(`?offset=${offset}`), 400, 'invalid_request')

  expect(details?.map(({ field }) => field)).toEqual(['offset'])
})

test('a missing job gives 404', async () => {
  const { ask } = await outputApp([])

  await refused(await ask('', 'none'), 404, 'job_missing')
})

test('a polling client gets each byte once while the job runs, and then the end', async () => {
  const demo = await startDemo()
  const printed = controlledOutput(demo)
  const { request, run } = await startService(demo)
  const id = await run('lxc:101')
  let text = ''
  let at = 0
  const poll = async () => {
    const piece = Piece.parse(await (await request('GET', `/api/updates/jobs/${id}/output?offset=${at}`)).json())
    expect(piece.offset).toBe(at)
    text += piece.chunk
    at = piece.next_offset
    return piece.ended
  }

  for (let line = 0; line < 40; line += 1) {
    printed.print(`ligne ${line} é€🦊\n`)
    expect(await poll()).toBe(false)
  }
  printed.print(Buffer.from([0xff, 0x0a]))
  printed.end()
  await expect.poll(poll, { interval: 5 }).toBe(true)

  expect(text).toBe(printed.text())
  expect(at).toBe(Buffer.byteLength(text))
})

test('a row longer than a piece comes in several, cut between characters', async () => {
  const { read, whole } = await outputApp(['a', 'é'.repeat(1.2 * MIB), '€'.repeat(MIB), 'end'])
  const chunks: string[] = []
  for (let offset = 0; ; ) {
    const piece = await read(`?offset=${offset}`)
    expect(piece).toMatchObject({ offset, next_offset: offset + Buffer.byteLength(piece.chunk) })
    expect(piece.next_offset - offset).toBeLessThanOrEqual(MIB)
    expect(piece.next_offset).toBeGreaterThan(offset)
    chunks.push(piece.chunk)
    offset = piece.next_offset
    if (piece.ended) break
  }

  expect(chunks.join('') === whole.toString()).toBe(true)
})
