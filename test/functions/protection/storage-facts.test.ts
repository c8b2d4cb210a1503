import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { protectionFindings, readStorage } from '../../../functions/protection/storage-facts.ts'
import { STORAGE } from '../../../functions/protection/storage-script.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { programs, shell } from '../programs.ts'

const AT = '2026-03-01T12:00:00.000Z'

const STORAGES = `dir: local
	path /var/lib/vz
	content iso,vztmpl,backup

lvmthin: local-lvm
	thinpool data
	vgname pve
	content rootdir,images

nfs: nas
	server 192.0.2.1
	content backup
	nodes pve2,pve3

pbs: vault
	datastore d

cifs: old
	content backup
	disable
`

const WEB = `#rootfs: nothing:x
#a password in a description
hostname: web
rootfs: local-lvm:vm-101-disk-0,size=4G
mp0: backup=1,mp=/data,volume=local-lvm:vm-101-disk-1
parent: panel-1772366400-k3x9q2pa

[panel-1772366400-k3x9q2pa]
rootfs: local-lvm:vm-101-disk-0,size=4G
mp1: /srv,mp=/x
snaptime: 1772366400

[before-php]
snaptime: 1772366300
snapstate: delete
[timeless]
rootfs: local-lvm:x
[vzdump]
snaptime: 1772366500
[pve:pending]
mp5: /dev/sdb,mp=/x
`

const OWN = { name: 'panel-1772366400-k3x9q2pa', made_at: AT, job_id: '1772366400-k3x9q2pa', ours: true }

/** Runs the script on these configuration files, and parses its answer. */
async function told(containers: Record<string, string>, { which = 'all', storages = STORAGES as string | null } = {}) {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'lxc'))
  await symlink('nodes/pve', join(folder, 'local'))
  if (storages !== null) await writeFile(join(folder, 'storage.cfg'), storages)
  for (const [id, text] of Object.entries(containers)) await writeFile(join(folder, 'lxc', `${id}.conf`), text)
  const { env } = await programs({})
  const { lines, status } = await shell(env, STORAGE.replaceAll('/etc/pve', folder), which)
  const report = await readStorage(lines, AT)
  const all = (report?.containers ?? []).map((each) => [
    each.target,
    { ...each, facts: JSON.parse(each.facts) as unknown },
  ])
  return { status, lines, storages: report?.storages, containers: Object.fromEntries(all) as Record<string, unknown> }
}

test('a container on LVM-thin can have snapshots; its own and foreign ones are told, and nothing else of its configuration', async () => {
  const { lines, storages, containers } = await told({ 101: WEB })

  expect(storages).toEqual(['local', 'vault'])
  expect(containers).toEqual({
    'lxc:101': {
      target: 'lxc:101',
      facts: { snapshot: true, backup: true, why: null },
      snapshots: [
        OWN,
        { name: 'before-php', made_at: '2026-03-01T11:58:20.000Z', job_id: null, ours: false },
        { name: 'timeless', made_at: AT, job_id: null, ours: false },
      ],
    },
  })
  expect(lines.join('\n')).not.toMatch(/password|hostname|192\.0\.2|disk|\/data|\/srv/)
})

test.each([
  ['rootfs: local:102/vm-102-disk-0.raw,size=4G', 'le stockage local (dir) ne sait pas faire d’instantané'],
  ['rootfs: nas:x\nmp0: /srv,mp=/srv', 'le stockage nas (nfs) ne sait pas faire d’instantané'],
  ['rootfs: local-lvm:x\nmp0: /srv/a b,mp=/srv', 'le point de montage mp0 est un dossier de l’hôte (bind mount)'],
  ['rootfs: local-lvm:x\nmp12: /dev/sdb1,mp=/srv', 'le point de montage mp12 est un périphérique de l’hôte'],
  ['rootfs: /srv/root', 'le système de fichiers racine est un dossier de l’hôte (bind mount)'],
])('%j forbids a snapshot, with the reason', async (config, why) => {
  const { containers } = await told({ 102: `hostname: db\n${config}` })

  expect(containers).toEqual({
    'lxc:102': { target: 'lxc:102', facts: { snapshot: false, backup: true, why }, snapshots: [] },
  })
})

test('a storage of an unknown type, or of no known name, is not known', async () => {
  const { containers } = await told(
    { 101: 'rootfs: other:x', 102: 'rootfs: lin:x' },
    { storages: 'drbd: lin\n\tcontent rootdir\ndir: local\n' },
  )

  const facts = { snapshot: null, backup: false, why: 'aucun stockage de l’hôte n’accepte de sauvegardes' }
  expect(containers).toMatchObject({ 'lxc:101': { facts }, 'lxc:102': { facts } })
})

test('without storage.cfg there is the storage local alone', async () => {
  expect(await told({ 101: 'rootfs: local:x' }, { storages: null })).toMatchObject({
    storages: ['local'],
    containers: { 'lxc:101': { facts: { snapshot: false, backup: true } } },
  })
})

test('a check of one container reads that one alone, and a name that is no number nothing', async () => {
  const configs = { 101: WEB, 103: 'rootfs: local-lvm:x' }

  expect(Object.keys((await told(configs, { which: '103' })).containers)).toEqual(['lxc:103'])
  expect(Object.keys((await told(configs, { which: '104' })).containers)).toEqual([])
  expect(await told(configs, { which: '../101' })).toMatchObject({ status: 64, lines: [] })
})

test('three hundred containers with twenty snapshots each are read whole', async () => {
  const snapshots = Array.from({ length: 20 }, (_, at) => `\n[s${at}]\nrootfs: local-lvm:x\nsnaptime: 1772366400\n`)
  const configs = Array.from({ length: 300 }, (_, at) => [101 + at, `rootfs: local-lvm:x\n${snapshots.join('')}`])

  const { containers } = await told(Object.fromEntries(configs) as Record<string, string>)

  expect(Object.keys(containers)).toHaveLength(300)
})

test('an answer without its end tells nothing, and unreadable storages leave what a bind mount says', async () => {
  expect(await readStorage(['storages', 'container 101'], AT)).toBeUndefined()
  expect(await readStorage([], AT)).toBeUndefined()

  const lines = ['container 101', 'volume 101 rootfs storage a', 'container 102', 'volume 102 mp0 bind', 'end']
  const report = await readStorage(lines, AT)

  expect(report?.storages).toBeUndefined()
  expect(report?.containers.map(({ facts }) => JSON.parse(facts) as unknown)).toEqual([
    { snapshot: null, backup: null, why: null },
    { snapshot: false, backup: null, why: 'le point de montage mp0 est un dossier de l’hôte (bind mount)' },
  ])
})

test('hostile lines are passed over', async () => {
  const report = await readStorage(
    [
      'container ../1',
      'volume 999 rootfs bind',
      'snapshot 999 x 1',
      'container 101',
      `snapshot 101 panel-1772366400-k3x9q2pa 99999999999999999999`,
      'snapshot 101 panel-1772366400-K3x9q2pa -1',
      'volume 101 rootfs; bind',
      'volume 101 __proto__ bind',
      'end',
      '',
    ],
    AT,
  )

  expect(report?.containers).toEqual([
    {
      target: 'lxc:101',
      facts: '{"snapshot":true,"backup":null,"why":null}',
      snapshots: [OWN, { name: 'panel-1772366400-K3x9q2pa', made_at: AT, job_id: null, ours: false }],
    },
  ])
})

test.each([
  [null, 'info'],
  ['auto', 'info'],
  ['snapshot', 'warning'],
  ['none', undefined],
  ['backup', undefined],
] as const)('without snapshots, the policy %j makes a finding of severity %j', (before, severity) => {
  const storage = JSON.stringify({ snapshot: false, backup: true, why: 'le disque est plein' })

  const [found, ...others] = protectionFindings({ storage, before })

  expect(others).toEqual([])
  expect(found?.severity).toBe(severity)
  if (severity)
    expect(found).toMatchObject({
      code: 'protection_unavailable',
      message: expect.stringContaining(' : le disque est plein.'),
    })
})

test('a policy that asks for backups is told where no storage takes them, and nothing is told of what is not known', () => {
  const facts = (snapshot: boolean | null, backup: boolean | null) => JSON.stringify({ snapshot, backup, why: null })

  expect(protectionFindings({ storage: facts(true, false), before: 'backup' })).toMatchObject([{ severity: 'warning' }])
  for (const before of ['auto', 'snapshot', 'backup', 'none'])
    for (const storage of [facts(null, null), facts(true, true), null, '{}'])
      expect(protectionFindings({ storage, before })).toEqual([])
})
