import { rm } from 'node:fs/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import type { TestHypervisor } from '../hypervisor.ts'
import { signIn } from './client.ts'
import { limitOps, rigHypervisor, useApi } from './hypervisor-api.ts'
import {
  calls,
  dpkgOf,
  expectOld,
  expectRolledBack,
  LOST,
  offer,
  otherContainer,
  protectingAs,
  publish,
  snapshots,
  versionOf,
} from './protecting.ts'
import { jobNotes } from './remains.ts'
import { inside, rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }

/** The API, and what it can do unless a test changes that. */
let hypervisor: TestHypervisor
let usual: Pick<TestHypervisor, 'nodes' | 'permissions'> & Pick<TestHypervisor['snapshots'], 'feature' | 'storages'>
/** A service whose account may not run the steps on snapshots, and whose token may. */
let service: Service
let alice: ReturnType<typeof protectingAs>
const restart: { folder: string; port: number } = { folder: '', port: 0 }
const begin = () => startService({ as: 'ops', isProtected: true, ...restart })
const begun = () => hypervisor.snapshots.begun

beforeAll(async () => {
  await rig('reset')
  await limitOps()
  hypervisor = await rigHypervisor()
  const { nodes, permissions, snapshots: of } = hypervisor
  usual = structuredClone({ nodes, permissions, feature: of.feature, storages: of.storages })
  Object.assign(restart, { folder: await newFolder(), port: await freePort() })
  service = await begin()
  const admin = await signIn(service, 'alice')
  await useApi(admin, hypervisor)
  alice = protectingAs(admin)
  return async () => {
    await service.kill()
    await hypervisor.close()
    await rm(restart.folder, { recursive: true, force: true })
  }
})

/** A container with rig-killer 2.0 on offer, and the API as it usually is. */
beforeEach(async () => {
  const { nodes, permissions, feature, storages } = structuredClone(usual)
  Object.assign(hypervisor, { nodes, permissions })
  Object.assign(hypervisor.snapshots, { feature, storages })
  await rig('reset', '101')
  await rig('snapshot-delay', '0')
  await rig('killer', '101', 'on')
  await rig('refresh', '101')
  begun().length = 0
  await calls()
})

test('without a sudo rule for snapshots, an upgrade that kills a service is rolled back by the API, and its snapshot can be removed', async () => {
  const other = await otherContainer()

  const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

  expectRolledBack(job)
  expect(job.output).toContain(`Logical volume "snap_vm-101-disk-0_panel-${job.job_id}" created.`)
  await expectOld()
  const name = `panel-${job.job_id}`
  expect(begun()).toEqual([`vzsnapshot 101 ${name}`, `vzrollback 101 ${name}`])
  expect(await calls()).toEqual([`snapshot 101 ${name}`, `rollback 101 ${name}`, 'start 101'])
  expect(await snapshots()).toEqual([name])

  expect(await alice.forget(job.job_id)).toMatchObject({ status: 'success' })

  expect(await snapshots()).toEqual([])
  expect((await alice.record(job.job_id)).snapshot).toMatchObject({ present: false })
  expect(await otherContainer()).toBe(other)
  const [, secret = ''] = hypervisor.token.split('=')
  expect(service.log()).not.toContain(secret)
  expect(
    await inside(
      'host',
      `grep -rl '[${secret[0]}]${secret.slice(1)}' /var/tmp /proc/[0-9]*/cmdline 2>/dev/null || true`,
    ),
  ).toBe('')
})

test('somebody rolls a regression back by the API, and a run keeps as many snapshots as the policy says', async () => {
  const job = await alice.upgrade('rig-killer', { on_failure: 'ask' })
  expect(job).toMatchObject({ outcome: 'regressed', regressions: expect.arrayContaining(LOST) })

  const back = await alice.rollBack(job.job_id)

  expect(back).toMatchObject({ outcome: 'rolled_back', status: 'success', phase: 'done' })
  await expectOld()

  await rig('in', 'host', 'pct', 'snapshot', '101', 'before-work')
  await rig('killer', '101', 'off')
  await offer('rig-calm')
  const second = await alice.upgrade('rig-calm', { keep: 2 })
  expect(second).toMatchObject({ outcome: 'upgraded' })
  await publish('rig-calm', '3.0')
  const third = await alice.upgrade('rig-calm', { keep: 1 })

  expect(third).toMatchObject({ outcome: 'upgraded' })
  expect((await snapshots()).sort()).toEqual(['before-work', `panel-${third.job_id}`])
})

test.each(['vzsnapshot', 'vzrollback'])(
  'a service that is killed while the hypervisor works (%s) comes to the same end, with each step once',
  async (type) => {
    await rig('snapshot-delay', '4000')
    const id = await alice.begin('rig-killer', { on_failure: 'rollback' })
    await expect.poll(() => begun().some((step) => step.startsWith(type)), PATIENCE).toBe(true)

    await service.kill()
    service = await begin()

    expect(await alice.ended(id)).toMatchObject({ outcome: 'rolled_back', regressions: expect.arrayContaining(LOST) })
    await expectOld()
    expect(begun()).toEqual([`vzsnapshot 101 panel-${id}`, `vzrollback 101 panel-${id}`])
    expect(await calls()).toEqual([`snapshot 101 panel-${id}`, `rollback 101 panel-${id}`, 'start 101'])
  },
)

test('a rollback waits for a service that is away, and its output says so', async () => {
  const id = await alice.begin('rig-killer', { on_failure: 'rollback' })
  await expect.poll(() => begun().length, PATIENCE).toBe(1)
  await expect.poll(jobNotes, PATIENCE).toContain('"upgraded"')

  await service.kill()
  await expect.poll(jobNotes, PATIENCE).toContain('api_rollback')
  const output = () => inside('host', 'cat /var/tmp/ops-panel-jobs-*/*/output')
  await expect.poll(output, PATIENCE).toContain('waiting for the service')
  expect(begun()).toHaveLength(1)
  service = await begin()

  expect(await alice.ended(id)).toMatchObject({ outcome: 'rolled_back' })
  await expectOld()
  expect(begun()).toEqual([`vzsnapshot 101 panel-${id}`, `vzrollback 101 panel-${id}`])
})

test.each<[string, string, (hypervisor: TestHypervisor) => void]>([
  [
    'a token without the right',
    'Permission check failed (/vms/101, VM.Snapshot)',
    ({ permissions }) => void delete permissions['/']?.['VM.Snapshot'],
  ],
  [
    'the API of another machine',
    'no node with the name of the host',
    (hypervisor) => (hypervisor.nodes = [{ node: 'other' }]),
  ],
  [
    'a pool that is nearly full',
    'no room for a snapshot: local-lvm: 97 %',
    ({ snapshots: { storages } }) => (storages['local-lvm'] = { type: 'lvmthin', total: 100, used: 97 }),
  ],
  ['a storage without snapshots', 'snapshot feature is not available', ({ snapshots: of }) => (of.feature = 0)],
])('with %s, nothing is upgraded without the snapshot that was asked for', async (_title, reason, prepare) => {
  prepare(hypervisor)
  const state = await dpkgOf()

  const job = await alice.upgrade('rig-killer', { before: 'snapshot' })

  expect(job).toMatchObject({
    status: 'error',
    error_code: 'protection_unavailable',
    outcome: 'failed',
    snapshot: null,
  })
  expect(job.reason).toContain(reason)
  expect(await dpkgOf()).toBe(state)
  expect(begun()).toEqual([])
  expect(await snapshots()).toEqual([])
})

test('with auto, a storage without snapshots lets the upgrade go on, which says so', async () => {
  hypervisor.snapshots.feature = 0

  const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

  expect(job).toMatchObject({ outcome: 'regressed', snapshot: null, unprotected: 'snapshot feature is not available' })
})

test('a lock that a step has left is not taken away by the API, and the reason says what to do', async () => {
  const job = await alice.upgrade('rig-killer', { on_failure: 'ask' })
  expect(job).toMatchObject({ outcome: 'regressed' })
  await rig('ct-lock', '101', 'snapshot-delete')

  const back = await alice.rollBack(job.job_id)

  expect(back).toMatchObject({ status: 'error', error_code: 'rollback_impossible' })
  expect(back.reason).toContain('pct unlock 101')
  expect(await versionOf('rig-killer')).toBe('2.0')
})

test('a run that is cancelled during its snapshot ends with what the API says of it, and the snapshot stays', async () => {
  await limitOps('list', 'exec *')
  await rig('snapshot-delay', '15000')
  const id = await alice.begin('rig-killer')
  await expect.poll(() => begun().length, PATIENCE).toBe(1)

  expect(await alice.refused('post', `/api/updates/jobs/${id}/cancel`)).toMatchObject({ status: 202 })

  const job = await alice.ended(id)
  await limitOps()
  expect(job).toMatchObject({ outcome: 'cancelled', snapshot: { name: `panel-${id}`, present: true } })
  expect(job.output).toContain(`L’instantané panel-${id} est là`)
  expect(await versionOf('rig-killer')).toBe('1.0')
  expect(begun()).toEqual([`vzsnapshot 101 panel-${id}`])
})

test('an account whose rule allows the steps uses no API', async () => {
  await inside('host', "echo 'ops ALL=(root) NOPASSWD: /usr/bin/apt-get, /usr/sbin/pct' >/etc/sudoers.d/ops")

  const job = await alice.upgrade('rig-killer', { on_failure: 'rollback' })

  await limitOps()
  expect(job).toMatchObject({ outcome: 'rolled_back' })
  expect(begun()).toEqual([])
})
