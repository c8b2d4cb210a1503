import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../functions/auth/login.post.ts'
import me from '../../functions/auth/me.get.ts'
import preferences from '../../functions/auth/preferences.patch.ts'
import { defineFunction } from '../../functions/services.ts'
import { testApp } from '../app.ts'
import { answered, auditedActions, refused, rows } from '../functions/answers.ts'
import { listening } from '../serve/listening.ts'

const FRIEND = 'https://panel.example'
const OPEN = { PANEL_ORIGINS: `${FRIEND}, https://other.example:8443` }

const limited = defineFunction({
  method: 'GET',
  path: '/api/probe/limited',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: { limit: 1, seconds: 60, by: 'address' },
  response: z.null(),
  handler: () => null,
})

const functions = [login, me, preferences, limited]
const start = (env: Record<string, string> = OPEN) => testApp(functions, { env })

const preflight = (origin: string, method = 'PATCH') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type',
})

const corsHeaders = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-')))

const ACTUAL = {
  'access-control-allow-origin': FRIEND,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'X-Request-Id,Retry-After,Allow',
}

test('a preflight of a configured origin is answered without a body, and reaches no handler', async () => {
  const app = await start()

  const response = await app.request('OPTIONS', '/api/auth/preferences', { headers: preflight(FRIEND) })

  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(corsHeaders(response)).toMatchObject({
    'access-control-allow-origin': FRIEND,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
    'access-control-allow-headers': 'Authorization,Content-Type',
    'access-control-max-age': '7200',
  })
  expect(response.headers.get('vary')).toMatch(/\bOrigin\b/i)
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('content-type')).toBeNull()
  expect(await auditedActions(app.db)).toEqual([])
})

test('a preflight counts towards no limit', async () => {
  const app = await start()

  for (let round = 0; round < 10; round += 1)
    await app.request('OPTIONS', '/api/auth/login', { headers: preflight(FRIEND, 'POST') })

  expect(await rows(app.db, 'SELECT * FROM rate_hits')).toEqual([])
})

test('each preflight has a request id of its own', async () => {
  const app = await start()
  const ask = () => app.request('OPTIONS', '/api/auth/me', { headers: preflight(FRIEND, 'GET') })

  expect((await ask()).headers.get('x-request-id')).not.toBe((await ask()).headers.get('x-request-id'))
})

test.each([[FRIEND], ['https://other.example:8443']])('a page of %s may read a response', async (origin) => {
  const app = await start()

  const response = await app.request('GET', '/api/auth/me', { as: 'user', headers: { origin } })

  expect(corsHeaders(response)).toEqual({ ...ACTUAL, 'access-control-allow-origin': origin })
  expect(response.headers.get('vary')).toMatch(/\bOrigin\b/i)
  expect(await answered(response, 200)).toMatchObject({ username: 'bob' })
})

test('a page of a configured origin may read errors and Retry-After', async () => {
  const app = await start()
  const ask = (method: string, path: string, body?: string) =>
    app.request(method, path, { headers: { origin: FRIEND }, ...(body !== undefined && { body }) })
  await ask('GET', '/api/probe/limited')

  const over = await ask('GET', '/api/probe/limited')
  const failures = [
    [over, 429, 'rate_limited'],
    [await ask('GET', '/api/auth/me'), 401, 'unauthenticated'],
    [await ask('POST', '/api/auth/login', '{'), 400, 'invalid_json'],
    [await ask('GET', '/api/nothing'), 404, 'not_found'],
    [await ask('DELETE', '/api/auth/me'), 405, 'method_not_allowed'],
  ] as const

  for (const [response, status, code] of failures) {
    expect(corsHeaders(response)).toEqual(ACTUAL)
    await refused(response, status, code)
  }
  expect(over.headers.get('retry-after')).toBe('60')
})

test('a login from a configured origin sets its one cookie', async () => {
  const app = await start()

  const body = { username: 'bob', password: 'x' }
  const response = await app.request('POST', '/api/auth/login', { body, headers: { origin: FRIEND } })

  expect(corsHeaders(response)).toEqual(ACTUAL)
  expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^svc_refresh=/)])
  await answered(response, 200)
})

test.each([
  ['https://evil.example'],
  ['https://panel.example.evil.example'],
  ['http://panel.example'],
  ['https://panel.example:444'],
  ['https://PANEL.example'],
  ['null'],
])('a page of %s gets no CORS header, and its preflight is refused', async (origin) => {
  const app = await start()

  const response = await app.request('GET', '/api/auth/me', { as: 'user', headers: { origin } })
  expect(corsHeaders(response)).toEqual({})
  const asked = await app.request('OPTIONS', '/api/auth/me', { headers: preflight(origin, 'GET') })
  expect(corsHeaders(asked)).toEqual({})
  await refused(asked, 405, 'method_not_allowed')
})

test('without an Origin there are no CORS headers', async () => {
  const app = await start()

  expect(corsHeaders(await app.request('GET', '/api/auth/me', { as: 'user' }))).toEqual({})
})

test('unless PANEL_ORIGINS opens it, everything is closed', async () => {
  const app = await start({})

  for (const origin of [FRIEND, 'http://localhost', 'null']) {
    const response = await app.request('GET', '/api/auth/me', { as: 'user', headers: { origin } })
    expect(corsHeaders(response)).toEqual({})
    const asked = await app.request('OPTIONS', '/api/auth/me', { headers: preflight(origin) })
    expect(corsHeaders(asked)).toEqual({})
    await refused(asked, 405, 'method_not_allowed')
  }
})

test('over the wire CORS is the same', async () => {
  const { services } = await start()
  const { send } = await listening(services, { functions })

  const asked = await send('OPTIONS', '/api/auth/preferences', preflight(FRIEND))
  expect(asked).toMatchObject({ status: 204, body: '' })
  expect(asked.headers).toMatchObject({
    'access-control-allow-origin': FRIEND,
    'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
    'x-request-id': expect.any(String),
  })
  expect(asked.headers).not.toHaveProperty('content-type')
  const answer = await send('GET', '/api/auth/me', { origin: FRIEND })
  expect(answer.status).toBe(401)
  expect(answer.headers).toMatchObject(ACTUAL)
  const foreign = await send('GET', '/api/auth/me', { origin: 'https://evil.example' })
  expect(foreign.headers).not.toHaveProperty('access-control-allow-origin')
})
