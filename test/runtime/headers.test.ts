import { expect, test } from 'vitest'
import * as z from 'zod'
import { functions, sockets } from '../../functions/index.ts'
import { ANSWER_HEADERS } from '../../runtime/answer.ts'
import type { AnyFunction } from '../../runtime/function.ts'
import { testApp } from '../app.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'

const EXPECTED = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const broken: AnyFunction = {
  method: 'GET',
  path: '/api/probe/broken',
  auth: 'none',
  rateLimit: false,
  response: z.null(),
  handler() {
    throw new Error('broken')
  },
}

const once: AnyFunction = {
  ...broken,
  path: '/api/probe/once',
  rateLimit: { limit: 1, seconds: 60, by: 'address' },
  handler: () => null,
}

test('a response is no page: it is not kept, framed, sniffed or embedded, and does not name its software', () => {
  expect(ANSWER_HEADERS).toEqual(EXPECTED)
})

test.each([
  ['GET', '/api/health', 200],
  ['POST', '/api/auth/logout', 200],
  ['GET', '/.well-known/jwks.json', 200],
  ['POST', '/api/auth/login', 400],
  ['GET', '/api/auth/me', 401],
  ['POST', '/api/auth/refresh', 401],
  ['GET', '/api/nothing', 404],
  ['GET', '/nothing', 404],
  ['GET', '/ws/updates/1', 404],
  ['DELETE', '/api/health', 405],
  ['OPTIONS', '/api/health', 405],
  ['GET', '/api/probe/once', 200],
  ['GET', '/api/probe/once', 429],
  ['GET', '/api/probe/broken', 500],
])('%s %s has these headers over the wire too (%i)', async (method, path, status) => {
  const { services } = await testApp([])
  const { send } = await listening(services, { functions: [...functions, broken, once], sockets })
  if (status === 429) await send(method, path)

  const answer = await send(method, path)

  expect(answer.status).toBe(status)
  expect(answer.headers).toMatchObject(EXPECTED)
  expect(answer.headers).toMatchObject({ 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) })
  expect(Object.keys(answer.headers)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(server|x-powered-by|strict-transport-security)$/)]),
  )
})

test('HEAD returns the headers of GET without a body', async () => {
  const { services } = await testApp([])
  const { send } = await listening(services, { functions })

  const answer = await send('HEAD', '/api/health')

  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject(EXPECTED)
  expect(answer.body).toBe('')
})

test.each([
  ['an unknown path', '/ws/nothing', {}, 404],
  ['a foreign origin', '/ws/updates/1', { origin: 'https://evil.example' }, 403],
])('a socket that is refused for %s gets these headers', async (_, path, headers, status) => {
  const { services } = await testApp([])
  const { url } = await listening(services, { functions, sockets })

  const socket = openSocket(url, path, { headers })

  await expect.poll(() => socket.refused()).toMatchObject({ status })
  expect(socket.refused()?.headers).toMatchObject(EXPECTED)
  expect(socket.refused()?.headers).toMatchObject({ 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) })
})

test('a socket that is refused for its limit gets these headers and Retry-After', async () => {
  const { services } = await testApp([])
  const limited = sockets.map((socket) => ({
    ...socket,
    rateLimit: { limit: 1, seconds: 60, by: 'address' as const },
  }))
  const { url } = await listening(services, { sockets: limited })
  await openSocket(url, '/ws/updates/1').end

  const socket = openSocket(url, '/ws/updates/1')

  await expect.poll(() => socket.refused()).toMatchObject({ status: 429 })
  expect(socket.refused()?.headers).toMatchObject({ ...EXPECTED, 'retry-after': '60' })
})
