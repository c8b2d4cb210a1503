import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineFunction, defineSocket } from '../../functions/services.ts'
import { testApp } from '../app.ts'
import { answered, refused } from '../functions/answers.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'

const Who = z.object({ name: z.string().nullable() })

const optional = defineFunction({
  method: 'GET',
  path: '/api/probe/optional',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'optional',
  rateLimit: { limit: 100, seconds: 60, by: 'user' },
  response: Who,
  handler: (_, { user }) => ({ name: user?.username ?? null }),
})

const required = defineFunction({
  method: 'GET',
  path: '/api/probe/required',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'user',
  rateLimit: false,
  response: Who,
  handler: (_, { user }) => ({ name: user.username }),
})

const optionalSocket = defineSocket({
  path: '/ws/probe/optional',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'optional',
  rateLimit: false,
  sends: {},
  closes: {},
  open: (_, { user, socket }) => void (user ? socket.close('done') : socket.close('missing')),
})

const requiredSocket = defineSocket({
  path: '/ws/probe/required',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'user',
  rateLimit: false,
  sends: {},
  closes: {},
  open: (_, { socket }) => socket.close('done'),
})

/** A service that can no longer read the ended sessions, and a token that was valid before. */
async function withoutStorage() {
  const app = await testApp([optional, required])
  const token = await app.tokenFor('user')
  const headers = { authorization: `Bearer ${token}` }
  const heal = () => app.db.script('ALTER TABLE gone RENAME TO ended_sessions')
  app.advance(31_000)
  await app.db.script('ALTER TABLE ended_sessions RENAME TO gone')
  return { ...app, token, headers, heal, signed: (path: string) => app.request('GET', path, { headers }) }
}

const errors = (lines: string[]) => lines.filter((line) => line.includes('"level":"error"'))

test('with optional auth, a caller who cannot be identified for lack of storage is anonymous, and the log says so', async () => {
  const { signed, lines, token, heal } = await withoutStorage()

  expect(await answered(await signed(optional.path), 200)).toEqual({ name: null })

  expect(errors(lines())).toHaveLength(1)
  expect(errors(lines())[0]).toContain(`GET ${optional.path}`)
  expect(lines().join('\n')).not.toContain(token)
  await heal()
  expect(await answered(await signed(optional.path), 200)).toEqual({ name: 'bob' })
})

test('with required auth, the answer is the storage failure and not a missing user', async () => {
  const { signed, heal } = await withoutStorage()

  await refused(await signed(required.path), 500, 'storage_failed')

  await heal()
  expect(await answered(await signed(required.path), 200)).toEqual({ name: 'bob' })
})

test('a caller without a token is served or refused without the storage', async () => {
  const { request } = await withoutStorage()

  expect(await answered(await request('GET', optional.path), 200)).toEqual({ name: null })
  await refused(await request('GET', required.path), 401, 'unauthenticated')
})

test('with optional auth, a bad token means anonymous', async () => {
  const app = await testApp([optional])

  const headers = { authorization: 'Bearer a.b.c' }
  expect(await answered(await app.request('GET', optional.path, { headers }), 200)).toEqual({ name: null })
  expect(errors(app.lines())).toEqual([])
})

test.each([[optionalSocket], [requiredSocket]])(
  'a socket whose caller cannot be identified for lack of storage closes with 1011, and not as for a stranger',
  async ({ path }) => {
    const { services, token, heal } = await withoutStorage()
    const { url } = await listening(services, { sockets: [optionalSocket, requiredSocket] })

    const socket = openSocket(url, path, { token })

    expect(await socket.end).toBe(1011)
    expect(socket.closed()).toEqual({ code: 1011, reason: 'storage_failed' })
    expect(socket.events).toEqual([])
    await heal()
    expect(await openSocket(url, path, { token }).end).toBe(1000)
  },
)

test('a socket without a token does not need the storage', async () => {
  const { services } = await withoutStorage()
  const { url } = await listening(services, { sockets: [optionalSocket, requiredSocket] })

  expect(await openSocket(url, optionalSocket.path).end).toBe(4404)
  expect(await openSocket(url, requiredSocket.path).end).toBe(4401)
})
