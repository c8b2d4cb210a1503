import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../free-port.ts'
import { type Behaviour, endless, testHypervisor } from '../../hypervisor.ts'
import { audited, refused } from '../answers.ts'
import { hypervisorApp } from './app.ts'

/** Ten seconds are the deadline, the rest is for a busy machine. */
const AT_MOST_MS = 11_000

const json = (response: ServerResponse, text: string, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(text)
  return true
}
const data = (value: unknown) => (_: unknown, response: ServerResponse) =>
  json(response, JSON.stringify({ data: value }))
/** Serves correct nodes, and any answer for the containers. */
const listing =
  (value: unknown): Behaviour =>
  ({ url }, response) =>
    url?.endsWith('/lxc') ? data(value)(undefined, response) : false
const html: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>pve')
  return true
}
const redirect =
  (to: string): Behaviour =>
  (_, response) => {
    response.writeHead(302, { location: to }).end()
    return true
  }
const half: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('{"data":[')
  setTimeout(() => response.destroy(), 20)
  return true
}
const CONTAINER = { vmid: 101, name: 'web', status: 'running' }

test.each<[string, Behaviour, 'hypervisor_unreadable' | 'hypervisor_unreachable' | 'hypervisor_refused']>([
  ['a page', html, 'hypervisor_unreadable'],
  ['a redirect to itself', redirect('/api2/json/nodes'), 'hypervisor_unreadable'],
  ['half an answer', half, 'hypervisor_unreachable'],
  ['an answer without an end', endless, 'hypervisor_unreadable'],
  ['a connection that is cut', (_, response) => Boolean(response.destroy()), 'hypervisor_unreachable'],
  ['no JSON', (_, response) => json(response, 'nodes'), 'hypervisor_unreadable'],
  ['nothing', (_, response) => json(response, ''), 'hypervisor_unreadable'],
  ['JSON without data', (_, response) => json(response, '[]'), 'hypervisor_unreadable'],
  ['no nodes', data([]), 'hypervisor_unreadable'],
  ['nodes that are none', data([{ node: 1 }]), 'hypervisor_unreadable'],
  ['a node that leads elsewhere', data([{ node: '../../access' }]), 'hypervisor_unreadable'],
  ['containers that are none', listing({ vmid: 101 }), 'hypervisor_unreadable'],
  ['a container without a number', listing([CONTAINER, { name: 'web', status: 'running' }]), 'hypervisor_unreadable'],
  ['a number that is a text', listing([{ ...CONTAINER, vmid: '101; reboot' }]), 'hypervisor_unreadable'],
  ['a negative number', listing([{ ...CONTAINER, vmid: -1 }]), 'hypervisor_unreadable'],
  ['a word in place of a figure', listing([{ ...CONTAINER, cpu: 'many' }]), 'hypervisor_unreadable'],
  ['a name of a megabyte', listing([{ ...CONTAINER, name: 'x'.repeat(1_000_000) }]), 'hypervisor_unreadable'],
  ['more than ten thousand containers', listing(Array(10_001).fill(CONTAINER)), 'hypervisor_unreadable'],
  ['a proxy without a backend', (_, response) => json(response, '{"data":null}', 595), 'hypervisor_refused'],
])('%s is 502 with a sentence, and no connection stays open', async (_, behave, code) => {
  const hypervisor = await testHypervisor()
  hypervisor.behave = behave
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.list(), 502, code)

  expect(error).toMatch(/^L.*hyperviseur/)
  expect(error.length).toBeLessThan(400)
  await expect.poll(() => hypervisor.open()).toBe(0)
})

test('a redirect to another address is not followed, and no token goes there', async () => {
  const [hypervisor, other] = [await testHypervisor(), await testHypervisor({ secure: false })]
  hypervisor.behave = redirect(`${other.url}/api2/json/nodes`)
  const app = await hypervisorApp(hypervisor)

  await refused(await app.list(), 502, 'hypervisor_unreadable')

  expect(other.connections()).toBe(0)
})

test('a closed port gives 502 at once', async () => {
  const app = await hypervisorApp(undefined, {
    hypervisor_url: `https://127.0.0.1:${await freePort()}`,
    hypervisor_token: (await testHypervisor()).token,
  })

  const { error } = await refused(await app.list(), 502, 'hypervisor_unreachable')

  expect(error).toContain('ECONNREFUSED')
})

const slowly: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
  return true
}
/** Each answer is in time, all of them together are not. */
const eachInTime: Behaviour = ({ url = '' }, response) => {
  if (url.endsWith('/nodes')) setTimeout(() => data([{ node: 'pve' }])(undefined, response), 6_000)
  else setTimeout(() => data([])(undefined, response), 6_000)
  return true
}

/** Accepts connections, and never begins TLS. */
async function silentAddress(): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `https://127.0.0.1:${Object(server.address()).port}`
}

test('a hypervisor that takes more than ten seconds in all gives 502 by then', { timeout: 30_000 }, async () => {
  const behaviours: Record<string, Behaviour> = {
    'says nothing': () => true,
    'sends a byte now and then': slowly,
    'takes its time for each answer': eachInTime,
  }
  const asked = Object.entries(behaviours).map(async ([name, behave]) => {
    const hypervisor = await testHypervisor()
    hypervisor.behave = behave
    return { name, hypervisor, app: await hypervisorApp(hypervisor) }
  })
  const silent = await hypervisorApp(await testHypervisor(), { hypervisor_url: await silentAddress() })
  const all = [...(await Promise.all(asked)), { name: 'never shakes hands', hypervisor: undefined, app: silent }]

  const reported = await Promise.all(
    all.map(async ({ name, app }) => {
      const began = performance.now()
      const { error } = await refused(await app.list(), 502, 'hypervisor_unreachable')
      return { name, inTime: performance.now() - began < AT_MOST_MS, error }
    }),
  )

  expect(reported).toEqual(
    all.map(({ name }) => ({ name, inTime: true, error: expect.stringMatching(/aucune réponse complète .* en 10 s/) })),
  )
  for (const { hypervisor } of all) await expect.poll(() => hypervisor?.open() ?? 0).toBe(0)
})

test('the token is hidden in every notation that the hypervisor may use', async () => {
  const hypervisor = await testHypervisor()
  const [, secret = ''] = hypervisor.token.split('=')
  const escaped = [...secret].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  hypervisor.behave = (_, response) => json(response, `{"data":null,"message":"no ${escaped}"}`, 500)
  const app = await hypervisorApp(hypervisor)
  expect((await refused(await app.list(), 502, 'hypervisor_refused')).error).toBe('L’hyperviseur a refusé : no …')

  hypervisor.behave = (_, response) => Boolean(response.writeHead(500, `no ${secret}`).end())
  expect((await refused(await app.list(), 502, 'hypervisor_refused')).error).toBe('L’hyperviseur a refusé : no …')
})

test('a refusal of the hypervisor is shown in one short line, without the token that it repeats', async () => {
  const hypervisor = await testHypervisor()
  const message = `no\n\u0007such ${hypervisor.token} ${'x'.repeat(5_000)}`
  hypervisor.behave = (_, response) => json(response, JSON.stringify({ data: null, message }), 500)
  const app = await hypervisorApp(hypervisor)

  const { error } = await refused(await app.act(101, 'start'), 502, 'hypervisor_refused')

  expect(error).toMatch(/^L’hyperviseur a refusé : no such panel@pve!ops=… x+…$/)
  const secret = hypervisor.token.split('=')[1] ?? ''
  expect(app.lines().join('\n')).not.toContain(secret)
  expect(JSON.stringify(await audited(app.db))).not.toContain(secret)
})
