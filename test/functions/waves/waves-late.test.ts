import { expect, test } from 'vitest'
import { takeTurn } from '../../../db/job-list.ts'
import { holdRuns } from '../../../db/schedules/runs.ts'
import type { Services } from '../../../functions/services.ts'
import { rows } from '../answers.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

/*
 * Runs that nobody carries on for a time, whose clock is set back, or whose schedule is changed meanwhile.
 */

/** A wave of five containers, of which four work and one waits. */
async function fiveStarted() {
  const numbers = [101, 102, 103, 104, 105]
  const containers = Object.fromEntries(numbers.map((n) => [n, 'running']))
  const all = await waveApp({ containers })
  const id = await all.begin({ waves: [wave(numbers.map((n) => `lxc:${n}`))] })
  await all.until(id, 0, 'running')
  await expect.poll(() => all.jobsOf('begun = 1')).toHaveLength(4)
  return { ...all, id }
}

/** Ends the jobs that work, without anybody who carries the run on, and lets the queue look several times. */
async function endsAlone({ app, endJob, jobsOf, services }: Awaited<ReturnType<typeof fiveStarted>>) {
  for (const n of [101, 102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')
  await services.jobs.maintain()
  const [{ job } = {}] = await rows(app.db, `SELECT id AS job FROM jobs WHERE target = 'lxc:105'`)
  const isTaken = await takeTurn(app.db, String(job), services.clock().toISOString())
  return { isTaken, begun: await jobsOf('begun = 1') }
}

test('a job that waits begins in the window, also while nobody carries the run on', async () => {
  const all = await fiveStarted()
  all.app.advance(60 * MINUTE - 1)

  expect(await endsAlone(all)).toMatchObject({ isTaken: true, begun: expect.arrayContaining(['lxc:105']) })
})

test.each([
  ['its window has closed', (all: Awaited<ReturnType<typeof fiveStarted>>) => all.app.advance(60 * MINUTE)],
  [
    'somebody has cancelled it',
    (all: Awaited<ReturnType<typeof fiveStarted>>) =>
      all.app.request('POST', `/api/schedules/runs/${all.id}/cancel`, { as: 'admin' }),
  ],
  [
    'it has to stop',
    (all: Awaited<ReturnType<typeof fiveStarted>>) => all.db.run(`UPDATE schedule_runs SET reason = 'regressed'`),
  ],
])('a job that waits has no turn once %s, also before anybody has withdrawn it', async (_, happens) => {
  const all = await fiveStarted()
  await happens(all)

  expect(await endsAlone(all)).toMatchObject({ isTaken: false, begun: expect.not.arrayContaining(['lxc:105']) })
  await expect
    .poll(async () => {
      await all.tick()
      return (await all.read(all.id)).state
    })
    .not.toBe('running')
  expect(await all.outcomes(all.id, 0)).toMatchObject({ 'lxc:101': 'upgraded', 'lxc:105': 'not_started' })
})

test('a schedule that is renamed while its jobs are withdrawn has not failed', async () => {
  const { app, db, id, tick, endJob, ended, outcomes, stopped } = await fiveStarted()
  app.advance(60 * MINUTE)
  await tick()
  await db.run(`UPDATE schedules SET name = 'Autre'`)
  await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })
  for (const n of [101, 102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')

  await ended(id, 'cancelled')
  expect(await outcomes(id, 0)).toMatchObject({ 'lxc:105': 'not_started' })
  expect(await stopped()).toEqual([])
})

test('a job of a wave that a person has cancelled is a failure', async () => {
  const { db, id, endJob, ended } = await fiveStarted()
  await db.run(`UPDATE jobs SET cancelled_by = 'bob' WHERE target = 'lxc:105'`)
  await endJob('lxc:105', 'cancelled', 'error')
  for (const n of [101, 102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'failed' })
})

test('a clock that is set back by a day makes no wave wait for a day', async () => {
  const { app, begin, until, endJob } = await waveApp()
  const id = await begin({ window_minutes: 1_440, waves: [wave(['lxc:101'], 10), wave(['lxc:102'])] })
  await until(id, 0, 'running')
  await endJob('lxc:101', 'upgraded')
  await until(id, 0, 'ended')

  app.advance(-24 * 60 * MINUTE)

  await until(id, 1, 'running')
})

test('a clock that was wrong by a year when the run began leaves no window open for a year', async () => {
  const { app, begin, ended, jobsOf } = await waveApp({ isAway: true })
  const id = await begin()

  app.advance(-365 * 24 * 60 * MINUTE)

  await ended(id, 'window_closed')
  expect(await jobsOf()).toEqual([])
})

test('a lease that the database has dated in the future, before its clock was set back, holds no run up', async () => {
  const { db, begin } = await waveApp()
  const id = await begin()
  await holdRuns(db, { owner: 'gone', leaseMs: 10_000 })
  expect(await holdRuns(db, { owner: 'boot-2', leaseMs: 10_000 })).toEqual([])

  await db.run('UPDATE schedule_runs SET lease_until = lease_until + 86400000')

  expect(await holdRuns(db, { owner: 'boot-2', leaseMs: 10_000 })).toMatchObject([{ id }])
})

test('whoever takes a schedule over while a wave is prepared has the rights that count, and the plans', async () => {
  const { app, db, box, begin, tick, until, read } = await waveApp()
  const { services } = app
  await app.tokenFor('user')
  const inspected: string[] = []
  const inspect = services.host.inspect.bind(services.host)
  services.host.inspect = async (...given: Parameters<Services['host']['inspect']>) => {
    inspected.push(given[0])
    return inspect(...given)
  }
  box.isAway = true
  const id = await begin()
  for (let n = 0; n < 3; n += 1) await tick()
  expect(new Set(inspected)).toEqual(new Set(['alice']))
  await db.run(`UPDATE users SET own_word = 'administrator', is_admin = 1 WHERE username = 'bob'`)
  await db.run(`UPDATE schedules SET created_by = (SELECT id FROM users WHERE username = 'bob')`)
  box.isAway = false

  await until(id, 0, 'running')
  const [{ made_by } = {}] = await rows(db, 'SELECT made_by FROM plans')
  expect(made_by).toBe('bob')
  expect((await read(id)).state).toBe('running')
})
