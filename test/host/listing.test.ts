import { beforeAll, expect, test } from 'vitest'
import { askPackages, type Caller, packages, signIn } from './client.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  await rig('lang', 'fr_FR.UTF-8')
  service = await startService()
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

const UPGRADABLE = [
  { name: 'librig2', version: '1:2.0~rc1-1+deb12u3', old_version: '1.4.2-1+b1' },
  { name: 'rig-conf', version: '2.0', old_version: '1.0' },
  { name: 'rig-fail', version: '2.0', old_version: '1.0' },
  { name: 'rig-slow', version: '2.0', old_version: '1.0' },
  { name: 'rig-web', version: '2.0', old_version: '1.0' },
]

test('the host itself speaks French', async () => {
  expect(await inside('host', '. /etc/default/locale; export LANG; apt list --upgradable 2>/dev/null')).toContain(
    'pouvant être mis à jour depuis',
  )
})

test('targets are the host, then its containers as they are listed', async () => {
  const { status, body } = await bob.get('/api/updates/targets')

  expect(body).toEqual([
    { id: 'host', name: 'Hôte', status: 'running' },
    { id: 'lxc:101', name: 'web', status: 'running', vmid: 101 },
    { id: 'lxc:102', name: 'db', status: 'running', vmid: 102 },
    { id: 'lxc:103', name: 'old-backup', status: 'stopped', vmid: 103 },
  ])
  expect(status).toBe(200)
})

test('a container that is locked keeps its name', async () => {
  await inside('host', 'echo "lock: backup" >>/etc/pve/lxc/103.conf')

  const { body } = await bob.get('/api/updates/targets')

  expect(body).toContainEqual({ id: 'lxc:103', name: 'old-backup', status: 'stopped', vmid: 103 })
})

test.each(['host', 'lxc:101'])('the packages of %s are found although the host speaks French', async (target) => {
  expect(await packages(bob, target)).toEqual(UPGRADABLE)
})

test('more requests at once than a connection has sessions are all answered', async () => {
  const lists = await Promise.all(Array.from({ length: 24 }, () => packages(bob, 'host')))

  expect(lists).toEqual(lists.map(() => UPGRADABLE))
})

test.each([
  ['lxc:103', "Erreur SSH : container '103' not running!", 'a stopped container'],
  ['lxc:999', "Erreur SSH : Configuration file 'nodes/pve/lxc/999.conf' does not exist", 'an unknown container'],
])('%s: 502, %s', async (target, error) => {
  expect(await askPackages(bob, target)).toMatchObject({ status: 502, body: { error, code: 'ssh_failed' } })
})

test.each(['all', 'lxc:', 'lxc', 'vm:101', 'HOST', ' host', '101'])('%j is no target: 400', async (target) => {
  expect(await askPackages(bob, target)).toMatchObject({
    status: 400,
    body: { error: `Cible invalide : ${target}`, code: 'target_invalid' },
  })
})

test.each(['/api/updates/packages', '/api/updates/packages?target='])('%s lacks a target: 400', async (path) => {
  expect(await bob.get(path)).toMatchObject({ status: 400, body: { code: 'target_missing' } })
})
