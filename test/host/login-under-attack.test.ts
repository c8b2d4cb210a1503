import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Answer, freshAddress, login, signIn } from './client.ts'
import { type Account, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'
import { type Startups, startups } from './startups.ts'

/** Enough to keep everybody out if nothing limited the checks in flight. */
const ATTACKERS = 40
/** Every account that the rig admits; three of them sign in from two addresses. */
const PEOPLE: Account[] = ['root', 'alice', 'bob', 'ops', 'zoe', 'shut', 'mustchange', 'bob', 'ops', 'zoe']
/** The longest wait for a correct password from a new address, and from an address that has signed in before. */
const STRANGER_MS = 60_000
const KNOWN_MS = 10_000
/** The service's limit of concurrent checks, and the count from which sshd's MaxStartups drops connections. */
const CHECKS = 6
const DROPS_FROM = 10

let service: Service
let sshd: Startups
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  // Connects the service account, so that every further connection is the check of a login.
  await signIn(service, 'alice')
  sshd = startups()
  expect(sshd.limits).toBe(`${DROPS_FROM}-100`)
  return () => service.stop()
})

let unauthenticated: () => number[]
beforeEach(() => {
  unauthenticated = sshd.watch()
})
afterEach(async ({ task }) => {
  const counts = unauthenticated()
  const [most = 0, mostly = 0] = [counts.at(-1), counts[Math.floor(counts.length * 0.95)]]
  console.log(`${task.name}: sshd saw ${most} at most that had not signed in, ${mostly} at most for 95 % of the time`)
  // sshd counts a refused connection until its processes have ended, shortly after the service has closed it.
  expect(mostly).toBeLessThanOrEqual(CHECKS)
  expect(most).toBeLessThan(DROPS_FROM)
  expect(await rig('log')).not.toContain('MaxStartups')
})

test('forty wrong logins in flight keep out none of ten correct ones, and each gets its own answer', async () => {
  const wrong = Array.from({ length: ATTACKERS }, (_, n) => login(service, victim(n), 'wrong'))
  const people = await Promise.all(PEOPLE.map((account) => persist(account)))
  const answers = (await Promise.all(wrong)).map(kind)

  console.log(figures(people), countOf(answers))
  expect(people.filter(({ ms }) => ms > STRANGER_MS)).toEqual([])
  expect(people.flatMap(({ refused }) => refused).filter((answer) => !TOLD_TO_WAIT.test(answer))).toEqual([])
  expect(unexpected(answers)).toEqual([])
})

test('forty attackers within the login limit keep out none of ten correct logins from new addresses', async () => {
  const attack = await startAttack(5)
  const people = await Promise.all(PEOPLE.map((account) => persist(account)))
  const answers = await attack.end()

  console.log(figures(people), countOf(answers))
  expect(people.filter(({ ms }) => ms > STRANGER_MS)).toEqual([])
  expect(people.flatMap(({ refused }) => refused).filter((answer) => !TOLD_TO_WAIT.test(answer))).toEqual([])
  expect(unexpected(answers)).toEqual([])
})

test('forty attackers with changing addresses do not delay a user whose address has signed in before', async () => {
  const home = freshAddress()
  expect((await login(service, 'bob', PASSWORDS.bob, home)).status).toBe(200)
  const attack = await startAttack(1)
  const [known, ...strangers] = await Promise.all([
    persist('bob', { address: home }),
    // The time of five tries, after which the login limit makes the user wait.
    ...PEOPLE.map((account) => persist(account, { withinMs: 24_000 })),
  ])
  const answers = await attack.end()

  // The strangers’ figures are printed but not asserted: the service cannot tell them from attackers.
  console.log(`known: ${figures([known])}; strangers: ${figures(strangers)}`, countOf(answers))
  expect(known.ms).toBeLessThan(KNOWN_MS)
  expect(unexpected(answers)).toEqual([])
})

const REFUSED = '401 bad_credentials'
const BUSY = '503 login_busy, Retry-After 12'
const TOLD_TO_WAIT = /^(503 login_busy|429 login_rate_limited), Retry-After \d+$/

/** Returns the answers that no wrong login may get, such as errors or an unreachable host. */
function unexpected(answers: string[]): string[] {
  return answers.filter((answer) => answer !== REFUSED && answer !== BUSY)
}

/** Returns status, code and Retry-After of the answer to a login. */
function kind({ status, body, headers }: Answer): string {
  if (status === 200) return '200'
  const { code } = z.strictObject({ error: z.string(), code: z.string() }).parse(body)
  const after = headers.get('retry-after')
  return `${status} ${code}${after === null ? '' : `, Retry-After ${after}`}`
}

/** Returns an unknown account or an existing one, in turn. */
function victim(n: number): string {
  return n % 2 === 0 ? 'bob' : `attacker${n}`
}

/**
 * Keeps forty wrong logins under way until `end`, which returns their answers. Each attacker takes a new address after
 * `triesAnAddress` tries and waits as Retry-After says. Settles when the service is full.
 */
async function startAttack(triesAnAddress: number) {
  const answers: string[] = []
  const over = new AbortController()
  const attack = async (n: number) => {
    let address = ''
    for (let tries = 0; !over.signal.aborted; tries += 1) {
      if (tries % triesAnAddress === 0) address = freshAddress()
      const answer = await login(service, victim(n), 'wrong', address)
      answers.push(kind(answer))
      await pause(1_000 * Number(answer.headers.get('retry-after') ?? 0), undefined, over).catch(() => {})
    }
  }
  const attackers = Promise.all(Array.from({ length: ATTACKERS }, (_, n) => attack(n)))
  const end = async () => {
    over.abort()
    await attackers
    return answers
  }
  onTestFinished(async () => void (await end()))
  await expect.poll(() => answers, { timeout: 10_000, interval: 10 }).toContain(BUSY)
  return { end }
}

/** Signs in, again after each Retry-After; returns how long that took and the refusals before. */
async function persist(account: Account, { address = freshAddress(), withinMs = STRANGER_MS } = {}) {
  const began = performance.now()
  const refused: string[] = []
  let wait = 0
  while (performance.now() - began + wait < withinMs) {
    await pause(wait)
    const answer = await login(service, account, PASSWORDS[account], address)
    if (answer.status === 200) return { account, ms: Math.round(performance.now() - began), refused }
    refused.push(kind(answer))
    wait = 1_000 * Number(answer.headers.get('retry-after') ?? 0)
  }
  return { account, ms: Number.POSITIVE_INFINITY, refused }
}

function figures(people: { ms: number; refused: string[] }[]): string {
  const waits = people.map(({ ms }) => ms)
  const within = waits.filter(Number.isFinite)
  const refusals = JSON.stringify(countOf(people.flatMap(({ refused }) => refused)))
  return `${within.length} of ${waits.length} in, the slowest after ${Math.max(0, ...within)} ms, told before: ${refusals}`
}

function countOf(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
