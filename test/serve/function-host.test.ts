import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { findJob } from '../../db/jobs.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import { turnProtectionOff } from '../checks-off.ts'
import type { Database } from '../../db/libsql/database.ts'
import { writeSettings } from '../../db/settings.ts'
import type { DemoHost } from '../../demo/host.ts'
import { functions, jobKinds, sockets, tasks } from '../../functions/index.ts'
import { ASSET_FILES } from '../../platform/asset-files.ts'
import { createFunctionHost, createLambdaHandler } from '../../serve/function-host.ts'
import { freePort } from '../free-port.ts'
import { outputOf, starts } from '../jobs/job-service.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { startDemo } from '../runtime/demo.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { type Entry, functionClient, gatewayEvent, type Send, ways } from './function-client.ts'
import { functionEnvironment } from './function-environment.ts'

const manifest = { functions, jobKinds, sockets, tasks }
const SessionList = z.array(z.looseObject({ id: z.number() }))
const RUN = '/api/updates/run'
const Started = z.object({ job_id: z.string(), code: z.string().optional() })
const SCHEDULED = { source: 'aws.events', 'detail-type': 'Scheduled Event' }

let demo: DemoHost
let db: Database
let env: Record<string, string>
beforeEach(async () => {
  demo = await startDemo()
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  db = await openDatabase(server.url)
  await turnProtectionOff(server.url)
  onTestFinished(() => db.close())
  env = {
    ...functionEnvironment(server.url, demo),
    PANEL_TRUSTED_PROXIES: '127.0.0.1',
    PANEL_LOG_LEVEL: 'silent',
  }
})

/** A new instance: it shares only the database and the environment with earlier ones. */
function instance(more: Record<string, string> = {}, clock = () => new Date()) {
  const { fetch, scheduled, stop } = createFunctionHost(manifest, { ...env, ...more }, clock)
  onTestFinished(stop)
  const handler = createLambdaHandler({ fetch, scheduled })
  const entry: Entry = { fetch: (request) => fetch(request), handler: (event) => handler(event) }
  return { ...entry, scheduled, schedule: () => handler(SCHEDULED) }
}

/** A client whose requests each reach another instance, after the leases of the previous one have expired. */
const wandering = (way: (entry: Entry) => Send) =>
  functionClient(async () => {
    await db.run('UPDATE jobs SET lease_until = 0').catch(() => {})
    return way(instance())
  })

const rowOf = async (id: string) => {
  const row = await findJob(db, id)
  if (!row) throw new Error('no such job')
  return row
}

test.for(Object.entries(ways))(
  'by %s, each request at another instance: from the login to the last byte',
  async ([, way]) => {
    const output = controlledOutput(demo)
    const client = wandering((entry) => way(entry))

    expect(await client.signIn()).toMatchObject({ status: 200, cookies: [expect.stringMatching(/; Secure/)] })
    expect((await client.refresh()).status).toBe(200)
    const id = await client.start('lxc:101')
    const poller = client.poller(id)
    for (const piece of ['é1\n', `${'x'.repeat(300_000)}\n`, '\u001b[1m3\n']) {
      output.print(piece)
      await poller.poll()
    }
    output.end()
    while (!poller.ended()) await poller.poll()

    expect(poller.text()).toBe(output.text())
    expect(await outputOf(db, id)).toBe(output.text())
    expect((await client.ask('GET', '/api/updates/history?output=none')).json()).toMatchObject([
      { job_id: id, status: 'success' },
    ])
    expect(starts(demo)).toHaveLength(1)
  },
)

test('a start is answered when the host has begun the job, and a poll with the output so far', async () => {
  const output = controlledOutput(demo)
  const client = functionClient(async () => ways.fetch(instance()))
  await client.signIn()
  const one = instance()
  const stays = functionClient(async () => ways.fetch(one))
  await stays.signIn()

  const id = await stays.start('lxc:101')
  expect(starts(demo)).toHaveLength(1)
  expect(await rowOf(id)).toMatchObject({ launched: true, status: 'running' })

  const poller = stays.poller(id)
  for (const piece of ['un\n', 'deux\n', 'trois\n']) {
    output.print(piece)
    await poller.poll()
    expect(poller.text()).toBe(output.text())
  }
  output.end()
  await poller.poll()
  expect(poller.ended()).toBe(true)
  expect((await client.ask('GET', `/api/updates/jobs/${id}`)).json()).toMatchObject({ output: 'un\ndeux\ntrois\n' })
})

test('a start of a queued job is answered at once; a request after its turn has come begins the job', async () => {
  const output = controlledOutput(demo)
  const client = wandering(ways.fetch)
  await client.signIn()
  const plan = await client.plan('lxc:101')
  const first = await client.start('lxc:101')
  const second = await client.start('lxc:101', plan)
  expect(await rowOf(second)).toMatchObject({ launched: false, status: 'running' })
  expect(starts(demo)).toHaveLength(1)
  output.print('fait\n')
  output.end()

  const pollers = [client.poller(first), client.poller(second)]
  for (const poller of pollers) while (!poller.ended()) await poller.poll()

  expect(pollers[0]?.text()).toBe('fait\n')
  expect(pollers[1]?.text()).toMatch(/^En attente de la fin de la tâche .*…\n$/)
  expect(starts(demo)).toHaveLength(2)
})

test('of the starts of one target at several instances at the same moment one begins, and the others name its job', async () => {
  const output = controlledOutput(demo)
  const client = functionClient(async () => ways.fetch(instance()))
  await client.signIn()

  const answers = await Promise.all(Array.from({ length: 4 }, () => client.ask('POST', RUN, { target: 'lxc:101' })))

  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
  const ids = new Set(answers.map((answer) => Started.parse(answer.json()).job_id))
  expect(ids.size).toBe(1)
  expect(answers.flatMap((answer) => Started.parse(answer.json()).code ?? [])).toEqual(Array(3).fill('already_queued'))
  expect(starts(demo)).toHaveLength(1)
  output.end()
})

test('a job that cannot begin has ended before its start is answered', async () => {
  const one = instance()
  const client = functionClient(async () => ways.fetch(one))
  await client.signIn()
  demo.accepting = false
  demo.cut()

  const id = await client.start('lxc:101')

  expect(await rowOf(id)).toMatchObject({ status: 'error', error: expect.stringMatching(/^Erreur SSH : /) })
})

test('a job can be cancelled through any instance', async () => {
  const output = controlledOutput(demo)
  const client = wandering(ways.fetch)
  await client.signIn()
  const id = await client.start('lxc:101')
  output.print('avant\n')

  expect((await client.ask('POST', `/api/updates/jobs/${id}/cancel`)).status).toBe(202)
  const poller = client.poller(id)
  while (!poller.ended()) await poller.poll()

  expect(poller.text()).toMatch(/^avant\n.*\nAnnulé par demo$/)
  expect(await rowOf(id)).toMatchObject({ status: 'error', error_code: 'cancelled' })
})

test('after a freeze an instance knows the ended sessions, and signs in to the host again', async () => {
  let now = Date.now()
  const [one, other] = [instance({}, () => new Date(now)), instance()]
  let asked = one
  const client = functionClient(async () => ways.fetch(asked))
  await client.signIn()
  expect((await client.ask('GET', '/api/updates/targets')).status).toBe(200)
  expect(demo.connections).toBeGreaterThan(0)

  asked = other
  const [session] = SessionList.parse((await client.ask('GET', '/api/auth/sessions')).json())
  expect((await client.ask('DELETE', `/api/auth/sessions/${session?.id}`)).status).toBe(200)
  asked = one
  now += 40_000

  expect((await client.ask('GET', '/api/auth/me')).status).toBe(401)
  await expect.poll(() => demo.connections).toBe(0)
})

test('the schedule takes over a job without a follower, and completes it', async () => {
  const output = controlledOutput(demo)
  const client = wandering(ways.fetch)
  await client.signIn()
  await writeSettings(db, { checks_automatic: 'off' }, new Date().toISOString())
  const id = await client.start('lxc:101')
  output.print('fini\n')
  output.end()
  await db.run('UPDATE jobs SET lease_until = 0')
  await db.run(`UPDATE sessions SET expires_at = '2020-01-01T00:00:00.000Z'`)

  const one = instance()
  await expect
    .poll(async () => {
      await one.schedule()
      return (await rowOf(id)).status
    })
    .toBe('success')

  expect(await outputOf(db, id)).toBe('fini\n')
  expect(starts(demo)).toHaveLength(1)
  // The other tasks have run as well.
  expect((await client.ask('GET', '/api/auth/sessions')).json()).toEqual([])
})

const FROM: [name: string, send: (address: string) => Send, headers: (address: string) => Record<string, string>][] = [
  ['a gateway that provides the address', (address) => ways.gateway(instance(), address), () => ({})],
  ['a balancer that names it', () => ways.balancer(instance()), (address) => ({ 'x-forwarded-for': address })],
  ['a host that names it', () => ways.fetch(instance()), (address) => ({ 'x-forwarded-for': `10.9.9.9, ${address}` })],
]

test.for(FROM)('behind %s, login attempts are counted for each client, at any instance', async ([, send, headers]) => {
  const attempt = async (address: string) => {
    const { signIn } = functionClient(async () => send(address))
    return (await signIn('demo', 'wrong', headers(address))).status
  }

  for (let n = 0; n < 5; n += 1) expect(await attempt('192.0.2.7')).toBe(401)
  expect(await attempt('192.0.2.7')).toBe(429)
  expect(await attempt('192.0.2.8')).toBe(401)
})

test('an address from an untrusted peer is ignored', async () => {
  const attempt = async (address: string) => {
    const { signIn } = functionClient(async () => ways.gateway(instance(), '203.0.113.9'))
    return (await signIn('demo', 'wrong', { 'x-forwarded-for': address })).status
  }

  for (let n = 0; n < 5; n += 1) expect(await attempt(`192.0.2.${n}`)).toBe(401)
  expect(await attempt('192.0.2.99')).toBe(429)
})

const REFUSED: [what: string, method: string, path: string, headers: Record<string, string>][] = [
  ['a WebSocket', 'GET', '/ws/updates/1-aaaaaaaa', { upgrade: 'websocket', connection: 'Upgrade' }],
  ['a terminal', 'GET', '/ws/terminal?target=host', {}],
  ['a WebSocket elsewhere', 'GET', '/api/health', { upgrade: 'WebSocket' }],
]

test.for(REFUSED)('%s is refused with the alternative', async ([, method, path, headers]) => {
  const one = instance()

  for (const way of Object.values(ways)) {
    const answered = await way(one)({ method, path, headers, cookie: undefined, body: undefined })
    expect(answered).toMatchObject({ status: 501, headers: { 'x-request-id': expect.any(String) } })
    expect(JSON.parse(answered.body)).toEqual({ code: 'sockets_missing', error: expect.stringContaining('/output') })
  }
})

test('an answer that the host would not pass on is refused with the alternative', async () => {
  const client = functionClient(async () => ways.balancer(instance()))
  await client.signIn()
  const id = await client.start('lxc:101')
  await db.run(`UPDATE jobs SET status = 'error', error = ?`, ['x'.repeat(1_100_000)])

  const answered = await client.ask('GET', '/api/updates/history')
  expect(answered.status).toBe(500)
  expect(answered.json()).toMatchObject({ code: 'answer_too_large', error: expect.stringContaining('1 Mo') })
  expect((await client.ask('GET', '/api/updates/history?output=none')).json()).toMatchObject([{ job_id: id }])
})

const Binary = z.object({ statusCode: z.number(), isBase64Encoded: z.boolean(), body: z.string() })

test('the files of the page are passed on compressed: as bytes, and counted as their encoded text', async () => {
  const host = createFunctionHost(manifest, env, () => new Date())
  onTestFinished(host.stop)
  const asked = { method: 'GET', path: '/api/docs/swagger-ui.js', cookie: undefined, body: undefined }
  const headers = { 'accept-encoding': 'gzip' }
  const file = await readFile(ASSET_FILES['swagger-ui.js'])

  const { handler } = instance()
  const answered = Binary.parse(await handler(gatewayEvent({ ...asked, headers }, '192.0.2.1')))
  const request = new Request(`https://panel.test${asked.path}`, { headers })
  const balanced = await host.fetch(request, { mostBytes: 1_000_000 })

  expect(answered).toMatchObject({ statusCode: 200, isBase64Encoded: true })
  expect(gunzipSync(Buffer.from(answered.body, 'base64')).equals(file)).toBe(true)
  expect(balanced.status).toBe(200)
  expect(gunzipSync(await balanced.arrayBuffer()).equals(file)).toBe(true)
})

const MISSING: [name: string, more: Record<string, string>][] = [
  ['PANEL_DATABASE_URL', { PANEL_DATABASE_URL: '' }],
  ['PANEL_DATABASE_URL', { PANEL_DATABASE_URL: 'file:/nonexistent/panel.db' }],
  ['PANEL_SECRET_KEY', { PANEL_SECRET_KEY: '' }],
  ['PANEL_REFRESH_DAYS', { PANEL_REFRESH_DAYS: 'many' }],
]

test.for(MISSING)('with a bad %s every request says so, and the log names the variable (%j)', async ([name, more]) => {
  const written: string[] = []
  const { write } = process.stdout
  onTestFinished(() => {
    process.stdout.write = write
  })
  process.stdout.write = (text: string | Uint8Array) => Boolean(written.push(String(text)))
  const one = instance(more)
  const { ask } = functionClient(async () => ways.gateway(one))
  const answers = [await ask('GET', '/api/health'), await ask('POST', '/api/auth/login', {})]
  process.stdout.write = write

  for (const answered of answers) {
    expect(answered).toMatchObject({ status: 500, headers: { 'x-request-id': expect.any(String) } })
    expect(answered.json()).toEqual({ code: 'not_configured', error: expect.stringContaining('journal') })
    expect(answered.body).not.toContain('PANEL_')
    expect(written.find((line) => line.includes(answered.headers['x-request-id'] ?? '?'))).toContain(
      `${name} : attendu`,
    )
  }
  await expect(one.schedule()).rejects.toThrow(`${name} : attendu`)
})

test('while the database is away requests say so; the next one after that succeeds', async () => {
  const port = await freePort()
  const one = instance({ PANEL_DATABASE_URL: `http://127.0.0.1:${port}` })
  const { ask } = functionClient(async () => ways.fetch(one))
  const away = await ask('GET', '/api/health')
  expect([away.status, away.json()]).toEqual([500, { code: 'storage_failed', error: expect.any(String) }])

  const late = await startLibsqlServer(port)
  onTestFinished(late.stop)

  expect((await ask('GET', '/api/health')).status).toBe(200)
})

test('without a host, the token in the log installs, at any instance', async () => {
  const bare = { PANEL_SSH_HOST: '', PANEL_SSH_USERNAME: '', PANEL_SSH_PASSWORD: '', PANEL_LOG_LEVEL: 'warn' }
  const written: string[] = []
  const { write } = process.stdout
  process.stdout.write = (text: string | Uint8Array) => Boolean(written.push(String(text)))
  onTestFinished(() => {
    process.stdout.write = write
  })
  const { ask } = functionClient(async () => ways.fetch(instance(bare)))
  const { service, hostKey } = demo
  const body = {
    ssh_host: `127.0.0.1:${demo.port}`,
    ssh_username: service.username,
    ssh_password: service.password,
    ssh_host_key: hostKey,
  }

  expect((await ask('GET', '/api/install/status')).json()).toEqual({ installed: false })
  const [, token = ''] = /jeton d’installation : (\S{24})"/i.exec(written.join('')) ?? []
  expect((await ask('POST', '/api/install', { ...body, setup_token: `${token.slice(1)}x` })).status).toBe(403)
  expect((await ask('POST', '/api/install', { ...body, setup_token: token })).status).toBe(201)
  expect((await ask('GET', '/api/install/status')).json()).toEqual({ installed: true })
})
