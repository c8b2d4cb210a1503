import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob, type JobEnd } from '../../../db/jobs.ts'
import history from '../../../functions/jobs/history.get.ts'
import { testApp } from '../../app.ts'
import { recordJob, storeOutput } from '../../db/job.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/updates/history'
const MIB = 1024 * 1024
const LIMIT = 4 * MIB
const AT = '2026-03-01T11:00:00.000Z'
const LATER = '2026-03-01T11:05:00.000Z'
const SUCCESS: JobEnd = { status: 'success', error: null, error_code: null, exit_code: 0 }

type App = Awaited<ReturnType<typeof testApp>>

/** The app with its user, whose id is 1, and a request of that user. */
async function historyApp() {
  const app = await testApp([history])
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  return { ...app, read: (query = '') => app.request('GET', `${PATH}${query}`, { headers }) }
}

async function record({ db }: Pick<App, 'db'>, id: string, end?: JobEnd, chunks: readonly Buffer[] = [], at = AT) {
  const job = await recordJob(db, id, { started_at: at })
  await storeOutput(db, job, chunks)
  if (end) await endJob(db, job, end, { now: LATER })
}

/** Rows as the service writes them: at most 64 KiB, cut between characters. */
function inRows(text: string, size = 60_000): Buffer[] {
  const rows: Buffer[] = []
  for (let at = 0; at < text.length; at += size) rows.push(Buffer.from(text.slice(at, at + size)))
  return rows
}

const Outputs = z.array(z.object({ output: z.string() }))

async function outputOf(response: Response): Promise<string> {
  return Outputs.parse(await answered(response, 200))[0]?.output ?? ''
}

test('without a job the body is null', async () => {
  const { read, ran, db } = await historyApp()

  const response = await read()

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('null')
  expect(await (await read('?output=none')).text()).toBe('null')
  expect(ran).toEqual([])
  expect(await audited(db)).toEqual([])
})

test('a record has the six fields of the specification, without the user who started it', async () => {
  const app = await historyApp()
  await record(app, 'a', SUCCESS, [Buffer.from('one\n'), Buffer.from('two\n')])

  expect(await answered(await app.read(), 200)).toEqual([
    { job_id: 'a', target: 'host', status: 'success', output: 'one\ntwo\n', started_at: AT, finished_at: LATER },
  ])
})

test('while a job runs, finished_at is absent and the output is partial', async () => {
  const app = await historyApp()
  await record(app, 'a', undefined, [Buffer.from('so far\n')])

  expect(await answered(await app.read(), 200)).toEqual([
    { job_id: 'a', target: 'host', status: 'running', output: 'so far\n', started_at: AT },
  ])
})

test('the output of a failed job is exactly its error text, whatever was captured', async () => {
  const app = await historyApp()
  const end: JobEnd = { status: 'error', error: 'Erreur SSH : gone', error_code: 'ssh_failed', exit_code: null }
  await record(app, 'a', end, [Buffer.from('captured\n')])

  expect(await answered(await app.read(), 200)).toEqual([
    { job_id: 'a', target: 'host', status: 'error', output: 'Erreur SSH : gone', started_at: AT, finished_at: LATER },
  ])
})

test('a job that printed nothing has an empty output', async () => {
  const app = await historyApp()
  await record(app, 'a', SUCCESS)

  expect(await outputOf(await app.read())).toBe('')
})

test('the newest 50 are listed, newest first, and by record order at the same time', async () => {
  const app = await historyApp()
  for (let n = 0; n < 53; n++) {
    await record(app, `job-${n}`, SUCCESS, [], new Date(Date.parse(AT) + Math.floor(n / 2) * 1000).toISOString())
  }
  await record(app, 'oldest', SUCCESS, [], '2026-01-01T00:00:00.000Z')

  const records = z.array(z.object({ job_id: z.string() })).parse(await answered(await app.read(), 200))

  expect(records.map(({ job_id }) => job_id)).toEqual(Array.from({ length: 50 }, (_, n) => `job-${52 - n}`))
})

test('?output=none omits only the outputs', async () => {
  const app = await historyApp()
  await record(app, 'a', SUCCESS, [Buffer.from('one\n')])

  expect(await answered(await app.read('?output=none'), 200)).toEqual([
    { job_id: 'a', target: 'host', status: 'success', started_at: AT, finished_at: LATER },
  ])
})

test('any other value of output is refused by name', async () => {
  const app = await historyApp()

  const { details } = await refused(await app.read('?output=some'), 400, 'invalid_request')

  expect(details?.map(({ field }) => field)).toEqual(['output'])
})

test('an output of exactly 4 MiB is complete', async () => {
  const app = await historyApp()
  const text = 'x'.repeat(LIMIT)
  await record(app, 'a', SUCCESS, inRows(text))

  expect((await outputOf(await app.read())) === text).toBe(true)
})

test('a longer output is its last 4 MiB after a line with the omitted size', async () => {
  const app = await historyApp()
  const text = `${'first\n'.repeat(10)}${'y'.repeat(LIMIT - 4)}end\n`
  await record(app, 'a', SUCCESS, inRows(text))

  const output = await outputOf(await app.read())

  const [line = ''] = output.split('\n', 1)
  expect(line).toBe('[… 60 octets omis …]')
  expect(output.slice(line.length + 1) === text.slice(60)).toBe(true)
})

test.each([
  ['é', 2],
  ['€', 3],
  ['😀', 4],
])('a cut inside %s omits the rest of it, and counts it', async (character, width) => {
  const app = await historyApp()
  // One byte too many, so that the cut is after the first byte of a character.
  const tail = 'z'.repeat(LIMIT - (width - 1))
  await record(app, 'a', SUCCESS, [Buffer.from(character), ...inRows(tail)])

  const output = await outputOf(await app.read())

  expect(output.slice(0, 40)).not.toContain('\uFFFD')
  expect(output === `[… ${width} octets omis …]\n${tail}`).toBe(true)
})

test('one long output does not shorten another', async () => {
  const app = await historyApp()
  await record(app, 'long', SUCCESS, inRows('x'.repeat(LIMIT + MIB)))
  await record(app, 'short', SUCCESS, [Buffer.from('short\n')], LATER)

  const [first, second] = Outputs.parse(await answered(await app.read(), 200))

  expect(first?.output).toBe('short\n')
  expect(second?.output.startsWith(`[… ${MIB} octets omis …]\n`)).toBe(true)
})

test('two at a time are answered with their outputs, and any number without', async () => {
  const app = await historyApp()
  await record(app, 'a', SUCCESS, inRows('x'.repeat(LIMIT)))

  const [one, two] = [await app.read(), await app.read()]
  const third = await app.read()

  expect(third.headers.get('retry-after')).toBe('5')
  await refused(third, 429, 'rate_limited')
  expect((await app.read('?output=none')).status).toBe(200)
  // A reader that reaches the end, or leaves, frees its slot.
  expect((await outputOf(one)).length).toBe(LIMIT)
  await two.body?.cancel()
  expect(await Promise.all([app.read(), app.read()].map(async (read) => (await outputOf(await read)).length))).toEqual([
    LIMIT,
    LIMIT,
  ])
})

test('a storage failure gives 500', async () => {
  const app = await historyApp()
  await app.db.script('ALTER TABLE jobs RENAME TO gone')

  await refused(await app.read(), 500, 'storage_failed')
})
