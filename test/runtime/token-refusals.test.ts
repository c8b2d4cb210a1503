import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import logout from '../../functions/auth/logout.post.ts'
import { defineFunction, defineSocket } from '../../functions/services.ts'
import { createLimiter } from '../../runtime/rate-limit.ts'
import { createSessions } from '../../sessions/sessions.ts'
import { START, mount, testApp } from '../app.ts'
import { answered, refused } from '../functions/answers.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'
import { bearerOf } from '../bearer.ts'

const LIMIT = 120
const HOME = '203.0.113.7'

const probe = { summary: 'A probe', description: 'Made for a test.', rateLimit: false } as const
const Who = z.object({ name: z.string().nullable() })

const known = defineFunction({
  ...probe,
  method: 'GET',
  path: '/api/probe/known',
  auth: 'user',
  response: Who,
  handler: (_, { user }) => ({ name: user.username }),
})
const administrators = defineFunction({
  ...probe,
  method: 'POST',
  path: '/api/probe/administrators',
  auth: 'admin',
  audit: false,
  response: Who,
  handler: (_, { user }) => ({ name: user.username }),
})
const optional = defineFunction({
  ...probe,
  method: 'GET',
  path: '/api/probe/optional',
  auth: 'optional',
  response: Who,
  handler: (_, { user }) => ({ name: user?.username ?? null }),
})
const ended = defineFunction({
  ...probe,
  method: 'POST',
  path: '/api/probe/refresh',
  auth: 'none',
  audit: false,
  rateLimit: { limit: 1000, seconds: 60, by: 'address' },
  response: Who,
  errors: ['refresh_invalid'],
  handler: (_, { fail }) => {
    throw fail('refresh_invalid')
  },
})
const busy = defineFunction({
  ...probe,
  method: 'POST',
  path: '/api/probe/busy',
  auth: 'none',
  audit: false,
  response: Who,
  errors: ['login_busy'],
  handler: (_, { fail }) => {
    throw fail('login_busy')
  },
})
const functions = [known, administrators, optional, ended, busy]

const socket = defineSocket({
  ...probe,
  path: '/ws/probe/known',
  auth: 'user',
  sends: {},
  closes: {},
  open: (_, { socket: one }) => one.close('done'),
})
const optionalSocket = defineSocket({
  ...probe,
  path: '/ws/probe/optional',
  auth: 'optional',
  sends: {},
  closes: {},
  open: (_, { socket: one, user }) => one.close(user ? 'done' : 'missing'),
})

/** A well-formed token with a foreign signature. */
const forged = () =>
  new SignJWT({
    sub: '1',
    username: 'root',
    is_admin: true,
    role: 'admin',
    operates: 'all',
    proven: 0,
    enrolling: false,
    sid: '1',
    jti: 'x',
  })
    .setProtectedHeader({ alg: 'HS256', kid: 'x' })
    .setIssuer('ops-panel')
    .setAudience('ops-panel')
    .setIssuedAt(Date.parse('2026-03-01') / 1000)
    .setExpirationTime('400d')
    .sign(Buffer.alloc(32))

const TRUSTING = { env: { PANEL_TRUSTED_PROXIES: '127.0.0.1' } }

async function flooded(from = HOME) {
  const app = await testApp(functions, TRUSTING)
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
  const token = await forged()
  for (let n = 0; n < LIMIT; n += 1) {
    const one = n % 2 ? bearer(token) : {}
    expect((await app.request('GET', known.path, { from, ...one })).status).toBe(401)
  }
  return { ...app, bearer, forged: token }
}

test.each([
  ['no token', undefined],
  ['a forged one', 'forged'],
])('with %s the 121st request of a minute is 429, at every function, and after a minute none is', async (_, kind) => {
  const { request, bearer, forged: token, advance } = await flooded()
  const what = { from: HOME, ...(kind && bearer(token)) }

  const answer = await request('GET', known.path, what)
  expect(answer.headers.get('retry-after')).toBe('60')
  await refused(answer, 429, 'rate_limited')
  await refused(await request('POST', administrators.path, what), 429, 'rate_limited')
  await refused(await request('POST', ended.path, what), 429, 'rate_limited')
  await refused(await request('GET', known.path, { ...what, from: '203.0.113.8' }), 401, 'unauthenticated')

  advance(60_000)
  await refused(await request('GET', known.path, what), 401, 'unauthenticated')
})

test('a signed-in user is not affected, whether or not this instance has seen the token before', async () => {
  const app = await flooded()
  const token = await app.tokenFor('user')
  const other = await createSessions({ ...app.services, secrets: app.secrets, jwtKey: undefined, refreshDays: 7 })
  const elsewhere = await other.accessToken(bearerOf({ id: 1, username: 'bob', isAdmin: false, sid: '1' }, START))

  for (const good of [token, token, elsewhere])
    expect(await answered(await app.request('GET', known.path, { from: HOME, ...app.bearer(good) }), 200)).toEqual({
      name: 'bob',
    })
  await refused(await app.request('POST', administrators.path, { from: HOME, ...app.bearer(token) }), 403, 'forbidden')
})

test('a token of an ended session counts like any other bad token, although this service issued it', async () => {
  const app = await testApp(functions, TRUSTING)
  const token = await app.tokenFor('user')
  app.services.sessions.endHere('1')
  const ask = () => app.request('GET', known.path, { from: HOME, ...{ headers: { authorization: `Bearer ${token}` } } })
  for (let n = 0; n < LIMIT; n += 1) await refused(await ask(), 401, 'unauthenticated')

  await refused(await ask(), 429, 'rate_limited')
})

test('tokens are not verified once too many were refused', async () => {
  const app = await flooded()
  let verified = 0
  const sessions = {
    ...app.services.sessions,
    verify: (token: string) => {
      verified += 1
      return app.services.sessions.verify(token)
    },
  }
  const again = mount(functions, { ...app.services, sessions })
  const headers = { authorization: `Bearer ${app.forged}`, 'x-forwarded-for': HOME }

  for (let n = 0; n < 50; n += 1) expect((await again.request(known.path, { headers })).status).toBe(429)

  expect(verified).toBe(0)
})

test('with optional auth, a bad token counts, and its caller stays anonymous', async () => {
  const app = await testApp(functions, TRUSTING)
  const headers = { authorization: 'Bearer a.b.c' }
  for (let n = 0; n < 2 * LIMIT; n += 1)
    expect(await answered(await app.request('GET', optional.path, { from: HOME, headers }), 200)).toEqual({
      name: null,
    })

  await refused(await app.request('GET', known.path, { from: HOME }), 429, 'rate_limited')
  expect(await answered(await app.request('GET', optional.path, { from: HOME }), 200)).toEqual({ name: null })
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ['::ffff:198.51.100.1', '198.51.100.1', '198.51.100.2'],
  ['198.51.100.1', '::ffff:c633:6401', '::ffff:c633:6402'],
])('%s and %s are one, %s is another', async (one, same, other) => {
  const { request } = await flooded(one)

  await refused(await request('GET', known.path, { from: same }), 429, 'rate_limited')
  await refused(await request('GET', known.path, { from: other }), 401, 'unauthenticated')
})

test('the log has the refusals with their address, a sample of a flood, and all of signed-in users', async () => {
  const app = await testApp(functions, TRUSTING)
  for (let n = 0; n < 1500; n += 1) await app.request('GET', known.path, { from: HOME })
  for (let n = 0; n < 1500; n += 1) await app.request('GET', `/api/nothing/${n}`, { from: HOME })
  for (let n = 0; n < 20; n += 1) await app.request('POST', administrators.path, { from: HOME, as: 'user' })

  const lines = app.lines().filter((line) => line.includes('request refused'))
  const of = (code: string) => lines.filter((line) => line.includes(`"code":"${code}"`))
  expect(of('unauthenticated').length).toBeLessThan(20)
  expect(of('rate_limited').length).toBeLessThan(30)
  expect(of('not_found').length).toBeLessThan(30)
  expect(of('forbidden')).toHaveLength(20)
  for (const line of lines) expect(line).toContain(`"address":"${HOME}"`)
  expect(of('rate_limited').at(-1)).toContain('"times":1024')
})

test('the log has a sample of the refusals of a crowd that is told to come again', async () => {
  const app = await testApp(functions, TRUSTING)
  for (let n = 0; n < 500; n += 1)
    await refused(await app.request('POST', busy.path, { from: `203.0.113.${n & 255}` }), 503, 'login_busy')

  const logged = app.lines().filter((line) => line.includes('request refused'))
  expect(logged.length).toBeGreaterThan(90)
  expect(logged.length).toBeLessThan(110)
})

test('the log has no line for anonymous sign-outs, and one for each other', async () => {
  const app = await testApp([logout], TRUSTING)
  const requests = () => app.lines().filter((line) => line.includes('"msg":"request"'))
  for (let n = 0; n < 20; n += 1) await answered(await app.request('POST', logout.path, { from: HOME }), 200)
  expect(requests()).toEqual([])

  await answered(await app.request('POST', logout.path, { from: HOME, as: 'user' }), 200)
  expect(requests()).toHaveLength(1)
})

test('a flood from a crowd of addresses leaves a sample as well', async () => {
  const app = await testApp(functions, TRUSTING)
  for (let n = 0; n < 1000; n += 1) await app.request('GET', known.path, { from: `203.0.${n >> 8}.${n & 255}` })

  expect(app.lines().filter((line) => line.includes('request refused')).length).toBeLessThan(120)
})

test('sockets count too: a bad token closes with 4401, too many give 429, a good one is accepted', async () => {
  const { services, tokenFor } = await testApp(functions, {})
  const { url, send } = await listening(services, { functions, sockets: [socket, optionalSocket] })
  for (let n = 0; n < LIMIT; n += 1) {
    const { path } = n % 2 ? socket : optionalSocket
    expect(await openSocket(url, path, { token: 'a.b.c' }).end).toBe(4401)
  }

  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': Buffer.alloc(16).toString('base64') }
  for (const { path } of [socket, optionalSocket]) {
    const answer = await send('GET', path, { ...upgrade, ...key, authorization: 'Bearer a.b.c' })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  }
  expect((await send('GET', known.path)).status).toBe(429)
  const token = await tokenFor('user')
  for (const { path } of [socket, optionalSocket]) expect(await openSocket(url, path, { token }).end).toBe(1000)
  // A token is optional here.
  expect(await openSocket(url, optionalSocket.path).end).toBe(4404)
})

test('counters expire over time, but not those used within the window', async () => {
  let now = 0
  const { db } = await testApp([])
  const limiter = createLimiter(db, () => new Date(now))
  const limit = { limit: 2, seconds: 60, by: 'address' } as const
  const others = () => {
    for (let n = 0; n < 100; n += 1) limiter.admit('tokens', `${now} ${n}`, limit)
  }
  for (let n = 0; n < 20; n += 1) {
    others()
    now += 31_000
    limiter.admit('tokens', 'me', limit)
    limiter.admit('tokens', 'me', limit)
    now += 15_000
    others()
    now += 15_000
    others()

    expect(limiter.wait('tokens', 'me', limit)).toBe(30_000)
    now += 60_000
    expect(limiter.wait('tokens', 'me', limit)).toBe(0)
  }
})
