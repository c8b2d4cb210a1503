import { expect, test } from 'vitest'
import { endJob, type JobEnd } from '../../../db/jobs.ts'
import { removeOldOutput } from '../../../db/output.ts'
import job from '../../../functions/jobs/job.get.ts'
import { testApp } from '../../app.ts'
import { recordJob, storeOutput } from '../../db/job.ts'
import { answered, audited, refused, unprotected } from '../answers.ts'

const AT = '2026-03-01T11:00:00.000Z'
const LATER = '2026-03-01T11:05:00.000Z'
const FAILED: JobEnd = { status: 'error', error: 'Erreur SSH : gone', error_code: 'ssh_failed', exit_code: null }
const CANCELLED: JobEnd = { status: 'error', error: 'Annulé par bob', error_code: 'cancelled', exit_code: 143 }

/** Returns the answer about one job. */
async function jobApp({ end, chunks = ['un\n', 'deux é\n'] }: { end?: JobEnd; chunks?: readonly string[] } = {}) {
  const app = await testApp([job])
  const followed = await recordJob(app.db, 'job', { started_at: AT })
  await storeOutput(app.db, followed, chunks)
  if (end) await endJob(app.db, followed, end, { now: LATER })
  return {
    ...app,
    read: (query = '', id = 'job') => app.request('GET', `/api/updates/jobs/${id}${query}`, { as: 'user' }),
  }
}

test('a running job has its output so far, no end, and an unknown exit code', async () => {
  const { read, db } = await jobApp()

  expect(await answered(await read(), 200)).toEqual({
    job_id: 'job',
    target: 'host',
    status: 'running',
    output: 'un\ndeux é\n',
    started_at: AT,
    exit_code: null,
    error_code: null,
    started_by_name: 'bob',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    ...unprotected('waiting'),
    phases: [],
    comparison: null,
    application: null,
    output_size: 11,
  })
  expect(await audited(db)).toEqual([])
})

test.each([0, 100])('a job whose command exited with %i reports that code', async (exit_code) => {
  const { read } = await jobApp({ end: { status: 'success', error: null, error_code: null, exit_code } })

  expect(await answered(await read(), 200)).toEqual({
    job_id: 'job',
    target: 'host',
    status: 'success',
    output: 'un\ndeux é\n',
    started_at: AT,
    finished_at: LATER,
    exit_code,
    error_code: null,
    started_by_name: 'bob',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    ...unprotected('done', exit_code === 0 ? 'upgraded' : 'failed'),
    phases: [],
    comparison: null,
    application: null,
    output_size: 11,
  })
})

test('the output of a failed job is exactly its error; the size is that of the captured output', async () => {
  const { read } = await jobApp({ end: FAILED })

  expect(await answered(await read(), 200)).toMatchObject({
    status: 'error',
    output: 'Erreur SSH : gone',
    exit_code: null,
    error_code: 'ssh_failed',
    started_by_name: 'bob',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    ...unprotected('done', 'failed'),
    phases: [],
    comparison: null,
    application: null,
    output_size: 11,
  })
})

test('a cancelled job keeps its output, and its exit code', async () => {
  const { read, db } = await jobApp({ chunks: ['un\n', 'Annulé par bob'] })
  await db.run(`UPDATE jobs SET cancelled_by = 'bob'`)
  await endJob(db, { id: 'job', epoch: 1 }, CANCELLED, { now: LATER, cancelledBy: 'bob' })

  expect(await answered(await read(), 200)).toMatchObject({
    status: 'error',
    output: 'un\nAnnulé par bob',
    exit_code: 143,
  })
})

test('?output=none omits only the output; any other value is refused by name', async () => {
  const { read } = await jobApp()

  expect(await answered(await read('?output=none'), 200)).toEqual({
    job_id: 'job',
    target: 'host',
    status: 'running',
    started_at: AT,
    exit_code: null,
    error_code: null,
    started_by_name: 'bob',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    ...unprotected('waiting'),
    phases: [],
    comparison: null,
    application: null,
    output_size: 11,
  })
  const { details } = await refused(await read('?output=some'), 400, 'invalid_request')
  expect(details?.map(({ field }) => field)).toEqual(['output'])
})

test('a long output is its last 4 MiB after a line with the omitted size', async () => {
  const { read } = await jobApp({ chunks: ['début\n', ...Array.from({ length: 64 }, () => 'x'.repeat(65_536))] })

  const answer = await answered(await read(), 200)

  expect(answer).toMatchObject({ output_size: 7 + 4 * 1024 * 1024 })
  expect(answer).toHaveProperty('output', `[… 7 octets omis …]\n${'x'.repeat(4 * 1024 * 1024)}`)
})

test('a job with pruned output reports its former size, and keeps its record', async () => {
  const { read, db } = await jobApp({ end: { status: 'success', error: null, error_code: null, exit_code: 7 } })
  while (await removeOldOutput(db, { kind: 'upgrade', keep: 0 }));

  expect(await answered(await read(), 200)).toMatchObject({
    job_id: 'job',
    status: 'success',
    output: '[… 11 octets omis …]\n',
    exit_code: 7,
    output_size: 11,
  })
})

test('a missing job gives 404', async () => {
  const { read } = await jobApp()

  const { error } = await refused(await read('', 'none'), 404, 'job_missing')

  expect(error).not.toBe('')
})

test('of a job with megabytes of output, two answers at a time are for one user, and an abandoned one gives way', async () => {
  const { read } = await jobApp({ chunks: Array.from({ length: 3 }, () => '\u001b'.repeat(256 * 1024)) })

  const [one, other] = [await read(), await read()]
  expect((await read()).status).toBe(429)
  expect((await read('?output=none')).status).toBe(200)

  await one?.body?.cancel()
  expect(await other?.json()).toMatchObject({ output: '\u001b'.repeat(3 * 256 * 1024), output_size: 3 * 256 * 1024 })
  expect((await read()).status).toBe(200)
})
