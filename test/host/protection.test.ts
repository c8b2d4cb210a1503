import { beforeAll, describe, expect, test } from 'vitest'
import { signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import {
  calls,
  expectOld,
  expectRolledBack,
  LOST,
  offer,
  otherContainer,
  PHASES,
  protectingAs,
  publish,
  snapshots,
  stateOf,
  versionOf,
} from './protecting.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

let alice: ReturnType<typeof protectingAs>

/** Starts the service with its own policy on a new host. */
async function start(account: Account): Promise<() => Promise<void>> {
  await rig('reset')
  if (account === 'narrow') await narrowAccount()
  const service = await startService({ as: account, isProtected: true })
  alice = protectingAs(await signIn(service, 'alice'))
  return () => service.stop()
}

/** A container with rig-killer 2.0 on offer, and otherwise new. */
async function threaten(): Promise<void> {
  await rig('reset', '101')
  await rig('killer', '101', 'on')
  await rig('refresh', '101')
  await calls()
}

describe.each<[Account]>([['root'], ['alice'], ['ops'], ['narrow']])('under the service account %s', (account) => {
  beforeAll(() => start(account))

  test('an upgrade that kills a service is found and rolled back, and nothing else is touched', async () => {
    await threaten()
    const other = await otherContainer()

    const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

    expectRolledBack(job)
    expect(job.outage_seconds).toBeGreaterThanOrEqual(0)
    expect(job.outage_seconds).toBeLessThan(60)
    expect(job.phases.map(({ phase }) => phase)).toEqual([...PHASES, 'done'])
    expect(job.comparison?.filter(({ state }) => state === 'worse').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['rig-listener.service', 'tcp/7777']),
    )
    expect(job.comparison).toContainEqual(expect.objectContaining({ name: 'rig-second.service', state: 'same' }))
    await expectOld()
    expect(await otherContainer()).toBe(other)
    expect(await snapshots()).toEqual([`panel-${job.job_id}`])
    expect(await calls()).toEqual([`snapshot 101 panel-${job.job_id}`, `rollback 101 panel-${job.job_id}`])
    // The job's folder goes with the program in it, a moment after the end.
    await expect.poll(() => inside('host', `find /var/tmp/ops-panel-jobs-* -name '*program*'`)).toBe('')
  })

  test('where the policy asks, the regression stays until somebody rolls it back', async () => {
    await threaten()
    const other = await otherContainer()

    const job = await alice.upgrade('rig-killer', { on_failure: 'ask' })

    expect(job).toMatchObject({ outcome: 'regressed', regressions: expect.arrayContaining(LOST), decided: null })
    expect(await versionOf('rig-killer')).toBe('2.0')
    expect(await stateOf('rig-listener')).toBe('failed')

    const back = await alice.rollBack(job.job_id)

    expect(back).toMatchObject({ outcome: 'rolled_back', status: 'success', phase: 'done' })
    expect(back.outage_seconds).toBeGreaterThanOrEqual(0)
    await expectOld()
    const { decided, snapshot } = await alice.record(job.job_id)
    expect(decided).toMatchObject({ choice: 'rollback', job_id: back.job_id })
    expect(snapshot?.present).toBe(true)
    expect(await otherContainer()).toBe(other)
  })
})

describe('with the service account root', () => {
  beforeAll(() => start('root'))

  test('an upgrade that somebody keeps stays, and its snapshot can be removed', async () => {
    await threaten()
    const { job_id } = await alice.upgrade('rig-killer')
    const of = (action: string) => `/api/updates/jobs/${job_id}/${action}`

    expect(await alice.refused('post', of('keep'))).toMatchObject({ status: 200 })
    expect(await alice.refused('post', of('keep'))).toMatchObject({ status: 200 })
    expect(await alice.record(job_id)).toMatchObject({ decided: { choice: 'keep' }, snapshot: { present: true } })

    expect(await alice.forget(job_id)).toMatchObject({ status: 'success' })

    expect(await snapshots()).toEqual([])
    expect((await alice.record(job_id)).snapshot).toMatchObject({ present: false })
    expect(await versionOf('rig-killer')).toBe('2.0')
    expect(await alice.refused('delete', of('snapshot'))).toEqual({ status: 409, code: 'snapshot_missing' })
    expect(await alice.refused('post', of('rollback'))).toEqual({ status: 409, code: 'rollback_impossible' })
  })

  test('a run keeps as many snapshots as the policy says, and removes only its own', async () => {
    await rig('reset', '101')
    await rig('install', '101', 'rig-calm', '1.0')
    const foreign = ['before-work', 'panel-old', 'panel-1772366400-k3x9q2pax']
    for (const name of foreign) await rig('in', 'host', 'pct', 'snapshot', '101', name)
    const jobs: string[] = []
    for (const version of ['2.0', '3.0', '4.0']) {
      await publish('rig-calm', version)
      const { job_id, outcome } = await alice.upgrade('rig-calm', { keep: 2 })
      expect(outcome).toBe('upgraded')
      jobs.push(job_id)
    }

    expect(await versionOf('rig-calm')).toBe('4.0')
    expect((await snapshots()).sort()).toEqual([...foreign, `panel-${jobs[1]}`, `panel-${jobs[2]}`].sort())
    const present = await Promise.all(jobs.map(async (id) => (await alice.record(id)).snapshot?.present))
    expect(present).toEqual([false, true, true])
  })

  test('a package whose upgrade leaves every Docker container dead is rolled back: November 2025', async () => {
    await rig('reset', '101')
    await rig('docker', '101', 'on')
    await rig('refresh', '101')

    const job = await alice.upgrade('rig-runtime', { on_failure: 'rollback' })

    expect(job).toMatchObject({ outcome: 'rolled_back', exit_code: 0 })
    expect(job.regressions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(['docker db', 'docker web'])
    expect(job.regressions[0]?.message).toContain('exited 128')
    expect(await versionOf('rig-runtime')).toBe('1.0')
    await expect.poll(() => inside('101', 'docker ps --format "{{.Names}}"'), { timeout: 30_000 }).toBe('db\nweb')
  })

  test('a service that comes back between the two looks is unsteady, and no regression', async () => {
    await rig('reset', '101')
    await rig('flap', '101', 'on', '15')
    await rig('refresh', '101')

    const job = await alice.upgrade('rig-flap', { on_failure: 'rollback', settle_seconds: 10 })

    expect(job).toMatchObject({ outcome: 'upgraded', regressions: [] })
    expect(job.comparison).toContainEqual(expect.objectContaining({ name: 'rig-second.service', state: 'unsteady' }))
    expect(await versionOf('rig-flap')).toBe('2.0')
  })

  test('what has failed before an upgrade is no regression', async () => {
    await rig('reset', '101')
    await rig('units', '101', 'on')
    await rig('units', '101', 'fail', 'rig-second')
    await offer('rig-calm')

    const job = await alice.upgrade('rig-calm', { on_failure: 'rollback' })

    expect(job).toMatchObject({ outcome: 'upgraded', regressions: [] })
    expect(job.comparison).toContainEqual(expect.objectContaining({ name: 'rig-second.service', state: 'same' }))
    expect(await versionOf('rig-calm')).toBe('2.0')
  })
})
