import { expect, test } from 'vitest'
import actionOf from '../../../functions/hypervisor/action.post.ts'
import type { Command } from '../../../ssh/command.ts'
import { saveUser } from '../../../db/users.ts'
import { START as BEGIN } from '../../../jobs/script.ts'
import { START, testApp } from '../../app.ts'
import { bearerOf } from '../../bearer.ts'
import { testHypervisor } from '../../hypervisor.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { jobHost } from '../jobs/job-host.ts'
import { action, CONTAINERS, hypervisorApp } from './app.ts'

const ACTIONS = ['start', 'stop', 'shutdown', 'reboot'] as const
const LISTING = `VMID       Status     Lock         Name
101        running                 web
102        stopped                 db
103        running    backup       backed-up
104        stopped    mounted      mounted
`

test.each(ACTIONS)(
  '%s: 202 with the task of the hypervisor; the audit entry precedes the request to the hypervisor',
  async (name) => {
    const hypervisor = await testHypervisor()
    const app = await hypervisorApp(hypervisor)
    const vmid = name === 'start' ? 102 : 101

    const body = await answered(await app.act(vmid, name), 202)

    const task = expect.stringMatching(new RegExp(`^UPID:pve:.*:vz${name}:${vmid}:`))
    expect(body).toEqual({ task, message: expect.stringMatching(/demandé\.$/) })
    expect(hypervisor.requests.at(-1)).toBe(`POST /api2/json/nodes/pve/lxc/${vmid}/status/${name}`)
    expect(await audited(app.db)).toEqual([
      {
        at: START.toISOString(),
        action: `container_${name}`,
        user_id: 1,
        username: 'alice',
        target: `lxc:${vmid}`,
        ip: '127.0.0.1',
        details: null,
      },
    ])
    expect(app.ran).toEqual([])
    await expect.poll(() => hypervisor.open()).toBe(0)
  },
)

test.each(['999', '0', '0101', '101x', '-1', ' 101', '%00', '..%2f101', '900'])(
  'a missing container %s gives 404: nothing is asked of the hypervisor and nothing audited',
  async (vmid) => {
    const hypervisor = await testHypervisor()
    const app = await hypervisorApp(hypervisor)

    await refused(await app.act(vmid, 'start'), 404, 'container_missing')

    expect(hypervisor.requests.filter((request) => request.startsWith('POST'))).toEqual([])
    expect(await audited(app.db)).toEqual([])
  },
)

test.each(['destroy', 'START', 'suspend', '..', ''])(
  'the invalid action %j does not reach the hypervisor',
  async (name) => {
    const hypervisor = await testHypervisor()
    const app = await hypervisorApp(hypervisor)

    expect((await app.act(101, name)).status).toBeGreaterThanOrEqual(400)

    expect([hypervisor.connections(), app.ran]).toEqual([0, []])
  },
)

test('a viewer gets 403, and an operator the tasks of containers alone', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)
  const { id } = await saveUser(app.db, 'vera', false, START.toISOString())
  const viewer = { ...bearerOf({ id, username: 'vera' }, START), role: 'viewer', operates: [] } as const
  const headers = { authorization: `Bearer ${await app.services.sessions.accessToken(viewer)}` }
  const backup = 'UPID:pve1:0002C5B1:01A3F2C4:65E1B2C3:vzdump:101:root@pam:'

  await refused(await app.request('POST', action(101, 'stop'), { headers }), 403, 'forbidden')
  await refused(await app.request('GET', '/api/hypervisor/tasks/x', { headers }), 403, 'forbidden')
  for (const task of ['x', backup])
    await refused(await app.request('GET', `/api/hypervisor/tasks/${task}`, { as: 'user' }), 404, 'job_missing')

  expect([hypervisor.connections(), await audited(app.db)]).toEqual([0, []])
})

test('a locked container is refused with the name of its lock, and the refusal is audited', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.act(103, 'stop'), 502, 'container_locked')

  expect(error).toContain('(backup)')
  expect(hypervisor.requests.filter((request) => request.startsWith('POST'))).toEqual([])
  expect(await audited(app.db)).toMatchObject([
    { action: 'container_stop', target: 'lxc:103', details: { refused: error } },
  ])
})

test('a container that is locked after the check is refused with the same lock name', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.behave = ({ method }, response) => {
    if (method !== 'POST') return false
    response.writeHead(500, 'CT is locked (snapshot-delete)').end()
    return true
  }

  const { error } = await refused(await (await hypervisorApp(hypervisor)).act(101, 'stop'), 502, 'container_locked')

  expect(error).toContain('(snapshot-delete)')
})

test.each([
  ['start', 101, 'L’hyperviseur a refusé : CT 101 already running'],
  ['stop', 102, 'L’hyperviseur a refusé : CT 102 not running'],
])('%s of %i: 502 with the message of the hypervisor, which is audited too', async (name, vmid, error) => {
  const app = await hypervisorApp(await testHypervisor())

  expect(await refused(await app.act(vmid, name), 502, 'hypervisor_refused')).toMatchObject({ error })
  expect(await audited(app.db)).toMatchObject([
    { action: `container_${name}`, details: null },
    { action: `container_${name}`, details: { refused: error } },
  ])
})

test('an action that cannot be put in the audit log is not asked of the hypervisor', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)

  await refused(await app.act(101, 'stop'), 500, 'storage_failed')

  expect(hypervisor.requests.filter((request) => request.startsWith('POST'))).toEqual([])
})

test('a read-only token gives 502 with the name of the missing right', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.permissions = { '/': { 'VM.Audit': 1 } }
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.act(101, 'stop'), 502, 'hypervisor_forbidden')

  expect(error).toContain('VM.PowerMgmt')
  expect(await audited(app.db)).toMatchObject([{ details: null }, { details: { refused: error } }])
})

test.each(['', 'UPID:pve:x', '../../access/ticket', 'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:a/b:', 101])(
  'a hypervisor that names a task %j gives 502',
  async (data) => {
    const hypervisor = await testHypervisor()
    hypervisor.behave = ({ method }, response) => {
      if (method !== 'POST') return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
      return true
    }

    await refused(await (await hypervisorApp(hypervisor)).act(101, 'stop'), 502, 'hypervisor_unreadable')
  },
)

test('a token that cannot be decrypted gives 503, for actions and tasks, and pct does not run instead', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)
  await app.breakToken()

  await refused(await app.act(101, 'stop'), 503, 'hypervisor_token_unreadable')
  const task = 'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:panel@pve!ops:'
  await refused(await app.task(task), 503, 'hypervisor_token_unreadable')

  expect([hypervisor.connections(), app.ran, await audited(app.db)]).toEqual([0, [], []])
})

/** Returns the command of a job that the host received. */
const begun = (ran: readonly { command: Command }[]) =>
  ran.filter(({ command }) => command[2] === BEGIN).map(({ command }) => command.slice(8))

test.each(ACTIONS)('%s without a token is a job of the container tool, and is audited', async (name) => {
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ list: { stdout: LISTING } }) })

  const body = await answered(await app.act(102, name), 202)

  const task = expect.stringMatching(/^\d+-[a-z0-9]{8}$/)
  expect(body).toEqual({ task, message: expect.stringMatching(/demandé\.$/) })
  await expect.poll(() => begun(app.ran)).toEqual([['env', 'LC_ALL=C', '/usr/sbin/pct', name, '102']])
  expect(await audited(app.db)).toMatchObject([
    { action: `container_${name}`, username: 'alice', target: 'lxc:102', details: { task } },
  ])
  expect(await rows(app.db, 'SELECT kind, queue, target FROM jobs')).toEqual([
    { kind: 'container', queue: 'container/102', target: 'lxc:102' },
  ])
})

test('with a rule for single commands, the job runs this one by sudo', async () => {
  const fake = { ...jobHost({ list: { stdout: LISTING } }), elevation: 'rule' } as const
  const app = await hypervisorApp(undefined, {}, { fake })

  await answered(await app.act(101, 'stop'), 202)

  await expect.poll(() => begun(app.ran)).toEqual([['env', 'LC_ALL=C', 'sudo', '-n', '/usr/sbin/pct', 'stop', '101']])
})

test('with rights only through the helper, the job uses the helper’s verb', async () => {
  const fake = { ...jobHost({ list: { stdout: LISTING } }), elevation: 'helper' } as const
  const app = await hypervisorApp(undefined, {}, { fake })

  await answered(await app.act(101, 'stop'), 202)

  await expect.poll(() => begun(app.ran)).toEqual([['sudo', '-n', '--', '/usr/sbin/ops-panel-host', 'stop', '101']])
})

test('without a token, too, a locked container is refused before anything starts', async () => {
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ list: { stdout: LISTING } }) })

  const { error } = await refused(await app.act(103, 'stop'), 502, 'container_locked')

  expect(error).toContain('(backup)')
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(app.ran.map(({ command }) => command)).toEqual([['/usr/sbin/pct', 'list']])
  expect(await audited(app.db)).toMatchObject([{ action: 'container_stop', details: { refused: error } }])
})

test('actions on a mounted container are left to the hypervisor', async () => {
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ list: { stdout: LISTING } }) })

  await answered(await app.act(104, 'start'), 202)
})

test('without a token: 404 for an unknown container, 503 for incomplete settings, 404 for a deleted profile', async () => {
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ list: { stdout: LISTING } }) })
  await refused(await app.act(999, 'stop'), 404, 'container_missing')
  await refused(await app.act("101'; reboot", 'stop'), 404, 'container_missing')
  const headers = { authorization: `Bearer ${await app.tokenFor('admin')}` }
  await app.db.run('DELETE FROM users')
  await refused(await app.request('POST', action(101, 'stop'), { headers }), 404, 'profile_missing')
  expect(await audited(app.db)).toEqual([])

  const incomplete = await testApp([actionOf], { ssh: { username: '' } })
  const response = await incomplete.request('POST', `${CONTAINERS}/101/stop`, { as: 'admin' })
  await refused(response, 503, 'ssh_incomplete')
  expect([app.ran.length, incomplete.ran]).toEqual([2, []])
})

test('an account that the host keeps out starts and stops no container, by either way', async () => {
  const hypervisor = await testHypervisor()
  for (const way of [hypervisor, undefined]) {
    const app = await hypervisorApp(way, {}, { fake: jobHost({ list: { stdout: LISTING } }) })
    const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
    const ask = () => app.request('POST', action(101, 'stop'), { headers })
    await app.db.run('UPDATE users SET kept_out = 1')

    await refused(await ask(), 403, 'account_kept_out')

    expect(app.ran).toEqual([])
    expect(await audited(app.db)).not.toContainEqual(expect.objectContaining({ action: 'container_stop' }))
    await app.db.run('UPDATE users SET kept_out = 0')
    await answered(await ask(), 202)
  }
  expect(hypervisor.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1)
})
