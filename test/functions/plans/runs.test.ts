import { expect, test } from 'vitest'
import * as z from 'zod'
import { takeTurn } from '../../../db/jobs.ts'
import { START } from '../../../jobs/script.ts'
import { audited, answered, refused, rows } from '../answers.ts'
import { HASH, HOUR, planApp } from './plan-host.ts'

const RUNS = '/api/updates/runs'
const Started = z.strictObject({
  run_id: z.string().regex(/^[0-9a-f]{24}$/),
  jobs: z.array(z.strictObject({ target: z.string(), job_id: z.string() })),
  message: z.string(),
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

test('a run of 200 plans counts once for the bounds of its user, each job for those of its target', async () => {
  const { app, store, plans, begin, send } = await prepared(200, { isBusy: true })
  await begin(plans)
  for (let n = 0; n < 9; n += 1) {
    await store(`more${n}`, { target: `lxc:${500 + n}` })
    await begin([`more${n}`])
  }
  await store('last', { target: 'lxc:600' })

  await refused(await send('POST', RUNS, { plans: ['last'] }), 429, 'queue_full')

  expect(await rows(app.db, 'SELECT count(*) AS n FROM jobs')).toEqual([{ n: 209 }])
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
  expect(await rows(app.db, 'SELECT id FROM jobs WHERE begun = 1')).toHaveLength(4)
  expect(await takeTurn(app.db, fifth?.job_id ?? '')).toBe(false)
  expect(app.ran.filter(({ command: [, , text] }) => text === START)).toEqual([])
})
