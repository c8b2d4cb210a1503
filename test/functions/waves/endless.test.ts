import { expect, test } from 'vitest'
import { ENDLESS } from '../../../functions/waves/wave-outcomes.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

const HOUR = 60 * MINUTE

test.each(['stop', 'continue'] as const)(
  'a job that never ends does not keep its run open, with on_failure %s',
  async (on_failure) => {
    const { app, begin, until, ended, tick, read, jobsOf, stopped } = await waveApp()
    const id = await begin({ on_failure })
    await until(id, 0, 'running')

    app.advance(HOUR + 11 * HOUR)
    for (let n = 0; n < 3; n += 1) await tick()
    expect((await read(id)).state).toBe('running')

    app.advance(HOUR)
    const run = await ended(id, 'stopped')
    expect(run).toMatchObject({ reason: 'failed' })
    expect(run.waves[0]?.jobs).toEqual([
      { target: 'lxc:101', job_id: expect.any(String), outcome: 'failed', reason: ENDLESS },
    ])
    expect(await jobsOf(`status = 'running'`)).toEqual(['lxc:101'])
    expect(await stopped()).toMatchObject([{ run: id, details: expect.stringContaining('"reason":"failed"') }])
  },
)

test('a check that never ends is no longer waited for two hours after the window', async () => {
  const { app, begin, until, ended, tick, jobsOf } = await waveApp()
  const id = await begin({ action: 'check', waves: [wave(['lxc:101'])] })
  await until(id, 0, 'running')
  await expect
    .poll(async () => {
      await tick()
      return jobsOf()
    })
    .toEqual(['lxc:101'])

  app.advance(3 * HOUR)

  expect((await ended(id, 'stopped')).waves[0]?.jobs).toMatchObject([{ outcome: 'failed', reason: ENDLESS }])
})

test('an error of the service itself is the reason of the stop, not a host that is away', async () => {
  const { app, services, begin, tick, ended, jobsOf } = await waveApp()
  services.host.exec = async () => {
    throw new TypeError('a mistake')
  }
  const id = await begin()
  for (let n = 0; n < 5; n += 1) await tick()

  app.advance(HOUR)

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'internal_error' })
  expect(await jobsOf()).toEqual([])
})

test('the event of a stop has the names of the containers, what happened to each, and the zone', async () => {
  const { db, begin, until, endJob, ended, stopped } = await waveApp()
  await db.run(`UPDATE checks SET name = 'web' WHERE target = 'lxc:101'`)
  const id = await begin({ waves: [wave(['lxc:101', 'lxc:102'])] })
  await until(id, 0, 'running')
  await db.run(`UPDATE checks SET name = 'web' WHERE target = 'lxc:101'`)
  await endJob('lxc:101', 'failed', 'error', `, error = 'E: x'`)
  await endJob('lxc:102', 'upgraded')
  await ended(id, 'stopped')

  const [told] = await stopped()
  expect(JSON.parse(String(told?.details))).toMatchObject({
    timezone: 'UTC',
    targets: ['lxc:101'],
    happened: [{ target: 'lxc:101', name: 'web', outcome: 'failed', reason: 'E: x' }],
  })
})

test('a service that comes back long after the window first takes up the ends of jobs', async () => {
  const { app, services, begin, until, tick, read, endJob, ended } = await waveApp()
  const id = await begin({ waves: [wave(['lxc:101'])] })
  await until(id, 0, 'running')
  app.advance(14 * HOUR)
  services.boot.startedAt = services.clock().toISOString()

  for (let n = 0; n < 3; n += 1) await tick()
  expect((await read(id)).state).toBe('running')
  await endJob('lxc:101', 'upgraded')

  expect((await ended(id, 'done')).waves[0]?.jobs).toMatchObject([{ outcome: 'upgraded' }])
})
