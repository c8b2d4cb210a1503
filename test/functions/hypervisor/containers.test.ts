import { expect, test } from 'vitest'
import { SshError } from '../../../ssh/connection.ts'
import { testHypervisor } from '../../hypervisor.ts'
import { answered, audited, refused } from '../answers.ts'
import { CONTAINERS, hypervisorApp } from './app.ts'

const UNKNOWN = { cpu: null, cpus: null, mem: null, maxmem: null, disk: null, maxdisk: null, uptime: null, tags: null }
const SIZE = { cpus: 2, maxmem: 536870912, maxdisk: 8589934592 }

test('with a token the containers have figures, are sorted by number, and exclude templates', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)

  expect(await answered(await app.list(), 200)).toEqual([
    {
      vmid: 101,
      name: 'web',
      status: 'running',
      lock: null,
      cpu: 0.0125,
      mem: 74940416,
      disk: 838225920,
      uptime: 81418,
      tags: ['db', 'prod'],
      ...SIZE,
    },
    { vmid: 102, name: 'db', status: 'stopped', lock: null, cpu: 0, mem: 0, disk: 0, uptime: 0, tags: [], ...SIZE },
    {
      vmid: 103,
      name: 'backed-up',
      status: 'running',
      lock: 'backup',
      cpu: 5.1e-5,
      mem: 1,
      disk: 2,
      uptime: 3,
      tags: [],
      ...SIZE,
    },
  ])
  expect(hypervisor.requests).toEqual(['GET /api2/json/nodes', 'GET /api2/json/nodes/pve/lxc'])
  expect(app.ran).toEqual([])
  expect(await audited(app.db)).toEqual([])
  await expect.poll(() => hypervisor.open()).toBe(0)
})

test.each(['/', '/api2/json', '/api2/json/', '/api2'])('an address that ends in %s works the same', async (end) => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor, { hypervisor_url: hypervisor.url + end })

  await answered(await app.list(), 200)

  expect(hypervisor.requests).toContain('GET /api2/json/nodes')
})

test('an unencrypted address is used as given', async () => {
  const hypervisor = await testHypervisor({ secure: false })
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: '' })

  expect(await answered(await app.list(), 200)).toHaveLength(3)
})

const LISTING = `welcome to pve
VMID       Status     Lock         Name
101        running                 web
102        stopped    backup       db
`

test.each([
  ['neither address nor token', { hypervisor_url: '', hypervisor_token: '' }],
  ['an address alone', { hypervisor_token: '' }],
  ['a token alone', { hypervisor_url: '' }],
])('with %s the container tool lists the containers', async (_, settings) => {
  const hypervisor = await testHypervisor()
  const { url: hypervisor_url, token: hypervisor_token } = hypervisor
  const app = await hypervisorApp(
    undefined,
    { hypervisor_url, hypervisor_token, ...settings },
    { fake: { exec: () => ({ stdout: LISTING }) } },
  )

  expect(await answered(await app.list(), 200)).toEqual([
    { vmid: 101, name: 'web', status: 'running', lock: null, ...UNKNOWN },
    { vmid: 102, name: 'db', status: 'stopped', lock: 'backup', ...UNKNOWN },
  ])
  expect(app.ran).toEqual([{ command: ['/usr/sbin/pct', 'list'], rights: 'command' }])
  expect(hypervisor.connections()).toBe(0)
})

test('without a token, incomplete SSH settings give 503, and a host that cannot be asked gives 502', async () => {
  const incomplete = await hypervisorApp(undefined, {}, { ssh: { username: '' } })
  await refused(await incomplete.list(), 503, 'ssh_incomplete')
  expect(incomplete.ran).toEqual([])

  const exec = () => {
    throw new SshError('unreachable', 'ECONNREFUSED')
  }
  await refused(await (await hypervisorApp(undefined, {}, { fake: { exec } })).list(), 502, 'ssh_failed')
})

test('a token that cannot be decrypted gives 503, and nothing is asked', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)
  await app.breakToken()

  await refused(await app.list(), 503, 'hypervisor_token_unreadable')

  expect([hypervisor.connections(), app.ran]).toEqual([0, []])
})

test('a client without a session gets nothing', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)

  await refused(await app.request('GET', CONTAINERS), 401, 'unauthenticated')

  expect(hypervisor.connections()).toBe(0)
})

test('in a cluster the containers are those of the node whose certificate answers', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.nodes = [
    { node: 'other', ssl_fingerprint: 'AA:'.repeat(31).concat('AA') },
    { node: 'mine', ssl_fingerprint: hypervisor.fingerprint.toLowerCase() },
  ]
  hypervisor.containers = new Map([
    ['other', [{ vmid: 201, name: 'elsewhere', status: 'running' }]],
    ['mine', [{ vmid: 301, name: 'here', status: 'running' }]],
  ])
  const app = await hypervisorApp(hypervisor)

  expect(await answered(await app.list(), 200)).toMatchObject([{ vmid: 301, name: 'here' }])
})

test('otherwise they are those of the node that the address names, by its full name or its first label', async () => {
  const hypervisor = await testHypervisor({ secure: false })
  hypervisor.nodes = [{ node: 'pve1' }, { node: 'Localhost' }]
  hypervisor.containers = new Map([['Localhost', [{ vmid: 301, name: 'here', status: 'running' }]]])
  const hypervisor_url = hypervisor.url.replace('127.0.0.1', 'localhost')
  const app = await hypervisorApp(hypervisor, { hypervisor_url, hypervisor_fingerprint: '' })

  expect(await answered(await app.list(), 200)).toMatchObject([{ vmid: 301 }])
})

test('a cluster in which this host cannot be identified gives 502, with the names of the nodes', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.nodes = ['pve1', 'pve2', 'pve3', 'pve4', 'pve5', 'pve6'].map((node) => ({ node }))
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.list(), 502, 'hypervisor_node_unknown')

  expect(error).toContain('(pve1, pve2, pve3, pve4, pve5, …)')
})

test('a token without rights sees an empty list, which is an error and not a host without containers', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.permissions = { '/': { 'Sys.Audit': 1 } }
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.list(), 502, 'hypervisor_forbidden')

  expect(error).toContain('VM.Audit')
})

test('a host without containers is an empty list', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.containers.set('pve', [])
  const app = await hypervisorApp(hypervisor)

  expect(await answered(await app.list(), 200)).toEqual([])
  expect(hypervisor.requests.at(-1)).toBe('GET /api2/json/access/permissions')
})

test('a token that may see some containers lists those', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.permissions = { '/vms/101': { 'VM.Audit': 1 } }

  expect(await answered(await (await hypervisorApp(hypervisor)).list(), 200)).toMatchObject([{ vmid: 101 }])
})

test('a wrong token gives 502, and no containers are requested', async () => {
  const hypervisor = await testHypervisor()
  const hypervisor_token = hypervisor.token.replace(/.$/, '0')
  const app = await hypervisorApp(hypervisor, { hypervisor_token })

  await refused(await app.list(), 502, 'hypervisor_unauthorized')

  expect(hypervisor.requests).toEqual(['GET /api2/json/nodes'])
})
