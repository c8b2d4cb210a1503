import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob, type JobPart, markLaunched } from '../../../db/jobs.ts'
import { type Database, StorageError } from '../../../db/libsql/database.ts'
import { saveUser } from '../../../db/users.ts'
import cancel from '../../../functions/jobs/cancel.post.ts'
import jobs from '../../../functions/jobs/jobs.get.ts'
import run from '../../../functions/runs/run.post.ts'
import { createJobList } from '../../../jobs/list.ts'
import { testApp } from '../../app.ts'
import { openMigrated } from '../../db/database.ts'
import { recordJob } from '../../db/job.ts'
import { answered, refused, unprotected } from '../answers.ts'
import { jobHost } from './job-host.ts'

const AT = '2026-03-01T11:00:00.000Z'
const LATER = '2026-03-01T11:05:00.000Z'
const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const UPGRADES = [{ kind: 'upgrade', limit: 50 }]
const Told = z.object({ jobs: z.array(z.looseObject({ job_id: z.string(), kind: z.string().optional() })) })

async function listApp() {
  const app = await testApp([jobs, run, cancel], { fake: jobHost({}) })
  const read = async (query = '') => app.request('GET', `/api/updates/jobs${query}`, { as: 'user' })
  return { ...app, read }
}

test('each job is listed with its result and its user, without its output', async () => {
  const { db, read } = await listApp()
  const parts: JobPart[] = [
    { id: '101', name: 'web', state: 'done', code: 0 },
    { id: '103', name: 'old', state: 'stopped', code: 255 },
    { id: 'x y', name: 'no container', state: 'done', code: 0 },
  ]
  const all = await recordJob(db, 'all', { target: 'all', started_at: LATER })
  await markLaunched(db, all, parts)
  const one = await recordJob(db, 'one', { started_at: AT })
  await endJob(db, one, { ...SUCCESS, status: 'error', error: 'Erreur', error_code: 'job_killed' }, { now: LATER })

  expect(await answered(await read(), 200)).toEqual({
    // The start of a job on the host counts too.
    version: '2.1.1',
    jobs: [
      {
        job_id: 'all',
        target: 'all',
        status: 'running',
        started_at: LATER,
        exit_code: null,
        error_code: null,
        started_by_name: 'bob',
        containers: [
          { vmid: 101, name: 'web', state: 'done', exit_code: 0 },
          { vmid: 103, name: 'old', state: 'stopped', exit_code: 255 },
        ],
        warnings: [],
        run_id: null,
        plan_id: null,
        plan_difference: null,
        ...unprotected('upgrading'),
      },
      {
        job_id: 'one',
        target: 'host',
        status: 'error',
        started_at: AT,
        finished_at: LATER,
        exit_code: 0,
        error_code: 'job_killed',
        started_by_name: 'bob',
        containers: null,
        warnings: [],
        run_id: null,
        plan_id: null,
        plan_difference: null,
        ...unprotected('done', 'failed'),
      },
    ],
  })
})

test('checks and repairs are listed with their kind: the last ten ended ones of each, and all running ones', async () => {
  const { db, read, request } = await listApp()
  const at = (minute: number) => `2026-03-01T10:${`${minute}`.padStart(2, '0')}:00.000Z`
  const old = { kind: 'check', args: '{}', queue: '', target: 'lxc:101', started_at: at(0) }
  await recordJob(db, 'still', old)
  for (let n = 1; n <= 12; n += 1) {
    const check = await recordJob(db, `check-${n}`, { ...old, target: 'all', started_at: at(n) })
    await endJob(db, check, SUCCESS, { now: LATER })
  }
  const { id: started_by } = await saveUser(db, 'alice', true, AT)
  await recordJob(db, 'repair', { kind: 'remedy', args: '{}', started_at: at(20), started_by })
  await recordJob(db, 'upgrade', { started_at: at(21) })
  await recordJob(db, 'action', { kind: 'container', args: '{}', queue: '', started_at: at(22) })

  const listed = Told.parse(await answered(await read(), 200))

  expect(listed.jobs.map(({ job_id, kind }) => `${job_id} ${kind ?? '-'}`)).toEqual([
    'upgrade -',
    'repair remedy',
    ...Array.from({ length: 10 }, (_, n) => `check-${12 - n} check`),
    'still check',
  ])
  expect(listed.jobs.at(1)).toEqual({
    job_id: 'repair',
    kind: 'remedy',
    target: 'host',
    status: 'running',
    started_at: at(20),
    exit_code: null,
    error_code: null,
    started_by_name: 'alice',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    ...unprotected(null),
  })
  // Seeing another user's job gives no right to cancel it.
  await refused(await request('POST', '/api/updates/jobs/repair/cancel', { as: 'user' }), 403, 'forbidden')
})

test('a client with the current version waits until a job begins or ends; without jobs the list is empty', async () => {
  const app = await listApp()
  expect(await answered(await app.read(), 200)).toEqual({ version: '0.0.0', jobs: [] })
  expect(await answered(await app.read('?since=0.0.0'), 200)).toEqual({ version: '0.0.0', jobs: null })

  await answered(await app.request('POST', '/api/updates/run', { as: 'user', body: { target: 'host' } }), 202)

  // This is no coincidence: a caller that has just started a job never gets an earlier read.
  expect(await answered(await app.read('?since=0.0.0'), 200)).toMatchObject({ jobs: [{ target: 'host' }] })
  const ended = async () => answered(await app.read('?since=1.1.0'), 200)
  await expect.poll(ended).toMatchObject({ version: '1.0.1', jobs: [{ target: 'host', status: 'success' }] })
})

test('an unknown value of since counts as no version, and an overlong one is refused', async () => {
  const { read } = await listApp()

  expect(await answered(await read('?since=nonsense'), 200)).toMatchObject({ jobs: [] })
  await refused(await read(`?since=${'1'.repeat(65)}`), 400, 'invalid_request')
  await refused(await (await testApp([jobs])).request('GET', '/api/updates/jobs'), 401, 'unauthenticated')
})

/** The list over a database that counts its queries, and fails on request. */
async function counted() {
  const db = await openMigrated()
  const state = { asked: 0, now: 0, fails: false }
  const counting: Database = {
    ...db,
    query(row, sql, args) {
      state.asked += 1
      return state.fails ? Promise.reject(new StorageError('away')) : db.query(row, sql, args)
    },
  }
  return { db, state, list: createJobList(counting, () => state.now) }
}

test('two hundred simultaneous clients cost two statements, and then one every quarter of a second', async () => {
  const { db, state, list } = await counted()
  await recordJob(db, 'job')
  const crowd = () => Promise.all(Array.from({ length: 200 }, () => list.newest(UPGRADES)))

  await crowd()
  expect(state.asked).toBe(2)
  state.now += 249
  await crowd()
  expect(state.asked).toBe(2)
  state.now += 1
  await crowd()
  expect(state.asked).toBe(3)
})

test('a job of another instance appears within a quarter of a second, a job of this one at once', async () => {
  const { db, state, list } = await counted()
  const ids = async () => (await list.newest(UPGRADES)).jobs.map(({ id }) => id)
  expect(await ids()).toEqual([])

  await recordJob(db, 'theirs')
  expect(await ids()).toEqual([])
  state.now += 250
  expect(await ids()).toEqual(['theirs'])

  const before = ids()
  const job = await recordJob(db, 'mine')
  list.changed()
  await before
  expect(await ids()).toHaveLength(2)
  const running = (await list.newest(UPGRADES)).version
  await endJob(db, job, SUCCESS, { now: LATER })
  list.changed()
  expect((await list.newest(UPGRADES)).version).not.toBe(running)
})

test('a database failure is reported to the waiting clients, and the next request asks again', async () => {
  const { state, list } = await counted()
  state.fails = true
  await expect(list.newest(UPGRADES)).rejects.toThrow(StorageError)
  state.fails = false

  expect((await list.newest(UPGRADES)).jobs).toEqual([])
})
