import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import type { LookupFunction } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { type Service, startService } from '../host/service.ts'
import { openSocket } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { NAME, type ProxyName, startProxy } from './proxy.ts'

let demo: DemoHost
let service: Service

beforeAll(async () => {
  demo = await startDemoHost({ lineMs: 0, wrongMs: 0 })
  service = await startService({
    as: null,
    env: {
      PANEL_TRUSTED_PROXIES: '127.0.0.1',
      PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
      PANEL_SSH_USERNAME: demo.service.username,
      PANEL_SSH_PASSWORD: demo.service.password,
    },
  })
})

afterAll(async () => {
  await service.stop()
  await demo.close()
})

const Login = z.object({ access_token: z.string() })
const Started = z.object({ job_id: z.string() })
const History = z.array(z.looseObject({ job_id: z.string(), status: z.string(), output: z.string() }))

/** Resolves the proxy's name to the loopback. */
const lookup: LookupFunction = (_, options, answer) => {
  if (options.all) answer(null, [{ address: '127.0.0.1', family: 4 }])
  else answer(null, '127.0.0.1', 4)
}

describe.each<ProxyName>(['nginx', 'caddy'])('%s, as the guide configures it', (name) => {
  let proxy: Awaited<ReturnType<typeof startProxy>>
  const cleaning: (() => Promise<void>)[] = []
  let host = name === 'nginx' ? 20 : 120
  /** Returns an address that no limit has counted yet. */
  const newAddress = () => {
    host += 1
    return `127.0.0.${host}`
  }

  beforeAll(async () => {
    proxy = await startProxy(name, service.url, (work) => cleaning.push(work))
  })
  afterAll(async () => {
    for (const work of cleaning.reverse()) await work()
  })

  /** Returns the connection options of a client at an address, with TLS as strict as in a browser. */
  const connection = (from: string) => ({ ca: proxy.cert, lookup, localAddress: from })

  async function ask(
    method: string,
    path: string,
    { from, body, headers = {} }: { from: string; body?: string; headers?: Record<string, string> },
  ) {
    const sent = request(`${proxy.url}${path}`, { ...connection(from), method, headers })
    sent.end(body)
    const [response] = await once(sent, 'response')
    const cookies: string[] = response.headers['set-cookie'] ?? []
    return { status: Number(response.statusCode), cookies, text: await text(response) }
  }

  const login = (from: string, password = 'demo', headers: Record<string, string> = {}) =>
    ask('POST', '/api/auth/login', { from, body: JSON.stringify({ username: 'demo', password }), headers })

  async function signIn() {
    const from = newAddress()
    const { access_token: token } = Login.parse(JSON.parse((await login(from)).text))
    const headers = { authorization: `Bearer ${token}`, origin: proxy.url }
    return { from, token, headers }
  }

  async function startUpgrade({ from, headers }: Awaited<ReturnType<typeof signIn>>, target = 'host'): Promise<string> {
    const { text } = await ask('POST', '/api/updates/run', { from, headers, body: JSON.stringify({ target }) })
    return Started.parse(JSON.parse(text)).job_id
  }

  test('a sign-in sets a secure cookie, with which a page of the panel renews its token', async () => {
    const from = newAddress()

    const { status, cookies } = await login(from, 'demo', { origin: proxy.url })

    expect({ status, count: cookies.length }).toEqual({ status: 200, count: 1 })
    const [cookie = '', ...attributes] = cookies[0]?.split('; ') ?? []
    expect(attributes).toContain('Secure')
    const refreshed = await ask('POST', '/api/auth/refresh', { from, headers: { cookie, origin: proxy.url } })
    expect(refreshed.status).toBe(200)
  })

  test('the sixth attempt of a client is refused whatever address it claims, and no other client’s', async () => {
    const [busy, other] = [newAddress(), newAddress()]
    const statuses = []
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const forged = { 'x-forwarded-for': newAddress(), 'x-real-ip': newAddress(), forwarded: `for=${newAddress()}` }
      statuses.push((await login(busy, 'wrong', forged)).status)
    }

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
    expect((await login(other)).status).toBe(200)
  })

  test('a page of the panel follows an upgrade live, and a page of another origin does not', async () => {
    const output = controlledOutput(demo)
    const signedIn = await signIn()
    const job = await startUpgrade(signedIn)
    const { from, token } = signedIn
    const open = (origin: string) =>
      openSocket(proxy.url, `/ws/updates/${job}`, { token, headers: { origin }, connection: connection(from) })
    const follower = open(proxy.url)
    await follower.opened

    output.print('first\n')
    await expect.poll(follower.text).toContain('first\n')
    output.print('second\n')
    output.end()

    expect(await follower.end).toBe(1000)
    expect(follower.text()).toContain('first\nsecond\n')
    const foreign = open('https://elsewhere.example')
    await foreign.end.catch(() => {})
    expect(foreign.refused()?.status).toBe(403)
  })

  test('a follower stays connected when there is no output for longer than the proxy’s timeout', async () => {
    const output = controlledOutput(demo)
    const signedIn = await signIn()
    const { from, token } = signedIn
    const job = await startUpgrade(signedIn)
    const follower = openSocket(proxy.url, `/ws/updates/${job}`, { token, connection: connection(from) })
    await follower.opened
    output.print('begun\n')
    await expect.poll(follower.text).toContain('begun\n')

    const quietSince = performance.now()
    const pings: number[] = []
    follower.ws.on('ping', () => pings.push(performance.now()))
    await expect.poll(() => pings.length, { timeout: 60_000 }).toBe(2)
    // The proxy would close the connection within this time.
    await pause(Math.max(0, quietSince + 35_000 - performance.now()))

    expect(follower.closed()).toBeUndefined()
    const [first = 0, second = 0, ...more] = pings
    expect(more).toEqual([])
    // A ping every 25 s, which a busy machine may delay.
    expect(first - quietSince).toBeLessThan(35_000)
    expect(second - first).toBeGreaterThan(15_000)
    expect(second - first).toBeLessThan(35_000)
    output.print('after a long time\n')
    output.end()
    expect(await follower.end).toBe(1000)
    expect(follower.text()).toContain('after a long time\n')
  })

  test('a history of many megabytes arrives complete', async () => {
    demo.upgradeOutput = async function* () {
      for (let line = 0; line < 50; line += 1) yield Buffer.from(`${'x'.repeat(65_535)}\n`)
    }
    const signedIn = await signIn()
    const jobs: string[] = []
    for (const target of ['host', 'lxc:101', 'lxc:102']) jobs.push(await startUpgrade(signedIn, target))
    const ended = async () => {
      const { text } = await ask('GET', '/api/updates/history?output=none', signedIn)
      const all = z.array(z.object({ job_id: z.string(), status: z.string() })).parse(JSON.parse(text))
      return all.filter(({ job_id, status }) => jobs.includes(job_id) && status !== 'running').length
    }
    await expect.poll(ended, { timeout: 60_000, interval: 200 }).toBe(3)

    const { status, text } = await ask('GET', '/api/updates/history', signedIn)

    const direct = await fetch(`${service.url}/api/updates/history`, { headers: signedIn.headers })
    expect(status).toBe(200)
    expect(text.length).toBeGreaterThan(9_000_000)
    expect(History.parse(JSON.parse(text))).toEqual(await direct.json())
  })

  test('the service refuses a body that is too long, in the format of its other errors', async () => {
    const { from, headers } = await signIn()

    const { status, text } = await ask('POST', '/api/updates/run', { from, headers, body: 'x'.repeat(1_200_000) })

    expect(status).toBe(413)
    expect(JSON.parse(text)).toMatchObject({ code: 'body_too_large' })
  })

  test('the proxy speaks HTTP/2 with clients', async () => {
    const session = connectHttp2(proxy.url, { ca: proxy.cert, lookup, servername: NAME })
    try {
      const stream = session.request({ ':path': '/api/health', ':authority': `${NAME}:${proxy.port}` })
      const [headers] = await once(stream, 'response')
      expect(headers[':status']).toBe(200)
      expect(JSON.parse(await text(stream))).toMatchObject({ status: 'ok' })
    } finally {
      session.close()
    }
  })
})
