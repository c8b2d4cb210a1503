import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { archives, BACKUP, calm, files, refusedRollback, startBacking, threaten } from './backing.ts'
import { publish, snapshots, stateOf, versionOf } from './protecting.ts'
import { inside, rig } from './rig.ts'

const VAULT = /^vault:backup\/ct\/101\/\d{4}-\d\d-\d\dT[\d:]{8}Z$/

type Started = Awaited<ReturnType<typeof startBacking>>
let { alice, caller }: Pick<Started, 'alice' | 'caller'> = {} as Started
beforeAll(async () => {
  const { service, ...started } = await startBacking('root')
  ;({ alice, caller } = started)
  return () => service.stop()
})

test('a volume that is not in the backup is named before it is destroyed', async () => {
  await threaten()
  await rig('mount', '101', 'volume')
  const { job_id } = await alice.upgrade('rig-killer', BACKUP)

  const refusal = await refusedRollback(caller, job_id)

  expect(refusal).toMatchObject({ status: 409, destroys: ['mp0 (/srv/volume)'] })
  expect(refusal.error).toContain('mp0 (/srv/volume)')

  // The archive does not have it, whatever the configuration says since.
  await rig('mount', '101', 'volume-backup')
  expect((await refusedRollback(caller, job_id)).destroys).toEqual(['mp0 (/srv/volume)'])
  await rig('mount', '101', 'bind')
  expect((await refusedRollback(caller, job_id)).destroys).toEqual([])
  await rig('mount', '101', 'volume')

  expect(await alice.rollBack(job_id, { restore: true })).toMatchObject({ outcome: 'rolled_back' })
})

test('a restoration that fails says so, and can be asked for again although it has destroyed the container', async () => {
  await threaten()
  await rig('mount', '101', 'volume-backup')
  const { job_id, snapshot } = await alice.upgrade('rig-killer', { ...BACKUP, backup_storage: 'vault' })
  expect(snapshot?.name).toMatch(VAULT)
  expect((await refusedRollback(caller, job_id)).destroys).toEqual([])
  await rig('ct-fault', '101', 'restore-fail')

  const failed = await alice.rollBack(job_id, { restore: true })

  expect(failed).toMatchObject({ outcome: 'rollback_failed', reason: expect.stringContaining('tar xpf') })
  expect(failed.output).toContain('the backup is still there: vault:backup/ct/101/')
  expect(await inside('host', 'ls /etc/pve/lxc')).not.toContain('101.conf')

  await rig('ct-fault', '101', 'off')
  const back = await alice.rollBack(job_id, { restore: true })

  expect(back).toMatchObject({ outcome: 'rolled_back', status: 'success' })
  expect(await versionOf('rig-killer')).toBe('1.0')
  await expect.poll(() => stateOf('rig-listener'), { timeout: 30_000 }).toBe('active')
  expect(await inside('host', 'cat /etc/pve/lxc/101.conf')).toContain('unprivileged: 1')

  expect(await alice.forget(job_id)).toMatchObject({ status: 'success' })
  expect(await files()).toBe('')
})

test('a volume that comes after the answer stops the restoration', async () => {
  await calm()
  const { job_id } = await alice.upgrade('rig-calm', BACKUP)
  await rig('pct-delay', '1000')
  const answer = await caller.post(`/api/updates/jobs/${job_id}/rollback`, { restore: true })
  const volume = 'mp7: local-lvm:vm-101-disk-7,mp=/srv/late,backup=1,size=1G'
  await inside('host', `sed -i '1i ${volume}' /etc/pve/lxc/101.conf; echo 0 >/etc/rig/pct-delay`)

  const back = await alice.ended(z.looseObject({ job_id: z.string() }).parse(answer.body).job_id)

  expect(back).toMatchObject({ status: 'error', error_code: 'rollback_impossible' })
  expect(back.output).toContain('the volume mp7 is not in the backup')
  expect(await rig('in', 'host', 'pct', 'status', '101')).toBe('status: running')
})

test('an archive that is gone is not restored, and the container stays as it is', async () => {
  await calm()
  const { job_id } = await alice.upgrade('rig-calm', BACKUP)
  await inside('host', 'rm /mnt/pve/nas/dump/vzdump-lxc-101-*')

  const back = await alice.rollBack(job_id, { restore: true })

  expect(back).toMatchObject({ status: 'error', error_code: 'rollback_impossible' })
  expect(back.output).toContain('the backup is not there any more')
  expect(await rig('in', 'host', 'pct', 'status', '101')).toBe('status: running')

  expect(await alice.forget(job_id)).toMatchObject({ status: 'success' })
  expect((await alice.record(job_id)).snapshot).toMatchObject({ present: false })
})

test('an upgrade that changes nothing leaves no backup', async () => {
  await calm()
  const plan = await caller.post('/api/updates/plans', { target: 'lxc:101', packages: ['rig-calm'] })
  const { id } = z.looseObject({ id: z.string() }).parse(plan.body)
  await rig('install', '101', 'rig-calm', '2.0')
  const protection = { ...BACKUP, keep: 3, on_failure: 'ask', settle_seconds: 5, probes: [] }

  const answer = await caller.post('/api/updates/run', { target: 'lxc:101', plan: id, protection })
  const job = await alice.ended(z.looseObject({ job_id: z.string() }).parse(answer.body).job_id)

  expect(job).toMatchObject({ outcome: 'plan_changed', snapshot: { kind: 'backup', present: false } })
  expect(await files()).toBe('')
})

test('as many backups as the policy says stay, and those of others, whatever the rules of the storage', async () => {
  await rig('reset', '101')
  await rig('install', '101', 'rig-calm', '1.0')
  const rule = String.raw`printf '\tprune-backups keep-last=1\n' | sed -i '/^nfs: nas/r /dev/stdin' /etc/pve/storage.cfg`
  await inside('host', `${rule}; vzdump 101 --storage nas --compress zstd >/dev/null 2>&1; sleep 1`)
  const [foreign] = await archives()
  const jobs: string[] = []
  for (const version of ['2.0', '3.0', '4.0']) {
    await publish('rig-calm', version)
    const { job_id, outcome } = await alice.upgrade('rig-calm', { ...BACKUP, keep: 2 })
    expect(outcome).toBe('upgraded')
    jobs.push(job_id)
  }

  const records = await Promise.all(jobs.map(async (id) => (await alice.record(id)).snapshot))
  expect(records.map((snapshot) => snapshot?.present)).toEqual([false, true, true])
  expect(await archives()).toEqual([foreign, ...records.slice(1).map((snapshot) => `nas:backup/${snapshot?.name}`)])
  expect(await snapshots()).toEqual([])
})

test('a policy without a storage takes the first one that accepts backups, also where vzdump knows no notes', async () => {
  const without = String.raw`s/^\tcontent iso,vztmpl,backup,rootdir/\tcontent iso,rootdir/`
  await inside('host', `sed -i '${without}' /etc/pve/storage.cfg; touch /etc/rig/vzdump-without-notes`)
  await calm()
  const check = await caller.post('/api/updates/checks', { target: 'lxc:101' })
  await alice.ended(z.looseObject({ job_id: z.string() }).parse(check.body).job_id)

  const job = await alice.upgrade('rig-calm', { ...BACKUP, backup_storage: null })

  expect(job).toMatchObject({ outcome: 'upgraded', snapshot: { kind: 'backup', present: true } })
  expect(await archives()).toEqual([`nas:backup/${job.snapshot?.name}`])
})
