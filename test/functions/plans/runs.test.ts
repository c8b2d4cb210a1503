import { expect, test } from 'vitest'
import * as z from 'zod'
import { takeTurn } from '../../../db/job-list.ts'
import { type Database, StorageError } from '../../../db/libsql/database.ts'
import { START } from '../../../jobs/script.ts'
import { audited, answered, refused, rows } from '../answers.ts'
import { ACTIONS, HASH, HOUR, planApp } from './plan-host.ts'

const RUNS = '/api/updates/runs'
const Started = z.strictObject({
  run_id: z.string().regex(/^[0-9a-f]{24}$/),
  jobs: z.array(z.strictObject({ target: z.string(), job_id: z.string() })),
  message: z.string(),
})
const RunJobs = z.object({
  jobs: z.array(z.object({ packages: z.number().nullable(), begun_at: z.string().nullable() })),
})

/** The app with a plan of each of that many containers. */
async function prepared(count: number, given: Parameters<typeof planApp>[0] = {}) {
  const all = await planApp(given)
  const plans: string[] = []
  for (let n = 101; n < 101 + count; n += 1) plans.push(await all.store(`p${n}`, { target: `lxc:${n}` }))
  const begin = async (ids: readonly string[]) =>
    Started.parse(await answered(await all.send('POST', RUNS, { plans: ids }), 202))
  return { ...all, plans, begin }
}

test('a run starts a job for each plan, and tells them in the order of the plans', async () => {
  const { app, plans, begin, read, ended } = await prepared(3)

  const { run_id, jobs, message } = await begin(plans)

  expect(jobs.map(({ target }) => target)).toEqual(['lxc:101', 'lxc:102', 'lxc:103'])
  expect(message).toBe('3 mises à jour lancées.')
  for (const { job_id } of jobs) expect(await ended(job_id)).toMatchObject({ run_id, status: 'success' })
  expect(await read(`${RUNS}/${run_id}`)).toMatchObject({
    id: run_id,
    started_by_name: 'bob',
    jobs: jobs.map(({ target, job_id }, at) => ({ target, job_id, run_id, plan_id: plans[at], exit_code: 0 })),
  })
  const counts = async () => RunJobs.parse(await read(`${RUNS}/${run_id}`)).jobs.map(({ packages }) => packages)
  expect(await counts()).toEqual([ACTIONS.length, ACTIONS.length, ACTIONS.length])
  await app.db.run('DELETE FROM plans WHERE id = ?', [plans[1] ?? ''])
  expect(await counts()).toEqual([ACTIONS.length, null, ACTIONS.length])
  const begun = { phase: 'protecting', at: '2026-03-01T12:00:09.000Z' }
  const withPhases = JSON.stringify({ protection: null, phases: [begun, { ...begun, at: '2026-03-01T12:01:00.000Z' }] })
  await app.db.run('UPDATE jobs SET protected = ? WHERE id = ?', [withPhases, jobs[0]?.job_id ?? ''])
  const { jobs: told } = RunJobs.parse(await read(`${RUNS}/${run_id}`))
  expect(told.map(({ begun_at }) => begun_at)).toEqual([begun.at, null, null])
  expect(await audited(app.db)).toMatchObject(
    jobs.map(({ target, job_id }, at) => ({
      action: 'update_start',
      target,
      details: { job_id, run: run_id, plan: plans[at], hash: HASH },
    })),
  )
})

test('a run with a plan that cannot be run starts nothing, and names it', async () => {
  const { app, store, plans, send, start } = await prepared(3)
  await store('same', { target: 'lxc:0101' })
  await start({ target: 'lxc:102', plan: 'p102' })

  const used = await refused(await send('POST', RUNS, { plans }), 409, 'plan_used')
  const missing = await refused(await send('POST', RUNS, { plans: ['p101', 'none'] }), 404, 'plan_missing')
  await refused(await send('POST', RUNS, { plans: ['p101', 'same'] }), 422, 'target_repeated')
  await refused(await send('POST', RUNS, { plans: ['p101', 'p101'] }), 422, 'target_repeated')
  for (const ids of [[], Array(201).fill('p101')])
    await refused(await send('POST', RUNS, { plans: ids }), 400, 'invalid_request')
  app.advance(HOUR)
  await refused(await send('POST', RUNS, { plans: ['p101'] }), 410, 'plan_expired')
  await refused(await send('GET', `${RUNS}/none`), 404, 'run_missing')

  expect(used.details?.map(({ field }) => field)).toEqual(['plans.1'])
  expect(missing.details?.map(({ field }) => field)).toEqual(['plans.1'])
  expect(await rows(app.db, 'SELECT plan_id FROM jobs')).toEqual([{ plan_id: 'p102' }])
  expect(await rows(app.db, 'SELECT id FROM runs')).toEqual([])
})

test('of two runs with a common plan at the same moment one starts, whole', async () => {
  const { app, send } = await prepared(3, { isBusy: true })

  const answers = await Promise.all([
    send('POST', RUNS, { plans: ['p101', 'p102'] }),
    send('POST', RUNS, { plans: ['p102', 'p103'] }),
  ])

  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
  expect(await rows(app.db, 'SELECT DISTINCT run_id FROM jobs')).toHaveLength(1)
  expect(await rows(app.db, 'SELECT id FROM jobs')).toHaveLength(2)
  expect(await rows(app.db, 'SELECT id FROM plans WHERE job_id IS NOT NULL')).toHaveLength(2)
})

test('a user has 200 jobs in runs at a time, beside single ones, and keeps nobody else out', async () => {
  const { app, store, plans, begin, send, start } = await prepared(200, { isBusy: true })
  const { jobs } = await begin(plans)
  for (let n = 0; n < 11; n += 1) await store(`more${n}`, { target: `lxc:${500 + n}` })

  const { error } = await refused(await send('POST', RUNS, { plans: ['more10'] }), 429, 'queue_full')
  for (let n = 0; n < 10; n += 1) await start({ target: `lxc:${500 + n}`, plan: `more${n}` })
  await refused(await send('POST', '/api/updates/run', { target: 'lxc:510', plan: 'more10' }), 429, 'queue_full')
  for (const body of [{ target: 'host' }, { target: 'lxc:101', plan: await store('other', { target: 'lxc:101' }) }])
    await answered(await app.request('POST', '/api/updates/run', { as: 'admin', body }), 202)

  expect(error).toMatch(/ 3 par utilisateur pour une même cible, 200 par utilisateur .*plusieurs cibles\./)
  const ended = jobs.slice(5).map(({ job_id }) => job_id)
  await app.db.run(`UPDATE jobs SET status = 'success' WHERE id IN (SELECT value FROM json_each(?))`, [
    JSON.stringify(ended),
  ])
  await begin(['more10'])
  expect(await rows(app.db, `SELECT count(*) AS n FROM jobs`)).toEqual([{ n: 200 + 10 + 2 + 1 }])
})

test('a run with a target that has too many jobs already starts nothing', async () => {
  const { app, store, begin, send } = await prepared(2, { isBusy: true })
  for (const id of ['a', 'b', 'c']) {
    await store(id, { target: 'lxc:102' })
    await begin([id])
  }

  await refused(await send('POST', RUNS, { plans: ['p101', 'p102'] }), 429, 'queue_full')

  expect(await rows(app.db, `SELECT id FROM jobs WHERE target = 'lxc:101'`)).toEqual([])
  expect(await rows(app.db, `SELECT id FROM plans WHERE id IN ('p101', 'p102') AND job_id IS NULL`)).toHaveLength(2)
})

test('four jobs of a run work at a time; the fifth says that it waits', async () => {
  const { app, plans, begin, read } = await prepared(6, { isBusy: true })

  const { jobs } = await begin(plans)

  const [, , , , fifth] = jobs
  await expect
    .poll(async () => read(`/api/updates/jobs/${fifth?.job_id}`))
    .toMatchObject({ output: expect.stringMatching(/^En attente de la fin de la tâche .* et de 3 autres…\n$/) })
  expect(await begun(app.db)).toHaveLength(4)
  expect(await takeTurn(app.db, fifth?.job_id ?? '')).toBe(false)
  expect(app.ran.filter(({ command: [, , text] }) => text === START)).toEqual([])
})

test('four jobs of all runs of a user work at a time, and four of another user', async () => {
  const { app, plans, begin } = await prepared(12, { isBusy: true })

  await begin(plans.slice(0, 2))
  const { jobs } = await begin(plans.slice(2, 6))
  await answered(await app.request('POST', RUNS, { as: 'admin', body: { plans: plans.slice(6) } }), 202)

  const first = [101, 102, 103, 104, 107, 108, 109, 110].map((n) => `lxc:${n}`)
  await expect.poll(() => begun(app.db)).toEqual(first)
  expect(await takeTurn(app.db, jobs[2]?.job_id ?? '')).toBe(false)
})

test('jobs of a run that wait for other jobs do not hold up the rest of the run', async () => {
  const { app, plans, begin, read } = await prepared(7, { isBusy: true })
  for (const n of [101, 102, 103, 104])
    await answered(await app.request('POST', '/api/updates/run', { as: 'admin', body: { target: `lxc:${n}` } }), 202)
  await expect.poll(() => begun(app.db)).toHaveLength(4)

  const { jobs } = await begin(plans)

  await expect.poll(() => begun(app.db)).toEqual([101, 102, 103, 104, 105, 106, 107].map((n) => `lxc:${n}`))
  const blocked = await read(`/api/updates/jobs/${jobs[3]?.job_id}`)
  expect(blocked.output).toMatch(/^En attente de la fin de la tâche \S+ \(lxc:104\)…\n$/)
})

const AWAY = 'La base de données ne répond pas.'

test.each([
  [4, 'first', 0, 500],
  [4, 'second', 1, 202],
  [60, 'second', 1, 500],
])('a run of %i plans starts whole or not at all when the %s read of jobs fails', async (count, _, at, status) => {
  const { app, plans, send } = await prepared(count)
  failReads(app.db, at)

  const answer = await send('POST', RUNS, { plans })

  expect(answer.status).toBe(status)
  await app.services.jobs.maintain()
  const end = status === 202 ? { status: 'success', error: null } : { status: 'error', error: AWAY }
  await expect.poll(() => rows(app.db, 'SELECT DISTINCT status, error FROM jobs')).toEqual([end])
  expect(app.ran.filter(({ command: [, , text] }) => text === START)).toHaveLength(status === 202 ? count : 0)
})

/** Lets one read of whole jobs fail: the one with this number after the next transaction. */
function failReads(db: Database, at: number): void {
  const { batch, query } = db
  let isRecorded = false
  let reads = 0
  db.batch = async (statements) => {
    const changed = await batch(statements)
    isRecorded = true
    return changed
  }
  db.query = (row, sql, args) => {
    const isCounted = isRecorded && sql.startsWith('SELECT * FROM jobs')
    return isCounted && reads++ === at ? Promise.reject(new StorageError('away')) : query(row, sql, args)
  }
}

/** The targets of the jobs that work. */
async function begun(db: Database): Promise<string[]> {
  const found = await rows(db, `SELECT target FROM jobs WHERE begun = 1 AND status = 'running' ORDER BY target`)
  return found.map(({ target }) => String(target))
}
