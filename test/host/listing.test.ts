import { beforeAll, expect, test } from 'vitest'
import { askPackages, type Caller, packages, signIn } from './client.ts'
import { runJob } from './job.ts'
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

test('the rig’s host speaks French', async () => {
  expect(await inside('host', '. /etc/default/locale; export LANG; apt list --upgradable 2>/dev/null')).toContain(
    'pouvant être mis à jour depuis',
  )
})

test('the targets are the host, then its containers in the order of pct list', async () => {
  const { status, body } = await bob.get('/api/updates/targets')

  expect(body).toEqual([
    { id: 'host', name: 'Hôte', status: 'running' },
    { id: 'lxc:101', name: 'web', status: 'running', vmid: 101 },
    { id: 'lxc:102', name: 'db', status: 'running', vmid: 102 },
    { id: 'lxc:103', name: 'old-backup', status: 'stopped', vmid: 103 },
  ])
  expect(status).toBe(200)
})

test('a locked container is listed with its name', async () => {
  await inside('host', 'echo "lock: backup" >>/etc/pve/lxc/103.conf')

  const { body } = await bob.get('/api/updates/targets')

  expect(body).toContainEqual({ id: 'lxc:103', name: 'old-backup', status: 'stopped', vmid: 103 })
})

test.each(['host', 'lxc:101'])('the packages of %s are listed although the host speaks French', async (target) => {
  expect(await packages(bob, target)).toEqual(UPGRADABLE)
})

test('the service answers more concurrent requests than one connection has sessions', async () => {
  const lists = await Promise.all(Array.from({ length: 24 }, () => packages(bob, 'host')))

  expect(lists).toEqual(lists.map(() => UPGRADABLE))
})

test.each([
  ['lxc:103', "Erreur SSH : container '103' not running!", 'a stopped container'],
  ['lxc:999', "Erreur SSH : Configuration file 'nodes/pve/lxc/999.conf' does not exist", 'an unknown container'],
])('the packages of %s are 502: %s', async (target, error) => {
  expect(await askPackages(bob, target)).toMatchObject({ status: 502, body: { error, code: 'ssh_failed' } })
})

test.each(['all', 'lxc:', 'lxc', 'vm:101', 'HOST', ' host', '101'])('the packages of %j are 400', async (target) => {
  expect(await askPackages(bob, target)).toMatchObject({
    status: 400,
    body: { error: `Cible invalide : ${target}`, code: 'target_invalid' },
  })
})

test.each(['/api/updates/packages', '/api/updates/packages?target='])('%s without a target is 400', async (path) => {
  expect(await bob.get(path)).toMatchObject({ status: 400, body: { code: 'target_missing' } })
})

test('an account that sees a job’s name among the host’s processes cannot take its folder’s place', async () => {
  await rig('slow', '1', '1', '102')
  // Makes bob faster than the job each time.
  await inside(
    'host',
    `printf '%s\\n' '#!/bin/sh' 'su bob -s /bin/sh -c "mkdir $1; mkdir -p /var/tmp/ops-panel-job-\${1##*/}"' 'exec /usr/bin/mkdir "$@"' >/usr/local/bin/mkdir
    chmod 755 /usr/local/bin/mkdir`,
  )

  const { record } = await runJob(bob, 'lxc:102')

  await inside('host', 'rm /usr/local/bin/mkdir')
  expect(await inside('host', 'stat -c %U /var/tmp/ops-panel-job-*')).toBe('bob')
  expect(record).toMatchObject({ status: 'success' })
})

const TOO_LONG = { status: 502, body: { code: 'host_answer_too_long' } }

test.each([
  ['prints without end', 'while :; do echo "a/b 2 amd64 [upgradable from: 1]"; done'],
  ['has a line without end', 'exec cat /dev/zero'],
  ['lists a hundred thousand packages', 'seq -f "p%.0f/s 2 x [upgradable from: 1]" 100000'],
])('the packages of a container whose apt %s are 502, and its commands end', async (_, text) => {
  await inside('101', `printf '#!/bin/sh\\n%s\\n' '${text}' >/usr/bin/apt`)

  expect(await askPackages(bob, 'lxc:101')).toMatchObject(TOO_LONG)

  const running = () => inside('host', `ps -eww -o args= | grep -E 'bin/[a]pt$|[p]ct exec|[l]xc-attach' || true`)
  await expect.poll(running, { timeout: 10_000 }).toBe('')
})

test('repeated requests to a container whose apt never answers take no place of other users', async () => {
  await inside('101', `printf '#!/bin/sh\\nexec sleep 600\\n' >/usr/bin/apt`)
  const hanging = Array.from({ length: 80 }, () => askPackages(bob, 'lxc:101'))
  const zoe = await signIn(service, 'zoe')
  const running = () => inside('host', `ps -eww -o args= | grep -c '^timeout .*[p]ct exec 101 ' || true`)
  await expect.poll(running, { timeout: 10_000 }).toBe('8')

  expect((await zoe.get('/api/updates/targets')).body).toHaveLength(4)
  expect(await packages(zoe, 'host')).toEqual(UPGRADABLE)
  const started = await zoe.post('/api/updates/checks', { target: 'lxc:102' })
  expect(started.status).toBe(202)
  expect(await running()).toBe('8')

  // Each command that is ended gets an answer, and the next waiting one begins.
  await inside('101', 'rm /usr/bin/apt')
  await inside('host', 'pkill -f "sleep [6]00"')
  for (const { status } of await Promise.all(hanging)) expect(status).toBe(502)
})

test('a list of containers that is too long is 502, not a list of the host alone', async () => {
  await inside(
    'host',
    `mv /usr/sbin/pct /usr/sbin/pct.real
    printf '%s\\n' '#!/bin/sh' 'seq -f "%.0f running web" 100000' >/usr/sbin/pct && chmod 755 /usr/sbin/pct`,
  )
  try {
    for (const path of ['/api/updates/targets', '/api/hypervisor/containers'])
      expect(await bob.get(path)).toMatchObject(TOO_LONG)
  } finally {
    await inside('host', 'mv /usr/sbin/pct.real /usr/sbin/pct')
  }
})
