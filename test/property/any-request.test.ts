import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { functions, sockets } from '../../functions/index.ts'
import { defineFunction, defineSocket } from '../../functions/services.ts'
import type { Manifest } from '../../serve/assembly.ts'
import { rounds } from '../rounds.ts'
import { seedOf } from '../rounds.ts'
import { checkAnswers } from './check.ts'
import { exchange, type WireRequest } from './client.ts'
import { anyRequest, anyUpgrade, filled, functionTarget, type Known, socketTarget, type Target } from './requests.ts'
import { judge } from './verdict.ts'
import { startWorld } from './world.ts'

/** Requests to each function. */
const RUNS = rounds(48, 400)
/** No answer of this API takes longer, least of all a refusal. */
const WITHIN_MS = 5_000
const TEST_MS = 60_000 + 300 * RUNS

const seed = seedOf('test/property/any-request.test.ts', 'whole')

const every = { runs: RUNS, seed, withinMs: WITHIN_MS }
/** Each target has its own seed. With one seed all targets would get nearly the same requests. */
const withSeeds = (targets: readonly Target[]) =>
  targets.map((target, at) => [target.name, target, { ...every, seed: seed + at }] as const)
const functionTargets = withSeeds(functions.map(functionTarget))
const socketTargets = withSeeds(sockets.map(socketTarget))

/** The endpoints of the setup wizard exist only while no host is configured. */
const INSTALL = 'POST /api/install'
const WIZARD = [INSTALL, 'POST /api/install/check', 'POST /api/install/key']
/** Cancelling succeeds only while a job runs. */
const CANCEL = 'POST /api/updates/jobs/:id/cancel'

type World = Awaited<ReturnType<typeof startWorld>>

/** Expects the service to be healthy, all jobs to end, and no connection to stay open. */
async function expectUnharmed({ agent, health, runningJobs, openConnections }: World): Promise<void> {
  expect(await health()).toBe('ok')
  await expect.poll(runningJobs, { timeout: 30_000 }).toBe(0)
  agent.destroy()
  // The connection of the last request remains, and this process holds both of its ends.
  await expect.poll(openConnections, { timeout: 10_000 }).toBeLessThanOrEqual(2)
}

const some = (statuses: Map<number, number>, wanted: (status: number) => boolean) => [...statuses.keys()].some(wanted)

/** The most rounds of `RUNS` requests each; a later round runs only if a required status has not occurred. */
const MAX_ROUNDS = 8

/** Sends requests in rounds until `seen` is true; returns how often each status occurred. */
async function checkUntil(
  seen: (statuses: Map<number, number>) => Promise<boolean> | boolean,
  [world, target, requests, options]: Parameters<typeof checkAnswers>,
) {
  const all = { requests: 0, statuses: new Map<number, number>(), rounds: 0 }
  do {
    const reached = await checkAnswers(world, target, requests, { ...options, seed: options.seed + 1_000 * all.rounds })
    all.rounds += 1
    all.requests += reached.requests
    for (const [status, count] of reached.statuses) all.statuses.set(status, (all.statuses.get(status) ?? 0) + count)
  } while (all.rounds < MAX_ROUNDS && !(await seen(all.statuses)))
  expect(all.requests).toBe(all.rounds * RUNS)
  return all.statuses
}

const noSuccess = (name: string) =>
  `no request to ${name} succeeded. In test/property/requests.ts, add a valid body for it to VALID_BODIES, its path ` +
  'parameter to VALID_PARAMETERS, or a query to VALID_QUERIES; add data that it needs to test/property/world.ts.'

test.each(functionTargets)(
  '%s answers any request in time and in the documented format, and never fails by itself',
  async (_, target, options) => {
    const world = await startWorld({
      installed: !WIZARD.includes(target.name),
      running: target.name === CANCEL,
      oidc: target.name.includes('/oidc'),
    })

    // Only one request can install, and its client may have disconnected before the answer.
    const installed = async () => target.name === INSTALL && (await world.installed())
    const succeeded = async (statuses: Map<number, number>) =>
      some(statuses, (status) => status < 400) || (await installed())

    const statuses = await checkUntil(succeeded, [world, target, anyRequest(target), options])

    expect(await succeeded(statuses), noSuccess(target.name)).toBe(true)
    expect(
      some(statuses, (status) => status >= 400),
      `some requests to ${target.name} are refused`,
    ).toBe(true)
    await expectUnharmed(world)
  },
  TEST_MS,
)

test.each(socketTargets)(
  '%s answers any request for a socket, and closes no socket because of an internal error',
  async (_, target, options) => {
    const world = await startWorld()

    const wanted = [101, 400, 403, 404]
    const seen = (statuses: Map<number, number>) => wanted.every((status) => statuses.has(status))

    const statuses = await checkUntil(seen, [world, target, anyUpgrade(target), options])

    expect([...statuses.keys()]).toEqual(expect.arrayContaining(wanted))
    await expectUnharmed(world)
  },
  TEST_MS,
)

test.each(socketTargets)(
  '%s refuses every request that does not open a socket',
  async (_, target, options) => {
    const world = await startWorld()

    const { requests, statuses } = await checkAnswers(world, target, anyRequest(target), options)

    expect(requests).toBe(RUNS)
    expect(statuses.get(404)).toBeGreaterThan(RUNS / 4)
    // A browser's preflight request gets 204, whatever request it announces.
    expect(some(statuses, (status) => status < 400 && status !== 204)).toBe(false)
    await expectUnharmed(world)
  },
  TEST_MS,
)

const ME = functionTarget(
  defineFunction({
    method: 'GET',
    path: '/api/auth/me',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'user',
    rateLimit: false,
    response: z.object({}),
    handler: () => ({}),
  }),
)
const WS = socketTarget(
  defineSocket({
    path: '/ws/updates/:jobId',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'optional',
    rateLimit: false,
    request: { params: z.object({ jobId: z.string() }) },
    sends: {},
    closes: {},
    open() {},
  }),
)

const HOST = ['Host', 'panel.example'] as const
const UPGRADE = [HOST, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']] as const
const get: Omit<WireRequest, 'headers'> = { method: 'GET', target: ME.path, body: '', framing: 'none' }
/** A token whose key id need not be a text. */
const keyNamed = (kid: unknown) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part({ sub: '1' })}.AAAA`
}
const signedBy = (kid: unknown) => ({ ...get, headers: [HOST, ['Authorization', `Bearer ${keyNamed(kid)}`]] as const })

/** Requests that random generation found once, or would produce too rarely. */
const EXAMPLES: readonly [title: string, request: WireRequest, target: Target, status: number][] = [
  ['a request without Host', { ...get, headers: [] }, ME, 400],
  ['a token whose key id is a list of one text', signedBy(['k'.repeat(43)]), ME, 401],
  ['a token whose key id is an object without a text form', signedBy({ toString: 1 }), ME, 401],
  ['a HEAD that asks for a socket', { ...get, method: 'HEAD', target: '/ws/none', headers: UPGRADE }, WS, 404],
  [
    'a HEAD that asks for a socket of an unknown version',
    { ...get, method: 'HEAD', target: '/ws/updates/1', headers: UPGRADE },
    WS,
    400,
  ],
]

test.each(EXAMPLES)('%s is refused in the form of every other error', async (_, request, target, status) => {
  const { url, agent, known } = await startWorld()

  const outcome = await exchange(url, agent, filled(request, known), WITHIN_MS)

  judge(outcome, { ...target, method: request.method })
  expect(outcome.kind === 'answer' && outcome.answer.status).toBe(status)
})

// --- The check finds planted faults.

const planted = (manifest: Partial<Manifest>): Manifest => ({
  functions: [],
  sockets: [],
  jobKinds: [],
  tasks: [],
  ...manifest,
})

const named = z.object({ name: z.string().optional() })

const REPORT =
  /Property failed after \d+ tests?\n\{ seed: \d+, path: "[\d:]+", endOnFailure: (true|false) \}\nCounterexample: /

test('a function that throws on some input is found, and the report tells how to repeat it', async () => {
  const throwing = defineFunction({
    method: 'POST',
    path: '/api/planted',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    audit: false,
    request: { body: named },
    response: z.object({}),
    handler({ body: { name = '' } }) {
      if (name.length > 3) throw new TypeError('planted')
      return {}
    },
  })
  const world = await startWorld({ manifest: planted({ functions: [throwing] }) })
  const target = functionTarget(throwing)
  const check = () => checkAnswers(world, target, anyRequest(target), every)

  const error = await check().catch((reason: unknown) => reason)

  const { message, cause } = Failed.parse(error)
  expect(message).toMatch(REPORT)
  expect(message).toContain(`seed: ${seed}`)
  expect(cause.message).toMatch(/^status 500 is not declared\n500 .*\n\{"error":".*","code":"internal"\}$/)
  await expect(check()).rejects.toThrow(message.split('Counterexample')[0])
})

const Failed = z.object({ message: z.string(), cause: z.object({ message: z.string() }) })

test('a function that never answers is found', async () => {
  const silent = defineFunction({
    method: 'GET',
    path: '/api/planted',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    request: { query: named },
    response: z.object({}),
    handler: ({ query: { name } }) => (name === undefined ? {} : new Promise<never>(() => {})),
  })
  const world = await startWorld({ manifest: planted({ functions: [silent] }) })
  const target = functionTarget(silent)

  const error = await checkAnswers(world, target, anyRequest(target), { ...every, withinMs: 500, shrink: false }).catch(
    (reason: unknown) => reason,
  )

  expect(Failed.parse(error)).toMatchObject({
    message: expect.stringMatching(REPORT),
    cause: { message: 'no answer within 500 ms' },
  })
})

test('a function whose answer differs from its declaration is found', async () => {
  const garbage = defineFunction({
    method: 'GET',
    path: '/api/planted',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'optional',
    rateLimit: false,
    response: z.object({ count: z.number() }),
    handler: (_, { user }) => ({ count: user ? Number.NaN : 1 }),
  })
  const world = await startWorld({ manifest: planted({ functions: [garbage] }) })
  const target = functionTarget(garbage)

  await expect(checkAnswers(world, target, anyRequest(target), every)).rejects.toThrow(REPORT)
})

test('a socket that fails after it has opened is found', async () => {
  const failing = defineSocket({
    path: '/ws/planted',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'optional',
    rateLimit: false,
    sends: {},
    closes: {},
    open(_, { user }) {
      if (user) throw new Error('planted')
    },
  })
  const world = await startWorld({ manifest: planted({ sockets: [failing] }) })
  const target = socketTarget(failing)

  const error = await checkAnswers(world, target, anyUpgrade(target), every).catch((reason: unknown) => reason)

  expect(Failed.parse(error).cause.message).toBe('the socket was closed with 1011, an internal error')
})

const GOOD = { 'X-Request-Id': 'one', 'Cache-Control': 'no-store' }
const refusal = (code: string) => JSON.stringify({ error: 'Non.', code })
/** Requests that Node's bare server does not refuse by itself. */
const plainRequests = anyRequest(ME).map(() => ({ ...get, headers: [HOST] }))
const LISTS = {
  task: ['1'],
  plan: ['a'],
  run: ['a'],
  schedule: ['a'],
  schedulerun: ['a'],
  channel: ['a'],
  factor: ['a'],
  apitoken: ['a'],
  account: ['a'],
  accountsession: ['a'],
  code: ['a'],
  enrolment: ['a'],
  recovery: ['a'],
  signin: ['a'],
  newpasskey: ['a'],
  passkeysignin: ['a'],
  oidcanswer: ['a'],
  link: ['a'],
  linkuse: ['a'],
  module: ['a'],
  pagemodule: ['a'],
  pageticket: ['a'],
  panel: ['a'],
}
const NONE = { setup: ['a'], host: ['a'], hostkey: ['a'], password: ['a'], ...LISTS }
const NOBODY: Known = { user: ['a.b.c'], admin: ['a.b.c'], refresh: ['a.b.c'], job: ['1'], ...NONE }

test.each([
  ['a refusal that is not JSON', 404, GOOD, 'Not Found', 'status 404 without the form of an error'],
  ['a refusal without a sentence', 404, GOOD, '{"error":"","code":"not_found"}', 'without the form of an error'],
  ['a refusal with an undeclared field', 404, GOOD, '{"error":"a","code":"not_found","stack":"b"}', 'without the form'],
  ['a refusal with malformed details', 404, GOOD, '{"error":"a","code":"not_found","details":"b"}', 'without the form'],
  ['a refusal with an unknown code', 400, GOOD, refusal('nonsense'), 'code nonsense with status 400'],
  ['a refusal with the code of another status', 403, GOOD, refusal('not_found'), 'code not_found with status 403'],
  ['an undeclared failure', 503, GOOD, refusal('login_busy'), 'status 503 is not declared'],
  ['an internal failure', 500, GOOD, refusal('storage_failed'), 'status 500 is not declared'],
  ['a rate limit without a time to retry', 429, GOOD, refusal('rate_limited'), '429 without Retry-After'],
  ['an answer without a request id', 200, { 'Cache-Control': 'no-store' }, '{}', 'no X-Request-Id'],
  ['a cacheable answer', 200, { 'X-Request-Id': 'one' }, '{}', 'Cache-Control: undefined'],
  [
    'a cacheable answer without an ETag',
    200,
    { 'X-Request-Id': 'one', 'Cache-Control': 'no-cache' },
    '{}',
    'Cache-Control: no-cache',
  ],
  ['an answer with a stack trace', 200, GOOD, JSON.stringify({ stack: new Error('planted').stack }), 'a stack trace'],
])('%s is found', async (_, status, headers, body, complaint) => {
  const server = createServer((_request, response) => void response.writeHead(status, headers).end(body))
  const url = await listening(server)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())

  const error = await checkAnswers({ url, agent, known: NOBODY }, ME, plainRequests, every).catch(
    (reason: unknown) => reason,
  )

  expect(Failed.parse(error).cause.message).toContain(complaint)
})

test('a correct answer of the same server passes', async () => {
  const server = createServer((_request, response) => void response.writeHead(404, GOOD).end(refusal('not_found')))
  const url = await listening(server)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())

  const { statuses } = await checkAnswers({ url, agent, known: NOBODY }, ME, plainRequests, every)

  expect([...statuses.keys()]).toEqual([404])
})

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`
}
