import { fail } from '../../../functions/services.ts'
import { expect, test } from 'vitest'
import targets from '../../../functions/updates/targets.get.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused, sealWithAnotherKey } from '../answers.ts'

const PATH = '/api/updates/targets'
const HOST = { id: 'host', name: 'Hôte', status: 'running' }

const LISTING = `VMID       Status     Lock         Name
101        running                 web
102        stopped    backup       db
103        running
`

test('the host comes first, without a vmid, followed by one target for each container', async () => {
  const app = await testApp([targets], { fake: { exec: () => ({ stdout: LISTING }) } })

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual([
    HOST,
    { id: 'lxc:101', name: 'web', status: 'running', vmid: 101 },
    { id: 'lxc:102', name: 'db', status: 'stopped', vmid: 102 },
    { id: 'lxc:103', name: '103', status: 'running', vmid: 103 },
  ])
  expect(await audited(app.db)).toEqual([])
})

test('the containers are listed by the absolute path, with the rights for one command', async () => {
  const app = await testApp([targets])

  await app.request('GET', PATH, { as: 'user' })

  expect(app.ran).toEqual([{ command: ['/usr/sbin/pct', 'list'], rights: 'command' }])
})

test('without containers only the host is listed', async () => {
  const app = await testApp([targets])

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual([HOST])
})

test.each(['unreachable', 'bad_credentials', 'host_key_changed', 'lost'] as const)(
  'when SSH fails with %s, only the host is listed with 200, and the log has the cause',
  async (reason) => {
    const app = await testApp([targets], {
      fake: {
        exec() {
          throw new SshError(reason, 'cause from the host')
        },
      },
    })

    expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual([HOST])
    expect(app.lines().filter((line) => line.includes('cause from the host'))).toHaveLength(1)
  },
)

test.each([1, 127, 255, null])('when the listing exits with code %s, only the host is listed', async (code) => {
  const app = await testApp([targets], { fake: { exec: () => ({ code, stdout: LISTING, stderr: 'no\n' }) } })

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual([HOST])
})

test.each([
  ['host', { host: '' }],
  ['user', { username: '' }],
  ['password', { password: '' }],
])('without an SSH %s the answer is 503 and nothing runs', async (_, ssh) => {
  const app = await testApp([targets], { ssh })

  const { error } = await refused(await app.request('GET', PATH, { as: 'user' }), 503, 'ssh_incomplete')

  expect(error).toMatch(/^La configuration SSH est incomplète/)
  expect(app.ran).toEqual([])
})

test('a password that another key has sealed gives 503', async () => {
  const app = await testApp([targets])
  await sealWithAnotherKey(app.db)

  await refused(await app.request('GET', PATH, { as: 'user' }), 503, 'ssh_password_unreadable')

  expect(app.ran).toEqual([])
})

test('settings that disappear meanwhile give 503, not a host alone', async () => {
  const app = await testApp([targets], {
    fake: {
      exec() {
        throw fail('ssh_incomplete')
      },
    },
  })

  await refused(await app.request('GET', PATH, { as: 'user' }), 503, 'ssh_incomplete')
})

test('a storage failure gives 500', async () => {
  const app = await testApp([targets])
  const authorization = `Bearer ${await app.tokenFor('user')}`
  await app.db.script('ALTER TABLE settings RENAME TO gone')

  await refused(await app.request('GET', PATH, { headers: { authorization } }), 500, 'storage_failed')
  expect(app.ran).toEqual([])
})
