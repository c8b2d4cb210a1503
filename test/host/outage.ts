import { setTimeout as pause } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import * as z from 'zod'
import { type Asked, type Asking, keepAsking, type Question } from './asking.ts'
import { timesBegun } from './begun.ts'
import { type Answer, type Caller, login, record, refresh } from './client.ts'
import { alike, hashes, jobDetail, keepHostFile } from './copies.ts'
import { startJob } from './job.ts'
import { followOn } from './resuming.ts'
import { PASSWORDS, type Place } from './rig.ts'
import { isHealthy, type Service } from './service.ts'

/** Long enough for a sign-in that was under way (20 s) and a whole sign-in after it (10 s) to fail. */
const AWAY_MS = 34_000
/** The service waits 10 s for the database, and some requests need it twice. */
const BOUND_MS = 25_000
/** The last attempt during the outage may be a call that waits 10 s in vain. */
const BACK_MS = 15_000
/** The longest wait for a lock of a local database, which blocks the event loop. */
const BLOCKED_MS = 5_000

interface Outage {
  service: Service
  bob: Caller
  place: Place
  begin(): void | Promise<void>
  end(): void | Promise<void>
  /** Runs in the middle of the outage. */
  meanwhile?(job: { id: string }): Promise<unknown>
  /** Whether the database can still be read during the outage. */
  readable?: boolean
  /** The time in ms after `begin` during which writes may still succeed. */
  settleMs?: number
}

/**
 * Takes the database away for more than 30 s during a job, while clients repeat all kinds of requests. Expects that the
 * requests are refused, that nothing is lost or begun twice, and that the service recovers by itself.
 */
export async function throughOutage({
  service,
  bob,
  place,
  begin,
  end,
  meanwhile,
  readable = false,
  settleMs = 1_500,
}: Outage) {
  const boot = await health(service)
  const id = await startJob(bob, target(place))
  const kept = keepHostFile(id, service.database)
  kept.catch(() => {})
  const live = followOn(bob, id)
  await vi.waitUntil(() => live.output().includes('rig-slow: step 5'), { timeout: 60_000 })
  const asking = keepAsking(bob, id)
  await vi.waitUntil(() => asking.rounds() >= 3, { timeout: 60_000 })

  const began = performance.now()
  await begin()
  // The duration of the outage is the subject of the test.
  await pause(AWAY_MS / 3)
  const [refusedStart] = await Promise.all([
    // The running job would refuse a second one of its target.
    bob.post('/api/updates/run', { target: place === 'host' ? 'lxc:102' : 'host' }),
    meanwhile?.({ id }),
  ])
  await pause(Math.max(0, began + AWAY_MS - performance.now()))
  const heardUntil = live.output().length
  const ending = performance.now()
  await end()
  const ended = performance.now()
  // The service recovers soon by itself, because the pauses between its attempts are bounded.
  await vi.waitUntil(() => isHealthy(service.url), { timeout: BACK_MS, interval: 50 })
  const healthyAfter = performance.now() - ended
  await vi.waitUntil(() => live.output().length > heardUntil, { timeout: BACK_MS, interval: 50 })
  const heardAfter = performance.now() - ended
  console.info(
    `${place}: away ${seconds(ended - began)} s; healthy ${seconds(healthyAfter)} s after it was back, ` +
      `output goes on after ${seconds(heardAfter)} s; slowest answer ${seconds(asking.slowest())} s, ${seconds(asking.slowest('nowhere'))} s without the database`,
  )

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  await asking.stop()
  const hostFile = await (await kept)()
  const four = await hashes(bob, id, { hostFile, live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(asking.polled()).toBe(live.output())
  expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await timesBegun(id, service.database)).toBe(1)

  // A job that was refused never runs, even if its record was stored.
  expect(told(refusedStart)).toEqual(STORAGE_FAILED)
  const others = await startedBeside(bob, id)
  for (const job of others) {
    expect(await jobDetail(bob, job)).toMatchObject({ status: 'error' })
    expect(await timesBegun(job, service.database)).toBe(0)
  }

  expectRefused(asking, { from: began + settleMs, to: ending }, readable)
  expect(asking.slowest()).toBeLessThan(BOUND_MS)
  expect(asking.slowest('nowhere')).toBeLessThan(BLOCKED_MS)
  expect(await health(service)).toEqual(boot)
  expect((await refresh(service, bob.cookie)).status).toBe(200)
  expect((await bob.get('/api/auth/me')).status).toBe(200)
  expect((await login(service, 'bob', PASSWORDS.bob)).status).toBe(200)
  expect(service.log()).not.toMatch(/[Uu]nhandled|uncaught|code":"internal"/)
  expect((await record(bob, id)).output).toBe(live.output())
}

const STORAGE_FAILED = { status: 500, error: 'La base de données ne répond pas.', code: 'storage_failed' }

function told({ status, body }: Answer) {
  return { status, ...(typeof body === 'object' ? body : { body }) }
}

function expectRefused(asking: Asking, { from, to }: { from: number; to: number }, readable: boolean): void {
  const during = (question: Question): readonly Asked[] => {
    const all = asking.asked(question).filter((asked) => asked.from > from && asked.to < to)
    expect(all.length, `${question} was asked meanwhile`).toBeGreaterThan(0)
    return all
  }
  const answers = (question: Question) => during(question).map(told)
  expect(new Set(during('health').map(({ status }) => status))).toEqual(new Set([503]))
  for (const { body } of during('health')) expect(body).toMatchObject({ status: 'degraded' })
  for (const question of ['login', 'refresh', 'layout'] as const)
    expect(distinct(answers(question)), question).toEqual([STORAGE_FAILED])
  for (const question of ['me', 'history'] as const) {
    const refused = answers(question).filter(({ status }) => !(readable && status === 200))
    if (readable) expect(distinct([...refused, STORAGE_FAILED])).toEqual([STORAGE_FAILED])
    else expect(distinct(refused), question).toEqual([STORAGE_FAILED])
  }
}

function distinct(answers: readonly object[]): unknown[] {
  return [...new Set(answers.map((answer) => JSON.stringify(answer)))].map((text) => JSON.parse(text))
}

async function health(service: Service) {
  return fetch(`${service.url}/api/health`).then((answer) => answer.json())
}

/** Returns the ids of all other jobs. */
async function startedBeside(bob: Caller, id: string): Promise<string[]> {
  const { body } = await bob.get('/api/updates/history?output=none')
  return Jobs.parse(body)
    .map(({ job_id }) => job_id)
    .filter((other) => other !== id)
}

const Jobs = z.array(z.object({ job_id: z.string() }))
const target = (place: Place) => (place === 'host' ? place : `lxc:${place}`)
const seconds = (ms: number) => (ms / 1000).toFixed(1)
