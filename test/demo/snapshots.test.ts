import { expect, test } from 'vitest'
import { container, type Place } from '../../demo/place.ts'
import { withSnapshot } from '../../demo/protection/snapshots.ts'
import { readStorage } from '../../functions/protection/storage-facts.ts'
import { STORAGE } from '../../functions/protection/storage-script.ts'
import { script } from '../../ssh/command.ts'
import { startDemo } from '../runtime/demo.ts'
import { connect, run } from './client.ts'

const NAME = 'panel-1772366400-k3x9q2pa'

/** Starts a host whose only container is 201. */
async function start(place: Partial<Place> = {}) {
  const one = container('201', 'one', place)
  const demo = await startDemo({ containers: [one] })
  const client = await connect({ port: demo.port, ...demo.service })
  const pct = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(client, ['/usr/sbin/pct', ...words])
    return { code, said: stdout + stderr }
  }
  return { one, client, pct }
}

const usage = (command: string, words: string) => `pct ${command} <vmid> ${words}`

test.each<[Partial<Place>, string[], string]>([
  [{}, ['snapshot', '201'], `400 not enough arguments\n${usage('snapshot', '<snapname> [OPTIONS]')}\n`],
  [
    {},
    ['snapshot', '201', '-9'],
    `400 Parameter verification failed.\nsnapname: invalid format - invalid configuration ID '-9'\n\n${usage('snapshot', '<snapname> [OPTIONS]')}\n`,
  ],
  [
    {},
    ['rollback', '201', 'a'.repeat(41)],
    `400 Parameter verification failed.\nsnapname: value may only be 40 characters long\n${usage('rollback', '<snapname> [OPTIONS]')}\n`,
  ],
  [{}, ['snapshot', '201', 'current'], "unable to use snapshot name 'current' (reserved name)\n"],
  [{ template: true }, ['snapshot', '201', NAME], "you can't take a snapshot if it's a template\n"],
  [{ lockedFor: 'backup' }, ['snapshot', '201', NAME], 'CT is locked (backup)\n'],
  [{ storage: 'local' }, ['snapshot', '201', NAME], 'snapshot feature is not available\n'],
  [{ storage: 'nas' }, ['snapshot', '201', NAME], 'snapshot feature is not available\n'],
  [{ mounts: { mp0: '/srv,mp=/srv' } }, ['snapshot', '201', NAME], 'snapshot feature is not available\n'],
  [
    { mounts: { mp0: 'nas:201/vm-201-disk-1.raw,mp=/data' } },
    ['snapshot', '201', NAME],
    'snapshot feature is not available\n',
  ],
  [
    { faults: { snapshot: 'lvcreate failed' } },
    ['snapshot', '201', NAME],
    'snapshot create failed: starting cleanup\nlvcreate failed\n',
  ],
  [{}, ['rollback', '201', NAME], `snapshot '${NAME}' does not exist\n`],
  [{}, ['delsnapshot', '201', NAME], `snapshot '${NAME}' does not exist\n`],
  [{}, ['config', '201', '--snapshot', NAME], `snapshot '${NAME}' does not exist\n`],
  [{}, ['unlock', '201'], 'no lock found trying to remove  lock\n'],
  [{}, ['restore', '201', 'x'], "unable to restore CT 201 - CT 201 already exists on node 'pve'\n"],
])('pct refuses as Proxmox does: %j, %j', async (place, words, said) => {
  const { pct } = await start(place)

  expect(await pct(...words)).toEqual({ code: 255, said })
})

test('a snapshot is listed and has its own configuration, and goes', async () => {
  const { pct, one } = await start({ mounts: { mp0: 'local-lvm:vm-201-disk-1,mp=/data' } })

  const made = await pct('snapshot', '201', NAME, '--description', 'before')
  const again = await pct('snapshot', '201', NAME)
  const { said: listed } = await pct('listsnapshot', '201')
  const { said: config } = await pct('config', '201')
  const { said: inside } = await pct('config', '201', '--snapshot', NAME)
  const gone = await pct('delsnapshot', '201', NAME)

  expect(made.said.split('\n')).toEqual([
    `  Logical volume "snap_vm-201-disk-0_${NAME}" created.`,
    `  Logical volume "snap_vm-201-disk-1_${NAME}" created.`,
    '',
  ])
  expect(again).toEqual({ code: 255, said: `snapshot name '${NAME}' already used\n` })
  expect(listed).toMatch(
    new RegExp(
      `^\`-> ${NAME} {3}\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d {5}before\n \`-> current {20} {24}You are here!\n$`,
    ),
  )
  expect(config).toContain(`\nparent: ${NAME}\nrootfs: local-lvm:vm-201-disk-0,size=8G\n`)
  expect(config).toContain('\nmp0: local-lvm:vm-201-disk-1,mp=/data\n')
  expect(inside).toMatch(/^snaptime: \d+$/m)
  expect(inside).not.toContain('parent')
  expect(gone.code).toBe(0)
  expect(one.snapshots).toEqual([])
})

test('a rollback starts the container only when it is asked to', async () => {
  const { pct, one } = await start()
  await pct('snapshot', '201', NAME)

  const stopped = [(await pct('rollback', '201', NAME)).code, one.running]
  const started = [(await pct('rollback', '201', NAME, '--start', '1')).code, one.running]

  expect([stopped, started]).toEqual([
    [0, false],
    [0, true],
  ])
})

test('ZFS goes back to the newest snapshot alone', async () => {
  const { pct } = await start({ storage: 'local-zfs' })
  await pct('snapshot', '201', NAME)
  await pct('snapshot', '201', 'newer')

  const said = `can't rollback, '${NAME}' is not most recent snapshot on 'local-zfs:subvol-201-disk-0'\n`
  expect(await pct('rollback', '201', NAME)).toEqual({ code: 255, said })
})

test('a removal that fails leaves its lock, and unlock takes it away', async () => {
  const { pct, one } = await start({ faults: { delsnapshot: 'lvremove failed' } })
  await pct('snapshot', '201', NAME)

  expect(await pct('delsnapshot', '201', NAME)).toEqual({ code: 255, said: 'lvremove failed\n' })
  expect(one.lockedFor).toBe('snapshot-delete')
  expect((await pct('unlock', '201')).code).toBe(0)
  expect(one.lockedFor).toBeUndefined()
})

test('a check reads the storages, the volumes and the snapshots', async () => {
  const { one, client } = await start({ mounts: { mp0: '/srv,mp=/srv' } })
  withSnapshot(one, 'mine', 2, 'x')

  const { stdout } = await run(client, script(STORAGE, 'ops-panel-storage', 'all'))
  const found = await readStorage(stdout.split('\n'), '2026-11-25T00:00:00Z')

  expect(found?.storages).toEqual(['local', 'nas'])
  expect(found?.containers).toMatchObject([{ target: 'lxc:201', snapshots: [{ name: 'mine', ours: false }] }])
  expect(stdout).toContain('volume 201 mp0 bind\n')
})

test('lvs and zpool tell how full the pools are, to root', async () => {
  const { client } = await start()

  const words = [
    '--noheadings',
    '--separator=|',
    '-o',
    'vg_name,lv_name,lv_attr,data_percent,metadata_percent',
  ] as const
  const { stdout } = await run(client, ['lvs', ...words])
  const pools = await run(client, ['zpool', 'list', '-Hp', '-o', 'name,capacity'])

  expect(stdout).toBe('  pve|data|twi-aotz--|41.20|2.31\n')
  expect(pools.stdout).toBe('rpool\t38\n')
})
