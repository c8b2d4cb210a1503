import { decodeProtectedHeader } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Caller, caller, refresh, signIn } from './client.ts'
import { type Follower, follow } from './follower.ts'
import { startJob } from './job.ts'
import { rig } from './rig.ts'
import { commandLine, type Service, startService } from './service.ts'

/** The longest time until every instance knows of an ended session or a new key. */
const PROPAGATION_MS = 60_000

let service: Service
let other: Service
/** Two upgrades, one at each instance, that run throughout the tests. */
let job: string
let otherJob: string
beforeAll(async () => {
  await rig('reset')
  await rig('slow', '6000', '50')
  service = await startService()
  other = await startService({ beside: service })
  job = await startJob(await signIn(service, 'ops'), 'lxc:101')
  otherJob = await startJob(await signIn(other, 'ops'), 'lxc:102')
  return async () => {
    await other.stop()
    await service.stop()
  }
})

test('revoking another session ends its token and socket at once, and the other sessions go on', async () => {
  const [phone, desk] = [await signIn(service, 'bob'), await signIn(service, 'bob')]
  const alice = await signIn(service, 'alice')
  const ofPhone = await watch(job, phone)
  const ofOthers = [await watch(job, desk), await watch(job, alice)]
  const lost = `/api/auth/sessions/${await currentSession(phone)}`
  expect(await alice.delete(lost)).toMatchObject({ status: 404, body: { code: 'session_missing' } })
  expect(await me(phone)).toBe(200)

  expect((await desk.delete(lost)).status).toBe(200)

  expect(await me(phone)).toBe(401)
  expect(await refresh(service, phone.cookie)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
  expect(await ofPhone.closed).toBe(4401)
  await Promise.all(ofOthers.map(expectOpen))
  expect([await me(desk), await me(alice)]).toEqual([200, 200])
  expect(await sessions(desk)).not.toContainEqual(expect.objectContaining({ id: Number(lost.split('/').at(-1)) }))
})

test('a refreshed token belongs to the same session', async () => {
  const bob = await signIn(service, 'bob')

  const again = await refreshed(bob)

  expect(again.token).not.toBe(bob.token)
  expect(await currentSession(again)).toBe(await currentSession(bob))
  expect([await me(again), await me(bob)]).toEqual([200, 200])
})

test('logging out ends the current session with its sockets and all its tokens, and no other', async () => {
  const [bob, desk] = [await signIn(service, 'bob'), await signIn(service, 'bob')]
  const again = await refreshed(bob)
  const [socket, ofDesk] = [await watch(job, bob), await watch(job, desk)]

  const { status, headers } = await bob.post('/api/auth/logout', {})

  expect(status).toBe(200)
  expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^svc_refresh=;.*Max-Age=-1/)])
  expect([await me(bob), await me(again), await me(desk)]).toEqual([401, 401, 200])
  expect(await refresh(service, bob.cookie)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
  expect(await socket.closed).toBe(4401)
  await expectOpen(ofDesk)
})

test('revoking a session at one instance ends its token and socket at the other within a minute', async () => {
  const [phone, desk] = [await signIn(service, 'bob'), await signIn(service, 'bob')]
  const [phoneThere, deskThere] = [at(other, phone), at(other, desk)]
  const [socket, ofDesk] = [await watch(otherJob, phoneThere), await watch(otherJob, deskThere)]
  expect([await me(phoneThere), await me(deskThere)]).toEqual([200, 200])

  const began = performance.now()
  expect((await desk.delete(`/api/auth/sessions/${await currentSession(phone)}`)).status).toBe(200)
  const closed = socket.closed.then((code) => ({ code, ms: performance.now() - began }))
  await until(() => me(phoneThere), 401)
  const refused = performance.now() - began
  const { code, ms } = await closed

  console.log(`the other service: token refused after ${seconds(refused)} s, socket closed after ${seconds(ms)} s`)
  expect(code).toBe(4401)
  expect(ms).toBeLessThan(PROPAGATION_MS)
  expect((await refresh(other, phone.cookie)).status).toBe(401)
  expect(await me(deskThere)).toBe(200)
  await expectOpen(ofDesk)
})

test('every running instance signs with a new key within a minute, and old tokens stay valid', async () => {
  const old = await signIn(service, 'bob')
  const socket = await watch(job, old)

  const began = performance.now()
  const kid = newKey(await commandLine(service, 'keys', 'rotate'))
  const taken = both(old).map(async (here) => {
    await until(async () => keyOf(await refreshed(here)), kid)
    return performance.now() - began
  })

  console.log(`the new key signs after ${(await Promise.all(taken)).map(seconds).join(' and ')} s`)
  expect(keyOf(old)).not.toBe(kid)
  const signedInAgain = [await signIn(service, 'bob'), await signIn(other, 'bob')]
  expect(signedInAgain.map(keyOf)).toEqual([kid, kid])
  for (const who of [old, ...signedInAgain].flatMap(both)) {
    expect(await me(who)).toBe(200)
    expect((await refresh(who.service, who.cookie)).status).toBe(200)
  }
  await expectOpen(socket)
})

test('a new key that revokes the old ones ends every session at every instance within a minute', async () => {
  const [bob, alice] = [await signIn(service, 'bob'), await signIn(other, 'alice')]
  const everywhere = [bob, alice].flatMap(both)
  expect(await Promise.all(everywhere.map(me))).toEqual([200, 200, 200, 200])
  const sockets = [await watch(job, bob), await watch(otherJob, alice)]

  const began = performance.now()
  const kid = newKey(await commandLine(service, 'keys', 'rotate', '--revoke'))
  const refused = everywhere.map(async (who) => {
    await until(() => me(who), 401)
    await until(async () => (await refresh(who.service, who.cookie)).status, 401)
    return performance.now() - began
  })
  const closed = sockets.map(async (socket) => ({ code: await socket.closed, ms: performance.now() - began }))
  const [after, ends] = [await Promise.all(refused), await Promise.all(closed)]

  const closedAfter = ends.map(({ ms }) => seconds(ms)).join(', ')
  console.log(`old tokens refused after ${after.map(seconds).join(', ')} s, sockets closed after ${closedAfter} s`)
  expect(ends.map(({ code }) => code)).toEqual([4401, 4401])
  expect(Math.max(...ends.map(({ ms }) => ms))).toBeLessThan(PROPAGATION_MS)
  const signedInAgain = [await signIn(service, 'bob'), await signIn(other, 'alice')]
  expect(signedInAgain.map(keyOf)).toEqual([kid, kid])
  expect(await Promise.all(signedInAgain.flatMap(both).map(me))).toEqual([200, 200, 200, 200])
})

const Sessions = z.array(z.object({ id: z.number(), is_current: z.boolean() }))

async function sessions(who: Caller) {
  return Sessions.parse((await who.get('/api/auth/sessions')).body)
}

/** Returns the id of the session of the caller's cookie, the only one marked as current. */
async function currentSession(who: Caller): Promise<number> {
  const current = (await sessions(who)).filter(({ is_current }) => is_current)
  expect(current).toHaveLength(1)
  return current[0]?.id ?? 0
}

async function me(who: Caller): Promise<number> {
  return (await who.get('/api/auth/me')).status
}

/** Returns the caller with a new token of the same session. */
async function refreshed({ service: one, cookie }: Caller): Promise<Caller> {
  const { status, body } = await refresh(one, cookie)
  expect(status).toBe(200)
  return caller(one, z.object({ access_token: z.string() }).parse(body).access_token, cookie)
}

/** Returns the same user as a caller of one of the services. */
function at(one: Service, { token, cookie }: Caller): Caller {
  return caller(one, token, cookie)
}

function both(who: Caller): Caller[] {
  return [at(service, who), at(other, who)]
}

/** Follows a running upgrade, and waits for its first output. */
async function watch(id: string, { service: one, token }: Caller): Promise<Follower> {
  const socket = await follow(one, id, { token, withinMs: 110_000 })
  await socket.until(({ output }) => output().includes('rig-slow: step '))
  return socket
}

/** Expects that the socket is open and more frames arrive. */
async function expectOpen(socket: Follower): Promise<void> {
  const before = socket.frames.length
  await socket.until(({ frames }) => frames.length > before + 2)
}

function until(look: () => Promise<unknown>, wanted: unknown): Promise<void> {
  return expect.poll(look, { timeout: PROPAGATION_MS, interval: 250 }).toBe(wanted)
}

function keyOf({ token }: Caller): string | undefined {
  return decodeProtectedHeader(token).kid
}

/** Returns the id of the new key that the command line prints. */
function newKey(printed: string): string {
  const [, kid] = /^Nouvelle clé de signature : ([\w-]{43})$/m.exec(printed) ?? []
  if (kid === undefined) throw new Error(`no key: ${printed}`)
  return kid
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
