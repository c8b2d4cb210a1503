import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { calls, dpkgOf, offer, protectingAs, snapshots, stateOf, versionOf } from './protecting.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

let alice: ReturnType<typeof protectingAs>
const start = async (account: Account) => {
  await rig('reset')
  if (account === 'narrow') await narrowAccount()
  const service = await startService({ as: account, isProtected: true })
  alice = protectingAs(await signIn(service, 'alice'))
  return () => service.stop()
}
beforeEach(() => rig('reset', '101'))

/** How full the thin pool is then, in percent of its data. */
const FILL = '99.87'
const LVM = `lvcreate snapshot 'pve/snap_`

/** The causes that keep a snapshot from being made, and the words of the hypervisor or of the service. */
const REFUSALS: [title: string, words: string[], reason: string][] = [
  ['a locked container', ['ct-lock', '101', 'backup'], 'CT is locked (backup)'],
  ['a snapshot that fails', ['ct-fault', '101', 'snapshot-fail'], LVM],
  ['a pool that is full', ['ct-fault', '101', 'thin-full'], FILL],
]

/** Where the storage has no snapshots at all. */
const INCAPABLE: [title: string, words: string[]][] = [
  ['a bind mount', ['mount', '101', 'bind']],
  ['a root in a folder', ['storage', '101', 'dir']],
]

const IMPOSSIBLE = 'snapshot feature is not available'

describe.each<[Account]>([['root'], ['ops'], ['narrow']])(
  'under the service account %s, nothing is upgraded without the snapshot that was asked for',
  (account) => {
    beforeAll(() => start(account))

    test.each([
      ...REFUSALS.flatMap(([title, words, reason]) =>
        ['auto', 'snapshot'].map((before) => [title, before, words, reason] as const),
      ),
      ...INCAPABLE.map(([title, words]) => [title, 'snapshot', words, IMPOSSIBLE] as const),
    ])('with %s and %s', async (_title, before, words, reason) => {
      await offer('rig-calm')
      await rig(...words)
      const state = await dpkgOf()
      await calls()

      const job = await alice.upgrade('rig-calm', { before })

      expect(job).toMatchObject({
        status: 'error',
        error_code: 'protection_unavailable',
        outcome: 'failed',
        snapshot: null,
      })
      // The limited rule may not ask how full the pools are: the hypervisor refuses.
      const told = account === 'ops' && reason === FILL ? LVM : reason
      expect(job.reason).toContain(told)
      expect(job.output).toContain(told)
      expect(await dpkgOf()).toBe(state)
      expect(await snapshots()).toEqual([])
      expect((await calls()).filter((call) => !call.startsWith('snapshot 101 panel-'))).toEqual([])
      if (words[0] !== 'ct-lock') expect(await inside('host', 'grep -c ^lock: /etc/pve/lxc/101.conf || true')).toBe('0')
    })
  },
)

describe('under the service account root', () => {
  beforeAll(() => start('root'))

  test.each(INCAPABLE)(
    'with %s and auto, the upgrade goes on without a snapshot, says so and compares',
    async (_title, words) => {
      await rig('killer', '101', 'on')
      await rig('refresh', '101')
      await rig(...words)

      const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

      expect(job).toMatchObject({
        outcome: 'regressed',
        snapshot: null,
        unprotected: expect.stringContaining(IMPOSSIBLE),
      })
      expect(job.regressions.map(({ name }) => name)).toContain('rig-listener.service')
      expect(await versionOf('rig-killer')).toBe('2.0')
      expect(await alice.refused('post', `/api/updates/jobs/${job.job_id}/rollback`)).toEqual({
        status: 409,
        code: 'rollback_impossible',
      })
    },
  )

  test('a rollback that fails is told, leaves the snapshot, and can be tried again', async () => {
    await rig('killer', '101', 'on')
    await rig('refresh', '101')
    await rig('ct-fault', '101', 'rollback-fail')

    const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

    expect(job).toMatchObject({ outcome: 'rollback_failed', reason: expect.stringContaining('in use') })
    expect(job.snapshot).toMatchObject({ name: `panel-${job.job_id}`, present: true })
    expect(await rig('in', 'host', 'pct', 'status', '101')).toBe('status: stopped')

    await rig('ct-fault', '101', 'off')
    const back = await alice.rollBack(job.job_id)

    expect(back).toMatchObject({ outcome: 'rolled_back', status: 'success' })
    expect(await versionOf('rig-killer')).toBe('1.0')
    await expect.poll(() => stateOf('rig-listener'), { timeout: 30_000 }).toBe('active')
  })

  test('on ZFS, a newer snapshot keeps an upgrade from being rolled back, and stays', async () => {
    await rig('storage', '101', 'zfs')
    await rig('killer', '101', 'on')
    await rig('refresh', '101')
    const job = await alice.upgrade('rig-killer')
    expect(job).toMatchObject({ outcome: 'regressed', snapshot: { present: true } })
    await rig('in', 'host', 'pct', 'snapshot', '101', 'newer')

    const back = await alice.rollBack(job.job_id)

    expect(back).toMatchObject({
      outcome: 'rollback_failed',
      reason: expect.stringContaining('is not most recent snapshot'),
    })
    expect(await rig('in', 'host', 'pct', 'status', '101')).toBe('status: running')
    expect(await versionOf('rig-killer')).toBe('2.0')
    expect((await snapshots()).sort()).toEqual(['newer', `panel-${job.job_id}`])

    await rig('in', 'host', 'pct', 'delsnapshot', '101', 'newer')

    expect(await alice.rollBack(job.job_id)).toMatchObject({ outcome: 'rolled_back' })
    expect(await versionOf('rig-killer')).toBe('1.0')
  })

  test('a ZFS pool that is full takes no snapshot, and nothing is upgraded', async () => {
    await offer('rig-calm')
    await rig('storage', '101', 'zfs')
    await rig('ct-fault', '101', 'thin-full')
    const state = await dpkgOf()

    const job = await alice.upgrade('rig-calm')

    expect(job).toMatchObject({ error_code: 'protection_unavailable', reason: expect.stringContaining('98') })
    expect(await dpkgOf()).toBe(state)
  })
})
