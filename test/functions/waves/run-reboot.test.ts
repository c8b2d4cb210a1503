import { expect, test } from 'vitest'
import { audited, rows } from '../answers.ts'
import { NO_UPGRADES } from './simulations.ts'
import { BOOT, MINUTE, wave, waveApp } from './wave-app.ts'

const REBOOT = { waves: [wave(['host'])], reboot: 'if_required' as const }

/** A run whose wave has ended, and whose check of the host has found that a reboot is required, or not. */
async function afterWaves({ required = true, given = {}, plans = { host: { stdout: NO_UPGRADES } } } = {}) {
  const all = await waveApp({ plans })
  const { db, begin, tick, endJob, jobsOf } = all
  const id = await begin({ ...REBOOT, ...given })
  const checkEnds = async () => {
    await expect
      .poll(
        async () => {
          await tick()
          return jobsOf(`kind = 'check'`)
        },
        { interval: 5 },
      )
      .toEqual(['host'])
    await db.run(`UPDATE checks SET summary = json_set(summary, '$.reboot.required', json(?)) WHERE target = 'host'`, [
      String(required),
    ])
    await endJob('host', null)
  }
  const rebootStarts = () =>
    expect
      .poll(
        async () => {
          await tick()
          return jobsOf(`kind = 'reboot' AND status = 'running'`)
        },
        { interval: 5 },
      )
      .toEqual(['host'])
  return { ...all, id, checkEnds, rebootStarts }
}

test('the host is rebooted after the last wave where a check finds it required', async () => {
  const { app, db, id, checkEnds, rebootStarts, endJob, ended } = await afterWaves()
  await checkEnds()

  await rebootStarts()
  expect(
    await rows(db, `SELECT args ->> '$.boot' AS boot, args ->> '$.until' AS until FROM jobs WHERE kind = 'reboot'`),
  ).toEqual([{ boot: BOOT, until: 1_795_000_000 + 900 }])
  await endJob('host', null)

  expect(await ended(id, 'done')).toMatchObject({ reboot: { outcome: 'rebooted', job_id: expect.any(String) } })
  expect(await audited(app.db)).toMatchObject([
    { action: 'check_start', username: 'alice' },
    { action: 'host_reboot', username: 'alice', details: { boot_id: BOOT, schedule_run: id } },
  ])
})

test('no reboot where none is required', async () => {
  const { id, checkEnds, ended, jobsOf } = await afterWaves({ required: false })
  await checkEnds()

  expect(await ended(id, 'done')).toMatchObject({ reboot: { outcome: 'not_required', job_id: null } })
  expect(await jobsOf(`kind = 'reboot'`)).toEqual([])
})

test('a schedule without the wish never looks', async () => {
  const { id, ended, jobsOf } = await afterWaves({ given: { reboot: 'never' } })

  expect(await ended(id, 'done')).toMatchObject({ reboot: null })
  expect(await jobsOf()).toEqual([])
})

test('after a failure the host is not rebooted', async () => {
  const plans = { host: { code: 1, stdout: '', stderr: 'no' } }
  const { id, ended, jobsOf } = await afterWaves({ plans: plans as never, given: { on_failure: 'continue' } })

  expect(await ended(id, 'done')).toMatchObject({ reboot: { outcome: 'skipped' } })
  expect(await jobsOf()).toEqual([])
})

test('a reboot that fails stops the run', async () => {
  const { id, checkEnds, rebootStarts, endJob, ended, stopped } = await afterWaves()
  await checkEnds()
  await rebootStarts()

  await endJob('host', null, 'error')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'reboot_failed', reboot: { outcome: 'failed' } })
  expect(await stopped()).toMatchObject([{ details: expect.stringContaining('"reason":"reboot_failed"') }])
})

test('a check without an answer stops the run, because nobody knows whether a reboot is required', async () => {
  const { id, ended, endJob, tick, jobsOf } = await afterWaves()
  await expect
    .poll(
      async () => {
        await tick()
        return jobsOf(`kind = 'check'`)
      },
      { interval: 5 },
    )
    .toEqual(['host'])

  await endJob('host', null, 'error')

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'reboot_failed', reboot: { outcome: 'check_failed' } })
  expect(await jobsOf(`kind = 'reboot'`)).toEqual([])
})

test('the reboot waits for a backup and for other jobs, and does not begin after the window', async () => {
  const { app, box, db, id, checkEnds, rebootStarts, ended, endJob, tick, jobsOf } = await afterWaves()
  box.backup = 'backup'
  await checkEnds()
  const reboots = () => jobsOf(`kind = 'reboot'`)
  for (let n = 0; n < 10; n += 1) await tick()
  expect(await reboots()).toEqual([])
  box.backup = 'free'
  const other = { kind: 'upgrade', args: { target: 'lxc:101' }, target: 'lxc:101', startedBy: 1 }
  await app.services.jobs.start(other)
  app.advance(10_000)
  for (let n = 0; n < 10; n += 1) await tick()
  expect(await reboots()).toEqual([])

  await endJob('lxc:101', 'upgraded')
  app.advance(50 * MINUTE)
  await rebootStarts()
  const [{ until } = {}] = await rows(db, `SELECT args ->> '$.until' AS until FROM jobs WHERE kind = 'reboot'`)
  expect(until).toBe(1_795_000_000 + 10 * 60 - 10)
  app.advance(20 * MINUTE)
  await endJob('host', null)
  expect(await ended(id, 'done')).toMatchObject({ reboot: { outcome: 'rebooted' } })
})

test('a window that closes before the reboot begins leaves the host as it is', async () => {
  const { app, box, id, checkEnds, ended, tick, jobsOf } = await afterWaves()
  box.backup = 'backup'
  await checkEnds()
  for (let n = 0; n < 5; n += 1) await tick()

  app.advance(60 * MINUTE)

  expect(await ended(id, 'window_closed')).toMatchObject({ reboot: { outcome: 'not_started' } })
  expect(await jobsOf(`kind = 'reboot'`)).toEqual([])
})

test('an owner without the right at that moment reboots nothing', async () => {
  const { box, id, checkEnds, ended, jobsOf } = await afterWaves()
  await checkEnds()
  box.groups = ['users']

  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'creator_kept_out', reboot: { outcome: 'not_started' } })
  expect(await jobsOf(`kind = 'reboot'`)).toEqual([])
})

test('an instance that dies right after the start of the reboot does not make a second one', async () => {
  const { db, id, checkEnds, rebootStarts, ended, endJob, tick, services, jobsOf } = await afterWaves()
  await checkEnds()
  await rebootStarts()
  await db.run(
    `UPDATE schedule_runs SET waves = json_set(waves, '$.reboot.job_id', NULL), lease_until = 0, owner = NULL`,
  )
  const other = { ...services, boot: { ...services.boot, id: 'boot-2' } }
  for (let n = 0; n < 5; n += 1) await tick(other)
  await endJob('host', null)
  for (let n = 0; n < 5; n += 1) await tick(other)

  expect(await ended(id, 'done')).toMatchObject({ reboot: { outcome: 'rebooted' } })
  expect(await jobsOf(`kind = 'reboot'`)).toEqual(['host'])
})

test('a reboot that waits when somebody cancels the run is withdrawn, and the run ends after it', async () => {
  const { app, db, id, checkEnds, rebootStarts, ended, endJob, tick, read } = await afterWaves()
  await checkEnds()
  await rebootStarts()
  await db.run(`UPDATE jobs SET begun = 0, launched = 0 WHERE kind = 'reboot'`)
  await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })

  await tick()
  const job = `SELECT cancelled_by FROM jobs WHERE kind = 'reboot'`
  expect(await rows(db, job)).toEqual([{ cancelled_by: 'alice' }])

  expect((await read(id)).state).toBe('running')
  await endJob('host', 'cancelled', 'error')

  expect((await ended(id, 'cancelled')).reboot).toMatchObject({ outcome: 'not_started', job_id: expect.any(String) })
  expect((await read(id)).reason).toBeNull()
})

test('a run that is cancelled while the host reboots ends when that has ended, and tells it', async () => {
  const { app, db, id, checkEnds, rebootStarts, ended, endJob, tick, read } = await afterWaves()
  await checkEnds()
  await rebootStarts()
  await expect.poll(() => rows(db, `SELECT begun FROM jobs WHERE kind = 'reboot'`)).toEqual([{ begun: 1 }])
  await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })

  for (let n = 0; n < 3; n += 1) await tick()
  expect((await read(id)).state).toBe('running')
  expect(await rows(db, `SELECT cancelled_by FROM jobs WHERE kind = 'reboot'`)).toEqual([{ cancelled_by: null }])
  await endJob('host', null)

  expect((await ended(id, 'cancelled')).reboot).toMatchObject({ outcome: 'rebooted' })
})
