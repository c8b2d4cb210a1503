import { expect, test } from 'vitest'
import { endSessions } from '../../db/sessions.ts'
import syncEndedSessions from '../../functions/auth/sync-ended-sessions.task.ts'
import login from '../../functions/auth/login.post.ts'
import logout from '../../functions/auth/logout.post.ts'
import revoke from '../../functions/auth/session.delete.ts'
import { defineSocket } from '../../functions/services.ts'
import { testApp } from '../app.ts'
import { type Client, signIn } from '../functions/auth/client.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'

/** A socket without its own frames. */
const PROBE = { summary: 'A probe', description: 'Made for a test.', sends: {}, closes: {} }
const silent = defineSocket({ ...PROBE, path: '/ws/probe', auth: 'optional', rateLimit: false, open() {} })

/** A service whose sockets stay open, and a way to open one for a client. */
async function start() {
  const app = await testApp([login, logout, revoke])
  const { url } = await listening(app.services, { sockets: [silent] })
  const open = async ({ token }: Client) => {
    const socket = openSocket(url, silent.path, { token })
    await socket.opened
    return socket
  }
  return { ...app, url, open }
}

test('a logout closes the sockets of its session with 4401, and no others', async () => {
  const app = await start()
  const [here, elsewhere, alice] = [await signIn(app), await signIn(app), await signIn(app, 'alice')]
  const [one, two] = [await app.open(here), await app.open(here)]
  const others = [await app.open(elsewhere), await app.open(alice)]
  const stranger = openSocket(app.url, silent.path)
  await stranger.opened

  await app.request('POST', '/api/auth/logout', { headers: here.headers() })

  expect([await one.end, await two.end]).toEqual([4401, 4401])
  for (const socket of [...others, stranger]) {
    expect(socket.closed()).toBeUndefined()
    expect(socket.ws.readyState).toBe(socket.ws.OPEN)
  }
  expect(await openSocket(app.url, silent.path, { token: here.token }).end).toBe(4401)
})

test('a revocation from elsewhere does the same', async () => {
  const app = await start()
  const [here, lost] = [await signIn(app), await signIn(app)]
  const socket = await app.open(lost)
  const mine = await app.open(here)

  await app.request('DELETE', `/api/auth/sessions/${lost.sid}`, { headers: here.headers() })

  expect(await socket.end).toBe(4401)
  expect(mine.closed()).toBeUndefined()
})

test('a session ended by another instance closes its sockets in the task that reads the end', async () => {
  const app = await start()
  const [bob, alice] = [await signIn(app), await signIn(app, 'alice')]
  const [socket, other] = [await app.open(bob), await app.open(alice)]

  await endSessions(app.db, { userId: bob.userId }, app.services.clock().toISOString())
  expect(socket.closed()).toBeUndefined()
  await syncEndedSessions.run(app.services)

  expect(await socket.end).toBe(4401)
  expect(other.closed()).toBeUndefined()
})

test('a closed socket is forgotten: the end of its session has no effect on it', async () => {
  const app = await start()
  const bob = await signIn(app)
  const socket = await app.open(bob)
  socket.ws.close(1000)
  expect(await socket.end).toBe(1000)

  await app.request('POST', '/api/auth/logout', { headers: bob.headers() })

  expect(socket.closed()).toMatchObject({ code: 1000 })
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toEqual([])
})
