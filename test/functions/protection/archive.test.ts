import { execFile } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { noteSnapshot } from '../../../db/snapshots.ts'
import { ARCHIVE, archiveLine, archiveName, backupsBeyond, lostVolumes } from '../../../functions/protection/archive.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'

const NAME = 'vzdump-lxc-101-2026_03_01-09_30_00.tar.zst'

test.each([
  [`/var/lib/vz/dump/${NAME}`, NAME],
  [`nas:backup/${NAME}`, NAME],
  ['vault:backup/ct/101/2026-03-01T09:30:00Z', 'vault:backup/ct/101/2026-03-01T09:30:00Z'],
])('the archive %s is called %s', (location, name) => {
  expect(archiveName(location)).toBe(name)
})

test('an archive is whole when it has its name, and half before', async () => {
  const folder = await temporaryFolder()
  const [dump, file] = [join(folder, 'dump'), join(folder, 'dump', NAME)]
  const state = async (location: string, path: string) => {
    const env = { PATH: process.env.PATH ?? '' }
    const words = ['-c', ARCHIVE, 'ops-panel-archive', '', '101', location, path]
    return (await promisify(execFile)('sh', words, { env })).stdout.trim()
  }

  expect(await state(`nas:backup/${NAME}`, file)).toBe('unknown')
  await mkdir(dump)
  expect(await state(`nas:backup/${NAME}`, file)).toBe('none')
  await writeFile(file.replace('.zst', '.dat'), '')
  expect(await state(`nas:backup/${NAME}`, file)).toBe('half')
  await writeFile(file, '')
  expect(await state(`nas:backup/${NAME}`, file)).toBe('whole')
  // No such program here, or no right to it.
  expect(await state('vault:backup/ct/101/2026-03-01T09:30:00Z', '')).toBe('unknown')
  await rm(file)
  await chmod(dump, 0o700)
})

test('what is left of a backup is told in one sentence', () => {
  const archive = { location: `nas:backup/${NAME}`, file: `/mnt/pve/nas/dump/${NAME}` }

  expect(archiveLine('whole', archive, true)).toContain('est entière')
  expect(archiveLine('half', archive, true)).toContain('n’est pas finie')
  expect(archiveLine('half', archive, false)).toContain('/mnt/pve/nas/dump/vzdump-lxc-101-2026_03_01-09_30_00.tar.dat')
  expect(archiveLine('none', archive, false)).toContain('aucune archive')
  expect(archiveLine('unknown', archive, false)).toContain('pas été possible')
})

test('the volumes that an archive does not have are lost, and folders of the host are not', () => {
  const config = [
    'hostname: web',
    'mp0: local-lvm:vm-101-disk-1,mp=/srv/data,backup=1,size=1G',
    'mp1: volume=bulk:vm-101-disk-2,mp=/srv/media,size=1T',
    'mp2: /srv/shared,mp=/srv/shared',
    'mp3: volume=/srv/shared,mp=/srv/other',
    'rootfs: local-lvm:vm-101-disk-0,size=4G',
    'unused0: local-lvm:vm-101-disk-3',
  ].join('\n')
  const archived = { root: 'local-lvm', unprivileged: true, volumes: ['rootfs', 'mp0'] }

  expect(lostVolumes(config, archived)).toEqual([
    { key: 'mp1', at: '/srv/media' },
    { key: 'unused0', at: 'local-lvm:vm-101-disk-3' },
  ])
  expect(lostVolumes(config, null).map(({ key }) => key)).toEqual(['mp0', 'mp1', 'unused0'])
})

test('a run removes the panel’s own backups beyond those that stay, and nothing else', async () => {
  const { db } = await testApp([])
  const made = { target: 'lxc:101', kind: 'backup', ours: true, present: true } as const
  const add = (name: string, day: number, more: object = {}) => {
    const made_at = `2026-03-0${day}T00:00:00.000Z`
    const row = { ...made, name, made_at, job_id: name, location: `nas:backup/${name}`, ...more }
    return db.batch([noteSnapshot(row)])
  }
  for (const day of [1, 2, 3, 4]) await add(`own${day}`, day)
  await add('gone', 1, { present: false })
  await add('foreign', 1, { ours: false })
  await add('other', 1, { target: 'lxc:102' })
  await add('snapshot', 1, { kind: 'snapshot', location: null })
  const beyond = (keep: number, job = 'new') => backupsBeyond(db, 'lxc:101', { keep, job })

  expect(await beyond(3)).toEqual(['nas:backup/own1', 'nas:backup/own2'])
  expect(await beyond(1)).toEqual([1, 2, 3, 4].map((day) => `nas:backup/own${day}`))
  // A start that is asked for again does not count its own.
  expect(await beyond(3, 'own4')).toEqual(['nas:backup/own1'])
  expect(await beyond(20)).toEqual([])
})
