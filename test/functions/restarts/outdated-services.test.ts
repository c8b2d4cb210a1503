import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceName, NEVER_PATTERNS, whyNever } from '../../../functions/restarts/never.ts'
import { sawAll, OutdatedService, outdatedOf } from '../../../functions/restarts/outdated-services.ts'

// test/host/restarts.test.ts covers the script that writes these lines.

const NEVER = [
  ...['dbus', 'dbus-broker', 'systemd-logind', 'systemd-journald', 'systemd-networkd', 'user@1000', 'getty@tty1'],
  ...['console-getty', 'serial-getty@ttyS0', 'container-getty@1', 'lxc', 'lxcfs', 'lxc-net', 'docker', 'containerd'],
  ...['podman', 'libpod-conmon', 'networking', 'network-manager', 'NetworkManager', 'ifup@eth0', 'pve-container@101'],
  ...['pve-guests', 'pve-cluster', 'pvedaemon', 'corosync', 'openvswitch-switch', 'systemd-poweroff', 'elogind'],
  ...['ssh@3-10.0.0.1:22-10.0.0.2:5000', 'sshd@4-1', 'sshd-vsock@1', 'libvirtd', 'wg-quick@wg0', 'openvpn@home'],
  ...['proxmox-backup-proxy', 'snap.docker.dockerd', 'snap.lxd.daemon', 'pacemaker', 'ceph-osd@1'],
]
const ALONE = [
  ...['ssh', 'nginx', 'cron', 'postgresql@15-main', 'pveproxy', 'haproxy', 'systemd-exporter', 'systemdlike'],
  ...['my-dbus', 'user', 'bgetty@tty1', String.raw`app-\x2d1`, 'ops-panel', 'polkit', 'initramfs-helper'],
  ...['sshguard', 'sshd', 'apt-cacher-ng', 'snap.nextcloud.apache', 'qemu-guest-agent', 'strongbox', 'wg'],
]

test.each(NEVER)('%s is never restarted alone, and the whole target is offered', (name) => {
  const line = `service ${name} 12 libc6 /usr/lib/libc.so.6`
  const why = expect.stringMatching(/^Ce service n’est jamais redémarré seul : .+\.$/)

  expect(outdatedOf([line], 'container')).toEqual([expect.objectContaining({ name, restart: 'container', why })])
  expect(outdatedOf([line], 'host')).toEqual([expect.objectContaining({ name, restart: 'reboot', why })])
})

test.each(ALONE)('%s may be restarted alone', (name) => {
  expect(outdatedOf([`service ${name} 12 - /usr/lib/libc.so.6`], 'host')).toEqual([
    { name, reason: '/usr/lib/libc.so.6', package: null, restart: 'service', why: null },
  ])
})

/** Whether a shell finds each name among the patterns, in one process. */
function byShell(names: readonly string[]): boolean[] {
  const script = `for each; do case $each in ${NEVER_PATTERNS}) echo 1 ;; *) echo 0 ;; esac; done`
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', ...names], { encoding: 'utf8' })
  return stdout
    .trim()
    .split('\n')
    .map((word) => word === '1')
}

test('the shell on the host and the service agree about every name', () => {
  const part = fc.constantFrom(...[...NEVER, ...ALONE].flatMap((name) => [name, name.slice(1), name.slice(0, -1)]))
  const tail = fc.constantFrom('', '@', '@1', '-', '.', 'x', '*', '\\', 'd')
  const names = fc.sample(
    fc.tuple(part, tail).map((both) => both.join('')),
    2_000,
  )

  expect(byShell(names)).toEqual(names.map((name) => whyNever(name) !== undefined))
})

test('a program, a session and process 1 have no service to restart', () => {
  const lines = [
    'session alice 40 libc6 /usr/lib/libc.so.6',
    'process node 41 - /opt/my app/lib/a b.so',
    'init systemd 1 libsystemd0 /usr/lib/libsystemd.so.0.35.0',
  ]

  expect(outdatedOf(lines, 'container')).toEqual([
    { name: 'alice', reason: '/usr/lib/libc.so.6', package: 'libc6', restart: 'session', why: null },
    { name: 'node', reason: '/opt/my app/lib/a b.so', package: null, restart: 'container', why: null },
    expect.objectContaining({ name: 'systemd', package: 'libsystemd0', restart: 'container' }),
  ])
  expect(outdatedOf(lines, 'host').map(({ restart }) => restart)).toEqual(['session', 'reboot', 'reboot'])
})

test('a line of another form is left out, and no line gives a name that a script would refuse', () => {
  const hostile = [
    'whole',
    'nginx /usr/lib/libssl.so.3',
    'service nginx 12 -',
    'service nginx x - /usr/lib/a.so',
    'server nginx 12 - /usr/lib/a.so',
    'service  nginx 12 - /usr/lib/a.so',
    `service ${'n'.repeat(191)} 12 - /usr/lib/a.so`,
    'service -rf 12 - /usr/lib/a.so',
    'service $(id) 12 - /usr/lib/a.so',
    'service nginx.service 12 - /usr/lib/a.so',
    'service ssh 12 - /usr/lib/a.so',
    'service ssh 13 - /usr/lib/b.so',
  ]
  const found = outdatedOf(hostile, 'host')

  expect(found.map(({ name, restart }) => [name, restart])).toEqual([
    ['-rf', 'reboot'],
    ['$(id)', 'reboot'],
    ['nginx.service', 'reboot'],
    ['ssh', 'service'],
  ])
  const word = fc.oneof(fc.constantFrom('service', 'session', 'init', '-', '12', 'ssh'), fc.string({ maxLength: 30 }))
  const anyLine = fc.array(word, { minLength: 4, maxLength: 6 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(word, anyLine, (name, line) => {
      for (const one of outdatedOf([`service ${name} 12 libc6 /usr/lib/a.so`, line], 'host')) {
        expect(one.restart !== 'service' || isServiceName(one.name)).toBe(true)
        expect(one.reason.length).toBeLessThanOrEqual(200)
      }
    }),
  )
  const many = Array.from({ length: 5_000 }, (_, n) => `service s${n} 1 - /usr/lib/a.so`)
  expect(outdatedOf(many, 'host')).toHaveLength(100)
})

test('a look counts as whole only if it says so', () => {
  const line = 'service ssh 1 - /usr/lib/a.so'

  expect([[line, 'whole'], [line], [], [`${line} whole`]].map(sawAll)).toEqual([true, false, false, false])
})

test('a service that an earlier version has stored is still read, and not offered', () => {
  expect(OutdatedService.parse({ name: 'ssh', reason: '/usr/lib/a.so' })).toEqual({
    ...{ name: 'ssh', reason: '/usr/lib/a.so', package: null, restart: 'none', why: null },
  })
})
