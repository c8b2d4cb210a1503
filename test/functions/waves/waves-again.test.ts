import { expect, test, vi } from 'vitest'
import { takeTurn } from '../../../db/job-list.ts'
import { ScheduleRunChanged } from '../../../db/job-start.ts'
import { holdRuns, saveRun, withdrawWaiting } from '../../../db/schedules/runs.ts'
import { StorageError } from '../../../db/libsql/database.ts'
import { partId } from '../../../functions/waves/held-run.ts'
import type { Services } from '../../../functions/services.ts'
import { rows } from '../answers.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

const AGAIN_MS = 10_000

/** Another instance with the same database. */
function instanceOf(services: Services, id: string): Services {
  return { ...services, boot: { ...services.boot, id } }
}

test.each([
  ['is no administrator any more', ['bob'], 'n’est plus administrateur'],
  ['is gone', [], 'n’est plus admis sur l’hôte'],
])('a run whose owner %s starts nothing and pauses its schedule', async (_, groups, why) => {
  const { app, begin, ended, jobsOf, stopped, outcomes } = await waveApp({ groups })
  const id = await begin()

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'creator_kept_out' })

  expect(await jobsOf()).toEqual([])
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'not_started' })
  expect(await rows(app.db, 'SELECT enabled, paused_reason FROM schedules')).toEqual([
    { enabled: 0, paused_reason: expect.stringContaining(why) },
  ])
  expect(await stopped()).toMatchObject([{ run: id, details: expect.stringContaining('"reason":"creator_kept_out"') }])
})

test('rights are asked for again before each wave', async () => {
  const { box, begin, until, ended, endJob, jobsOf } = await waveApp()
  const id = await begin()
  await until(id, 0, 'running')
  box.groups = ['users']
  await endJob('lxc:101', 'upgraded')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'creator_kept_out' })
  expect(await jobsOf()).toEqual(['lxc:101'])
})

test('a host that is away is asked again, and takes nobody’s rights', async () => {
  const { app, box, begin, tick, until, read } = await waveApp({ isAway: true })
  const id = await begin()
  for (let n = 0; n < 10; n += 1) await tick()
  expect((await read(id)).waves[0]?.state).toBe('planning')

  box.isAway = false
  app.advance(AGAIN_MS)
  await until(id, 0, 'running')

  expect(await rows(app.db, `SELECT is_admin FROM users WHERE username = 'alice'`)).toEqual([{ is_admin: 1 }])
})

test('a host that is away until the window closes stops the run', async () => {
  const { app, begin, tick, ended, stopped, jobsOf } = await waveApp({ isAway: true })
  const id = await begin()
  for (let n = 0; n < 5; n += 1) await tick()

  app.advance(60 * MINUTE)

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'host_away' })
  expect(await stopped()).toMatchObject([{ details: expect.stringContaining('"targets":["lxc:101"]') }])
  expect(await jobsOf()).toEqual([])
})

test('a container whose simulation is lost twice is impossible, and the others go on', async () => {
  const { services, begin, ended, endJob, outcomes, jobsOf, tick } = await waveApp()
  const { host } = services
  const exec = host.exec
  const { SshError } = await import('../../../ssh/connection.ts')
  host.exec = async (command, options) => {
    if (command[2] === '102' && command[1] === 'exec') throw new SshError('lost', 'pas de réponse')
    return exec(command, options)
  }
  const id = await begin({ waves: [wave('rest')], on_failure: 'continue' })
  await expect
    .poll(async () => {
      await tick()
      return jobsOf()
    })
    .toEqual(['lxc:101', 'lxc:103'])
  for (const target of ['lxc:101', 'lxc:103']) await endJob(target, 'upgraded')

  await ended(id, 'done')
  expect(await outcomes(id, 0)).toMatchObject({ 'lxc:102': 'impossible', 'lxc:103': 'upgraded' })
}, 30_000)

test('of two instances one carries a run out, and the other goes on when that one is gone', async () => {
  const { db, services, begin, tick, until, endJob, jobsOf, ended } = await waveApp()
  const other = instanceOf(services, 'boot-2')
  const id = await begin()
  await Promise.all([tick(), tick(other)])
  await until(id, 0, 'running')
  expect(await holdRuns(db, { owner: 'boot-2', leaseMs: 10_000 })).toEqual([])

  await db.run('UPDATE schedule_runs SET lease_until = 0')
  await endJob('lxc:101', 'upgraded')
  await tick(other)
  await expect
    .poll(async () => {
      await tick(other)
      return jobsOf()
    })
    .toEqual(['lxc:101', 'lxc:102', 'lxc:103'])
  await endJob('lxc:102', 'upgraded')
  await endJob('lxc:103', 'upgraded')
  await db.run('UPDATE schedule_runs SET lease_until = 0')
  await ended(id, 'done')
  expect(await jobsOf()).toHaveLength(3)
})

test('an instance that has lost a run stores nothing and starts nothing', async () => {
  const { db, services, begin, read } = await waveApp()
  const id = await begin()
  const [held] = await holdRuns(db, { owner: 'boot-1', leaseMs: 10_000 })
  if (!held) throw new Error('the run is not held')
  await db.run('UPDATE schedule_runs SET lease_until = 0')
  await holdRuns(db, { owner: 'boot-2', leaseMs: 10_000 })
  const before = await read(id)
  const former = { id, revision: held.revision, owner: 'boot-1' }
  const event = { sql: `INSERT INTO revisions (name, n) SELECT 'told', 1`, args: [] }

  expect(await saveRun(db, former, { waves: '{}', reason: 'failed' }, { more: [event], pause: 'non' })).toBe(false)

  const request = { kind: 'check', args: { target: 'host', mark: 'x' }, target: 'host', startedBy: held.created_by }
  await expect(services.jobs.startRun(partId({ id }, 0), [request], former)).rejects.toThrow(ScheduleRunChanged)
  expect(await read(id)).toEqual(before)
  expect(await rows(db, 'SELECT enabled FROM schedules')).toEqual([{ enabled: 1 }])
  expect(await rows(db, `SELECT name FROM revisions WHERE name = 'told'`)).toEqual([])
  expect(await rows(db, 'SELECT id FROM jobs')).toEqual([])
  expect(await rows(db, 'SELECT id FROM runs')).toEqual([])
})

test('an instance that dies between the start of a wave and its record leaves a run that is found, not started again', async () => {
  const { db, services, begin, tick, until, endJob, jobsOf, ended, outcomes, box } = await waveApp()
  const id = await begin({ waves: [wave(['lxc:101', 'lxc:102'])] })
  box.plans['102'] = { stdout: (await import('./simulations.ts')).NO_UPGRADES }
  await until(id, 0, 'running')
  // The row as the start has found it.
  await db.run(
    `UPDATE schedule_runs SET waves = json_set(waves, '$.waves[0].state', 'planning'), owner = NULL, lease_until = 0`,
  )
  box.planned = []

  const other = instanceOf(services, 'boot-2')
  for (let n = 0; n < 5; n += 1) await tick(other)

  expect(await jobsOf()).toEqual(['lxc:101'])
  expect(box.planned).toEqual([])
  await endJob('lxc:101', 'upgraded')
  await db.run('UPDATE schedule_runs SET lease_until = 0')
  await ended(id, 'done')
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'upgraded', 'lxc:102': 'nothing_to_do' })
})

test('a run that was cancelled after its plans were made starts none of them', async () => {
  const { app, services, begin, ended, jobsOf } = await waveApp()
  const id = await begin()
  const { jobs } = services
  const start = jobs.startRun.bind(jobs)
  jobs.startRun = async (...given) => {
    await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })
    return start(...given)
  }

  await ended(id, 'cancelled')

  expect(await jobsOf()).toEqual([])
  expect(await rows(app.db, 'SELECT id FROM plans WHERE job_id IS NOT NULL')).toEqual([])
})

test('a database that fails at any statement of a run, before or after it, leaves nothing done twice', async () => {
  const ends = new Map<string, number>()
  for (let fault = 1; fault <= 60; fault += 1) {
    const { app, db, begin, tick, read, jobsOf, outcomes } = await waveApp({
      containers: { 101: 'running', 102: 'running' },
    })
    const id = await begin({ window_minutes: 1_440, waves: [wave(['lxc:101']), wave('rest')] })
    const own = { batch: db.batch.bind(db), run: db.run.bind(db) }
    let calls = 0
    const failing =
      <given extends unknown[], result>(call: (...all: given) => Promise<result>) =>
      async (...all: given) => {
        calls += 1
        const isLost = calls === Math.ceil(fault / 2)
        if (isLost && fault % 2 === 1) throw new StorageError('away')
        const done = await call(...all)
        if (isLost) throw new StorageError('the answer is lost')
        return done
      }
    db.batch = failing(own.batch)
    db.run = failing(own.run)
    // The queue reads again after a second of its own.
    const state = await vi.waitUntil(
      async () => {
        await tick().catch((error: unknown) => expect(error).toBeInstanceOf(StorageError))
        const end = `UPDATE jobs SET status = 'success', outcome = 'upgraded', owner = NULL, epoch = epoch + 1 WHERE begun = 1 AND status = 'running'`
        await own.run(end)
        app.advance(1_000)
        const now = (await read(id)).state
        return now === 'running' ? undefined : now
      },
      { interval: 2, timeout: 30_000 },
    )
    const { reason } = await read(id)
    ends.set(`${state} ${reason}`, (ends.get(`${state} ${reason}`) ?? 0) + 1)
    // Jobs whose start was not confirmed never begin; a run is then not told that all is done.
    const started = await jobsOf()
    expect(started).toEqual(state === 'done' ? ['lxc:101', 'lxc:102'] : [...new Set(started)])
    if (state === 'done')
      expect({ ...(await outcomes(id, 0)), ...(await outcomes(id, 1)) }).toEqual({
        'lxc:101': 'upgraded',
        'lxc:102': 'upgraded',
      })
    else expect(reason).toBe('failed')
    expect(await rows(db, `SELECT id FROM jobs WHERE begun = 1 AND outcome IS NULL`)).toEqual([])
  }
  expect(ends.get('done null')).toBeGreaterThan(50)
}, 120_000)

test('a job that was withdrawn before its turn gets none, and one that works is left alone', async () => {
  const { db, begin, until, jobsOf } = await waveApp()
  const id = await begin()
  await until(id, 0, 'running')
  await expect.poll(() => jobsOf('begun = 1')).toEqual(['lxc:101'])
  const [{ job, run } = {}] = await rows(db, 'SELECT id AS job, run_id AS run FROM jobs')

  await withdrawWaiting(db, String(run), 'alice')
  expect(await rows(db, 'SELECT cancelled_by FROM jobs')).toEqual([{ cancelled_by: null }])
  await db.run('UPDATE jobs SET begun = 0')
  await withdrawWaiting(db, String(run), 'alice')

  expect(await rows(db, 'SELECT cancelled_by FROM jobs')).toEqual([{ cancelled_by: 'alice' }])
  expect(await takeTurn(db, String(job))).toBe(false)
})
