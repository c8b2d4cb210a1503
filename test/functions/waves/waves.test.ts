import { expect, test } from 'vitest'
import { NO_UPGRADES } from './simulations.ts'
import { audited, rows } from '../answers.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

test('waves run one after the other, each with plans made in that moment and the protection of its containers', async () => {
  const { app, box, begin, until, ended, endJob, outcomes, jobsOf, stopped } = await waveApp()
  const id = await begin()

  await until(id, 0, 'running')
  expect(box.planned).toEqual(['101'])
  expect(await jobsOf()).toEqual(['lxc:101'])
  await endJob('lxc:101', 'upgraded')
  await until(id, 1, 'running')
  expect(await jobsOf()).toEqual(['lxc:101', 'lxc:102', 'lxc:103'])
  await endJob('lxc:102', 'upgraded')
  await endJob('lxc:103', 'upgraded')

  expect(await ended(id, 'done')).toMatchObject({ reason: null, finished_at: expect.any(String) })
  expect(await outcomes(id, 1)).toEqual({ 'lxc:102': 'upgraded', 'lxc:103': 'upgraded' })
  expect(
    await rows(app.db, `SELECT args ->> '$.protection.before' AS before, plan_id IS NULL AS planless FROM jobs`),
  ).toEqual(Array(3).fill({ before: 'auto', planless: 0 }))
  expect(await rows(app.db, 'SELECT schedule_run_id FROM runs')).toEqual([
    { schedule_run_id: id },
    { schedule_run_id: id },
  ])
  expect(await audited(app.db)).toMatchObject(
    ['lxc:101', 'lxc:102', 'lxc:103'].map((target) => ({
      action: 'update_start',
      username: 'alice',
      target,
      details: { schedule_run: id, schedule: expect.any(String), plan: expect.any(String) },
    })),
  )
  expect(await stopped()).toEqual([])
})

test('a regression in the first wave ends the run: nothing more begins, and the event is there after one tick', async () => {
  const numbers = [101, 102, 103, 104, 105, 106]
  const containers = Object.fromEntries([...numbers, 107].map((n) => [n, 'running']))
  const { begin, tick, until, ended, endJob, outcomes, jobsOf, stopped } = await waveApp({ containers })
  const id = await begin({ waves: [wave(numbers.map((n) => `lxc:${n}`)), wave('rest')], on_failure: 'continue' })
  await until(id, 0, 'running')
  await expect.poll(() => jobsOf('begun = 1')).toHaveLength(4)

  await endJob('lxc:101', 'regressed')
  await tick()

  expect(await stopped()).toMatchObject([{ event: 'schedule_stopped', run: id, severity: 'critical' }])
  const [event] = await stopped()
  expect(JSON.parse(String(event?.details))).toEqual({
    schedule: expect.any(String),
    name: 'Nuit',
    timezone: 'UTC',
    happened: [{ target: 'lxc:101', name: 'lxc:101', outcome: 'regressed', reason: null }],
    run: id,
    wave: 1,
    waves: 2,
    reason: 'regressed',
    targets: ['lxc:101'],
  })
  for (const n of [102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')
  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'regressed' })
  expect(await outcomes(id, 0)).toEqual({
    'lxc:101': 'regressed',
    'lxc:102': 'upgraded',
    'lxc:103': 'upgraded',
    'lxc:104': 'upgraded',
    'lxc:105': 'not_started',
    'lxc:106': 'not_started',
  })
  expect(await outcomes(id, 1)).toEqual({ rest: 'not_started' })
  expect(await jobsOf(`launched = 1`)).toEqual([])
  expect(await jobsOf('begun = 1')).toEqual(['lxc:101', 'lxc:102', 'lxc:103', 'lxc:104'])
  expect(await stopped()).toHaveLength(1)
})

test.each(['rolled_back', 'rollback_failed'])('%s stops like a regression', async (outcome) => {
  const { begin, until, ended, endJob, outcomes } = await waveApp()
  const id = await begin({ on_failure: 'continue' })
  await until(id, 0, 'running')

  await endJob('lxc:101', outcome)

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'regressed' })
  expect(await outcomes(id, 1)).toEqual({ rest: 'not_started' })
})

test.each(['failed', 'plan_changed', 'cancelled'])('%s stops the run where the schedule says so', async (outcome) => {
  const { begin, until, ended, endJob, jobsOf, stopped } = await waveApp()
  const id = await begin()
  await until(id, 0, 'running')

  await endJob('lxc:101', outcome, 'error')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'failed' })
  expect(await jobsOf()).toEqual(['lxc:101'])
  expect(await stopped()).toHaveLength(1)
})

test('a failure does not stop a run that goes on', async () => {
  const { begin, until, ended, endJob, stopped } = await waveApp({ containers: { 101: 'running' } })
  const id = await begin({ on_failure: 'continue' })
  await until(id, 0, 'running')

  await endJob('lxc:101', 'failed', 'error')

  expect(await ended(id, 'done')).toMatchObject({ reason: null })
  expect(await stopped()).toEqual([])
})

test('a wave waits as long after the former one as the schedule says', async () => {
  const { app, begin, tick, until, endJob, read } = await waveApp()
  const id = await begin({ waves: [wave(['lxc:101'], 10), wave(['lxc:102'])] })
  await until(id, 0, 'running')
  await endJob('lxc:101', 'upgraded')
  await until(id, 0, 'ended')

  app.advance(10 * MINUTE - 1)
  await tick()
  expect((await read(id)).waves[1]?.state).toBe('waiting')
  app.advance(1)
  await until(id, 1, 'running')
})

test('when the window closes, running jobs end, those that wait are withdrawn, and no wave begins', async () => {
  const numbers = [101, 102, 103, 104, 105]
  const containers = Object.fromEntries([...numbers, 106].map((n) => [n, 'running']))
  const { app, begin, tick, until, ended, endJob, outcomes, jobsOf, read, stopped } = await waveApp({ containers })
  const id = await begin({ waves: [wave(numbers.map((n) => `lxc:${n}`)), wave('rest')] })
  await until(id, 0, 'running')
  await expect.poll(() => jobsOf('begun = 1')).toHaveLength(4)

  app.advance(60 * MINUTE)
  await tick()
  expect((await read(id)).state).toBe('running')
  for (const n of [101, 102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')

  expect(await ended(id, 'window_closed')).toMatchObject({ reason: null })
  expect(await outcomes(id, 0)).toMatchObject({ 'lxc:104': 'upgraded', 'lxc:105': 'not_started' })
  expect(await outcomes(id, 1)).toEqual({ rest: 'not_started' })
  expect(await jobsOf('begun = 1')).not.toContain('lxc:105')
  expect(await rows(app.db, `SELECT error FROM jobs WHERE target = 'lxc:105'`)).toEqual([
    { error: 'Annulé par la planification « Nuit »' },
  ])
  expect(await stopped()).toEqual([])
})

test('a run whose last jobs end after the window, with nothing left to begin, is done', async () => {
  const { app, begin, until, ended, endJob } = await waveApp()
  const id = await begin({ waves: [wave(['lxc:101'])] })
  await until(id, 0, 'running')

  app.advance(90 * MINUTE)
  await endJob('lxc:101', 'upgraded')

  await ended(id, 'done')
})

test('a cancelled run starts nothing more, and ends when its running jobs have', async () => {
  const numbers = [101, 102, 103, 104, 105]
  const containers = Object.fromEntries([...numbers, 106].map((n) => [n, 'running']))
  const { app, begin, tick, until, ended, endJob, outcomes, jobsOf, read } = await waveApp({ containers })
  const id = await begin({ waves: [wave(numbers.map((n) => `lxc:${n}`)), wave('rest')] })
  await until(id, 0, 'running')
  await expect.poll(() => jobsOf('begun = 1')).toHaveLength(4)

  expect((await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })).status).toBe(202)
  await tick()
  expect((await read(id)).state).toBe('running')
  for (const n of [101, 102, 103, 104]) await endJob(`lxc:${n}`, 'upgraded')

  expect(await ended(id, 'cancelled')).toMatchObject({ reason: null, cancelled_by: 'alice' })
  expect(await outcomes(id, 0)).toMatchObject({ 'lxc:101': 'upgraded', 'lxc:105': 'not_started' })
  expect(await outcomes(id, 1)).toEqual({ rest: 'not_started' })
  expect(await jobsOf('begun = 1')).not.toContain('lxc:105')
})

test('a run that is cancelled before its first wave has no job', async () => {
  const { app, begin, ended, jobsOf } = await waveApp()
  const id = await begin()

  await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })

  await ended(id, 'cancelled')
  expect(await jobsOf()).toEqual([])
})

test('targets without a plan have their outcome, and a wave of those alone ends', async () => {
  const { begin, ended, outcomes, read, jobsOf } = await waveApp({
    containers: { 101: 'running', 102: 'stopped', 103: 'running' },
    plans: { 101: { stdout: NO_UPGRADES }, 103: { code: 1, stderr: 'sh: no\nno such thing\n' } },
  })
  const id = await begin({ waves: [wave(['lxc:101', 'lxc:102', 'lxc:103', 'lxc:104'])], on_failure: 'continue' })

  await ended(id, 'done')

  expect(await outcomes(id, 0)).toEqual({
    'lxc:101': 'nothing_to_do',
    'lxc:102': 'skipped',
    'lxc:103': 'impossible',
    'lxc:104': 'impossible',
  })
  const reasons = (await read(id)).waves[0]?.jobs.map(({ target, reason }) => [target, reason])
  expect(Object.fromEntries(reasons ?? [])).toEqual({
    'lxc:101': null,
    'lxc:102': 'Le conteneur est arrêté : il n’est pas démarré pour cela.',
    'lxc:103': 'Le plan a échoué : no such thing',
    'lxc:104': 'L’hôte n’a pas de conteneur avec ce numéro.',
  })
  expect(await jobsOf()).toEqual([])
})

test('checks run in waves too, some at a time, and one that gets no answer is a failure', async () => {
  const numbers = [101, 102, 103, 104, 105]
  const containers = Object.fromEntries(numbers.map((n) => [n, 'running']))
  const { begin, tick, until, ended, endJob, outcomes, jobsOf, box } = await waveApp({ containers })
  const id = await begin({ action: 'check', waves: [wave(['host']), wave('rest')], on_failure: 'continue' })
  await until(id, 0, 'running')
  await tick()
  expect(await jobsOf(`kind = 'check'`)).toEqual(['host'])
  await endJob('host', null)
  await until(id, 1, 'running')
  await tick()
  expect(await jobsOf(`status = 'running'`)).toEqual(['lxc:101', 'lxc:102', 'lxc:103', 'lxc:104'])

  await endJob('lxc:101', null, 'success', `, parts = '[{"id":"lxc:101","name":"","state":"unanswered","code":null}]'`)
  await endJob('lxc:102', null, 'error', `, error = 'Erreur SSH : non'`)
  await tick()
  expect(await jobsOf(`status = 'running'`)).toEqual(['lxc:103', 'lxc:104', 'lxc:105'])
  for (const n of [103, 104, 105]) await endJob(`lxc:${n}`, null)

  await ended(id, 'done')
  expect(await outcomes(id, 1)).toMatchObject({
    'lxc:101': 'check_failed',
    'lxc:102': 'check_failed',
    'lxc:103': 'checked',
    'lxc:105': 'checked',
  })
  expect(box.planned).toEqual([])
})
