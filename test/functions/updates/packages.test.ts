import { expect, test } from 'vitest'
import packages from '../../../functions/updates/packages.get.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused, sealWithAnotherKey } from '../answers.ts'

const address = (target: string) => `/api/updates/packages?target=${encodeURIComponent(target)}`

const LISTING = `Listing...
librig2/stable,stable-security 1:2.0~rc1-1+deb12u3 amd64 [upgradable from: 1.4.2-1+b1]
bash/stable 5.2 amd64 [installed]
`

test('the upgradable packages of the host are listed on it, without special rights', async () => {
  const app = await testApp([packages], { fake: { exec: () => ({ stdout: LISTING }) } })

  expect(await answered(await app.request('GET', address('host'), { as: 'user' }), 200)).toEqual([
    { name: 'librig2', version: '1:2.0~rc1-1+deb12u3', old_version: '1.4.2-1+b1' },
  ])
  expect(app.ran).toEqual([{ command: ['env', 'LC_ALL=C', 'apt', 'list', '--upgradable'], rights: 'none' }])
  expect(await audited(app.db)).toEqual([])
})

test('a container’s packages are listed inside it, also in English', async () => {
  const app = await testApp([packages], { fake: { exec: () => ({ stdout: LISTING }) } })

  expect(await answered(await app.request('GET', address('lxc:101'), { as: 'user' }), 200)).toHaveLength(1)
  expect(app.ran).toEqual([
    {
      command: ['/usr/sbin/pct', 'exec', '101', '--', 'env', 'LC_ALL=C', 'apt', 'list', '--upgradable'],
      rights: 'command',
    },
  ])
})

test('of another manager than apt, the upgrades are those of the last check, and nothing runs', async () => {
  const app = await testApp([packages])
  const summary = JSON.stringify({ manager: 'dnf' })
  const stored = JSON.stringify([
    { name: 'app', from: '1-1', to: '2:2-1', action: 'upgrade' },
    { name: 'libnew', from: null, to: '1-1', action: 'install' },
  ])
  await app.db.run(
    `INSERT INTO checks (target, vmid, name, status, summary, packages) VALUES ('lxc:111', 111, 'x', 'running', ?, ?)`,
    [summary, stored],
  )

  expect(await answered(await app.request('GET', address('lxc:111'), { as: 'user' }), 200)).toEqual([
    { name: 'app', version: '2:2-1', old_version: '1-1' },
  ])
  expect(app.ran).toEqual([])
})

test('no upgradable packages give an empty list', async () => {
  const app = await testApp([packages], { fake: { exec: () => ({ stdout: 'Listing...\n' }) } })

  expect(await answered(await app.request('GET', address('host'), { as: 'user' }), 200)).toEqual([])
})

test.each(['abc', `101'; reboot #`, '$(reboot)', '101\nreboot', '--help', '-1', ' ', '../101'])(
  'the id %j is not checked, and stays one argument of the container tool',
  async (id) => {
    const app = await testApp([packages])

    expect(await answered(await app.request('GET', address(`lxc:${id}`), { as: 'user' }), 200)).toEqual([])
    expect(app.ran).toEqual([
      {
        command: ['/usr/sbin/pct', 'exec', id, '--', 'env', 'LC_ALL=C', 'apt', 'list', '--upgradable'],
        rights: 'command',
      },
    ])
  },
)

test.each([
  ['no target', '/api/updates/packages'],
  ['an empty target', '/api/updates/packages?target='],
])('%s is 400', async (_, path) => {
  const app = await testApp([packages])

  const { error } = await refused(await app.request('GET', path, { as: 'user' }), 400, 'target_missing')

  expect(error).toBe('La cible est obligatoire.')
  expect(app.ran).toEqual([])
})

test.each(['all', 'lxc:', 'lxc', 'LXC:101', 'Host', 'host ', 'vm:1', '101', 'lxc:1\0', `lxc:${'1'.repeat(61)}`])(
  '%j is an invalid target, and nothing runs',
  async (target) => {
    const app = await testApp([packages])

    const { error } = await refused(await app.request('GET', address(target), { as: 'user' }), 400, 'target_invalid')

    expect(error).toBe(`Cible invalide : ${target}`)
    expect(app.ran).toEqual([])
  },
)

test.each([
  ['host', { host: '' }],
  ['user', { username: '' }],
  ['password', { password: '' }],
])('without an SSH %s: 400 for a missing target, 503 for any other, invalid ones included', async (_, ssh) => {
  const app = await testApp([packages], { ssh })

  await refused(await app.request('GET', '/api/updates/packages', { as: 'user' }), 400, 'target_missing')
  await refused(await app.request('GET', address('host'), { as: 'user' }), 503, 'ssh_incomplete')
  await refused(await app.request('GET', address('nonsense'), { as: 'user' }), 503, 'ssh_incomplete')

  expect(app.ran).toEqual([])
})

test('a password that another key has sealed gives 503, also for an invalid target', async () => {
  const app = await testApp([packages])
  await sealWithAnotherKey(app.db)

  await refused(await app.request('GET', address('host'), { as: 'user' }), 503, 'ssh_password_unreadable')
  await refused(await app.request('GET', address('nonsense'), { as: 'user' }), 503, 'ssh_password_unreadable')

  expect(app.ran).toEqual([])
})

test('an invalid target gives 400 even if the host would fail', async () => {
  const app = await testApp([packages], {
    fake: {
      exec() {
        throw new SshError('unreachable', 'gone')
      },
    },
  })

  await refused(await app.request('GET', address('all'), { as: 'user' }), 400, 'target_invalid')
})

test.each(['unreachable', 'bad_credentials', 'host_key_changed', 'lost'] as const)(
  'an SSH failure (%s) is 502 with its message',
  async (reason) => {
    const app = await testApp([packages], {
      fake: {
        exec() {
          throw new SshError(reason, 'connect ECONNREFUSED 192.0.2.1:22')
        },
      },
    })

    const { error } = await refused(await app.request('GET', address('host'), { as: 'user' }), 502, 'ssh_failed')

    expect(error).toBe('Erreur SSH : connect ECONNREFUSED 192.0.2.1:22')
  },
)

test.each([
  ['the last line of stderr', 255, 'WARNING\ncontainer ’103’ not running!\n', 'container ’103’ not running!'],
  ['the code, without stderr', 100, '', 'la commande s’est terminée avec le code 100'],
  ['the code, with a blank stderr', 100, ' \n\n', 'la commande s’est terminée avec le code 100'],
  ['a question mark, after a signal', null, '', 'la commande s’est terminée avec le code ?'],
])('a command that fails is 502 with %s', async (_, code, stderr, message) => {
  const app = await testApp([packages], { fake: { exec: () => ({ code, stderr, stdout: LISTING }) } })

  const { error } = await refused(await app.request('GET', address('lxc:103'), { as: 'user' }), 502, 'ssh_failed')

  expect(error).toBe(`Erreur SSH : ${message}`)
})
