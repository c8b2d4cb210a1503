import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { startLibsqlServer } from '../libsql-server.ts'
import { countFolders, timesBegun } from './begun.ts'
import { askPackages, caller, freshAddress, login, refresh, signedIn, signIn } from './client.ts'
import { jobDetail, steps, upTo } from './copies.ts'
import { type Follower, follow } from './follower.ts'
import { startFollowed, startJob } from './job.ts'
import { PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** Two instances that share only the database and the key. */
let here: Service
let there: Service
let env: Record<string, string>
const cleanUp: (() => Promise<void>)[] = []

beforeAll(async () => {
  await rig('reset')
  await countFolders()
  const server = await startLibsqlServer()
  cleanUp.push(server.stop)
  env = { PANEL_DATABASE_URL: server.url, PANEL_SECRET_KEY: randomBytes(32).toString('base64') }
  here = await startService({ env })
  cleanUp.push(() => here.stop())
  there = await startService({ env })
  cleanUp.push(() => there.stop())
})
afterAll(async () => {
  for (const step of cleanUp.reverse()) await step()
})

test('a subscriber at another instance gets a job’s output less than a second after one at its own', async () => {
  await rig('slow', '100', '100', '101')
  const bob = await signIn(here, 'bob')
  const own = await startFollowed(bob, 'lxc:101')
  const other = await follow(there, own.id, { token: bob.token })

  expect([await own.closed, await other.closed]).toEqual([1000, 1000])
  expect(other.output()).toBe(own.output())
  expect(steps(other.output())).toEqual(upTo(100))
  const lags = lagsOf(other, own)
  const [median = 0, most = 0] = [lags.at(lags.length / 2), lags.at(-1)]
  console.info(`${lags.length} chunks, each later at the other instance: median ${median} ms, at most ${most} ms`)
  expect(lags.length).toBeGreaterThan(10)
  expect(median).toBeLessThan(1_000)
})

test('a user is signed in at both instances, and changes at one apply at the other', async () => {
  const bob = await signIn(here, 'bob')
  const elsewhere = caller(there, bob.token, bob.cookie)

  expect(await elsewhere.patch('/api/auth/preferences', { theme: 'light', lang: 'en' })).toMatchObject({ status: 200 })
  expect(await bob.get('/api/auth/me')).toMatchObject({ status: 200, body: { theme: 'light', lang: 'en' } })
  const renewed = signedIn(there, await refresh(there, bob.cookie))
  expect(await caller(here, renewed.token, bob.cookie).get('/api/auth/me')).toMatchObject({ status: 200 })
})

test('the login limit counts the attempts at both instances together', async () => {
  const address = freshAddress()
  const statuses: number[] = []
  for (const service of [here, there, here, there, here, there, here])
    statuses.push((await login(service, '', '', address)).status)

  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429])
  const refused = await login(there, 'bob', PASSWORDS.bob, address)
  expect(refused).toMatchObject({ status: 429, body: { code: 'login_rate_limited' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30)
})

test('settings that are changed at one instance apply at the other', async () => {
  const alice = await signIn(here, 'alice')
  const elsewhere = caller(there, alice.token, alice.cookie)
  expect((await askPackages(elsewhere, 'host')).status).toBe(200)

  await alice.patch('/api/settings', { ssh_password: 'another one' })
  const refused = await askPackages(elsewhere, 'host')
  await alice.patch('/api/settings', { ssh_username: 'ops', ssh_password: PASSWORDS.ops })
  const admitted = await askPackages(elsewhere, 'host')

  expect(refused).toMatchObject({ status: 502, body: { code: 'ssh_failed' } })
  expect(admitted.status).toBe(200)
  expect(await elsewhere.get('/api/settings')).toMatchObject({ body: { ssh_username: 'ops' } })
  await alice.patch('/api/settings', { ssh_username: 'root', ssh_password: PASSWORDS.root })
})

test('a logout at one instance ends the cookie at the other at once, token and sockets within a minute', async () => {
  await rig('reset', '102')
  await rig('slow', '900', '100', '102')
  const bob = await signIn(here, 'bob')
  const id = await startJob(bob, 'lxc:102')
  const watching = await follow(there, id, { token: bob.token })
  const elsewhere = caller(there, bob.token, bob.cookie)
  expect(await elsewhere.get('/api/auth/me')).toMatchObject({ status: 200 })

  const ended = performance.now()
  expect(await bob.post('/api/auth/logout', {})).toMatchObject({ status: 200 })

  expect(await refresh(there, bob.cookie)).toMatchObject({ status: 401, body: { code: 'session_ended' } })
  const refused = async () => (await elsewhere.get('/api/auth/me')).status
  await expect.poll(refused, { timeout: 60_000, interval: 100 }).toBe(401)
  const tokenAfter = performance.now() - ended
  expect(await watching.closed).toBe(4401)
  const socketAfter = performance.now() - ended
  console.info(`refused elsewhere after ${seconds(tokenAfter)} s, the socket closed after ${seconds(socketAfter)} s`)
  expect(socketAfter).toBeLessThan(60_000)
  const again = await signIn(there, 'bob')
  expect(await again.post(`/api/updates/jobs/${id}/cancel`, {})).toMatchObject({ status: 202 })
})

test('an instance that is killed under load loses nothing that it has acknowledged', async () => {
  await rig('reset')
  await countFolders()
  await rig('slow', '10', '50')
  const bob = await signIn(here, 'bob')
  const cookies: string[] = []
  const jobs: string[] = []
  let layout = 0
  let going = true
  const again = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 1; going; n += 1) await work(n).catch(() => {})
  }
  const asking = Promise.all([
    again(async () => cookies.push((await signIn(here, 'bob')).cookie)),
    again(async () => cookies.push((await signIn(here, 'zoe')).cookie)),
    again(async (n) => {
      if ((await bob.put('/api/dashboard/layout', { n })).status === 200) layout = n
    }),
    ...['host', 'lxc:101', 'lxc:102', 'all'].map((target) =>
      again(async () => {
        // A target has one upgrade at a time.
        const id = await startJob(bob, target).finally(() => pause(300))
        jobs.push(id)
      }),
    ),
  ])

  await vi.waitUntil(() => cookies.length > 3 && jobs.length > 8 && layout > 3, { timeout: 60_000 })
  await here.kill()
  going = false
  const killed = performance.now()
  await asking

  const elsewhere = caller(there, bob.token, bob.cookie)
  for (const cookie of cookies) expect(await refresh(there, cookie)).toMatchObject({ status: 200 })
  expect(Layout.parse((await elsewhere.get('/api/dashboard/layout')).body).n).toBeGreaterThanOrEqual(layout)
  await expect.poll(() => there.log(), { timeout: 30_000 }).toContain('job taken up again')
  console.info(`${jobs.length} jobs; the first is taken over ${seconds(performance.now() - killed)} s after the kill`)
  for (const id of jobs) {
    await expect.poll(async () => (await jobDetail(elsewhere, id)).status, { timeout: 90_000 }).toBe('success')
    expect(await timesBegun(id, there.database)).toBeLessThan(3)
  }
  here = await startService({ env })
})

const Layout = z.object({ n: z.number() })

/** Returns how much later each chunk reached one subscriber than the other, in ms, sorted. */
function lagsOf(late: Follower, early: Follower): number[] {
  return late.frames
    .map(({ seq, at }) => Math.round(at - (early.frames.find((frame) => frame.seq >= seq)?.at ?? at)))
    .sort((a, b) => a - b)
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
