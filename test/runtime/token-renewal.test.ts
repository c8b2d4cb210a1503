import { expect, test } from 'vitest'
import { saveUser } from '../../db/users.ts'
import { defineSocket, type Services } from '../../functions/services.ts'
import type { User } from '../../runtime/context.ts'
import { START, testApp } from '../app.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'
import { bearerOf } from '../bearer.ts'

/** A socket without its own frames. */
const PROBE = { summary: 'A probe', description: 'Made for a test.', sends: {}, closes: {} }
const probe = defineSocket({ ...PROBE, path: '/ws/probe', auth: 'user', rateLimit: false, open() {} })
const optional = defineSocket({ ...PROBE, path: '/ws/optional', auth: 'optional', rateLimit: false, open() {} })
const admin = defineSocket({ ...PROBE, path: '/ws/admin', auth: 'admin', rateLimit: false, open() {} })

type Verify = Services['sessions']['verify']

/** Open sockets of a service whose clock is just before the end of the first token. */
async function start(verify: (original: Verify) => Verify = (original) => original) {
  const app = await testApp([])
  const { sessions } = app.services
  const services = { ...app.services, sessions: { ...sessions, verify: verify(sessions.verify) } }
  const { url } = await listening(services, { sockets: [probe, optional, admin] })
  const { id } = await saveUser(app.db, 'alice', true, START.toISOString())
  const token = (user: Partial<User> = {}) =>
    sessions.accessToken({ ...bearerOf({ id, username: 'alice', isAdmin: true }, START), ...user })
  const open = async (socket: { path: string }, by: string) => {
    const opened = openSocket(url, socket.path, { token: by })
    await opened.opened
    return { ...opened, renew: (fresh: unknown) => opened.ws.send(JSON.stringify({ type: 'auth', token: fresh })) }
  }
  return { ...app, sessions, token, open, url }
}

const isOpen = ({ ws }: { ws: { readyState: number; OPEN: number } }) => ws.readyState === ws.OPEN

test.each([probe, optional, admin])('with a new token $path outlives the one that opened it', async (socket) => {
  const { token, open, advance } = await start()
  const first = await token()
  advance(898_000)
  const renewed = await open(socket, first)
  renewed.renew(await token({ sid: '2' }))
  const witness = await open(socket, first)

  expect(await witness.end).toBe(4401)

  expect(isOpen(renewed)).toBe(true)
})

test('after the renewal the socket ends with the session of the new token, and no longer with the previous one', async () => {
  const { token, open, sessions } = await start()
  const socket = await open(probe, await token())
  socket.renew(await token({ sid: '2' }))
  const witness = await open(probe, await token({ sid: '1' }))
  // Earlier messages are handled when a later connection is answered, and then once more.
  await (await open(probe, await token())).ws.ping()

  await expect.poll(() => isOpen(socket)).toBe(true)
  sessions.endHere('1')
  expect(await witness.end).toBe(4401)
  expect(isOpen(socket)).toBe(true)
  sessions.endHere('2')
  expect(await socket.end).toBe(4401)
})

test('an invalid token closes with 4401', async () => {
  const { token, open, advance } = await start()
  const expired = await token()
  advance(901_000)

  for (const bad of ['', 'a.b.c', 'x'.repeat(1000), 7, null, undefined, {}, expired]) {
    const socket = await open(probe, await token())
    socket.renew(bad)
    expect(await socket.end).toBe(4401)
  }
})

test('another user’s token, or one that would not have opened it, closes with 4403', async () => {
  const { token, open } = await start()

  for (const foreign of [{ id: 99 }, { id: 99, role: 'operator' }, { role: 'operator' }] as const) {
    const socket = await open(admin, await token())
    socket.renew(await token(foreign))
    expect(await socket.end).toBe(4403)
  }
  const socket = await open(probe, await token())
  socket.renew(await token({ role: 'operator' }))
  socket.renew(await token({ id: 99 }))
  expect(await socket.end).toBe(4403)
})

test('a client without a token stays anonymous, and other messages have no effect', async () => {
  const { token, url } = await start()
  const nobody = openSocket(url, optional.path)
  await nobody.opened
  const somebody = openSocket(url, optional.path, { token: await token() })
  await somebody.opened

  nobody.ws.send(JSON.stringify({ type: 'auth', token: 'a.b.c' }))
  for (const text of ['"auth"', '{"type":"auth"', '{"type":"other","token":"auth"}', '[]', 'x']) somebody.ws.send(text)
  somebody.ws.send(Buffer.from('{"type":"auth","token":"a.b.c"}'), { binary: true })

  // Each message is handled when the ping after it is answered.
  for (const { ws } of [nobody, somebody]) {
    await new Promise((resolve) => ws.once('pong', resolve).ping())
    expect(ws.readyState).toBe(ws.OPEN)
  }
})

test('of many renewals one is verified at a time, and none after a refused one', async () => {
  let running = 0
  let most = 0
  let verified = 0
  const { token, open } = await start((original) => async (text) => {
    running += 1
    most = Math.max(most, running)
    verified += 1
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return original(text)
  })
  const good = await token()
  const socket = await open(probe, good)
  verified = 0
  most = 0

  for (let n = 0; n < 100; n += 1) socket.renew(good)
  for (let n = 0; n < 100; n += 1) socket.renew('a.b.c')

  expect(await socket.end).toBe(4401)
  expect(most).toBe(1)
  expect(verified).toBe(101)
})

test('a failure of the service closes with 1011', async () => {
  let broken = false
  const { token, open, lines } = await start((original) => (text) => {
    if (broken) throw new Error('broken')
    return original(text)
  })
  const socket = await open(probe, await token())
  broken = true

  socket.renew(await token())

  expect(await socket.end).toBe(1011)
  expect(lines().join('\n')).toContain('socket failed')
})
