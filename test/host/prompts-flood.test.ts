import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { memory } from '../../bench/memory.ts'
import { type Answer, type Caller, caller, freshAddress, login, signedIn } from './client.ts'
import { type Account, PASSWORDS, resetWithSshd, rig } from './rig.ts'
import { answerTo, askedAfterPassword, askedBy, askForCode, BY_PROMPTS, CODE } from './second-factor.ts'
import { type Service, startService } from './service.ts'
import { type Startups, startups } from './startups.ts'

/** Sign-ins up to the question of the host, whose answers never come, and how many of them are under way at a time. */
const CONVERSATIONS = 1_000
const AT_A_TIME = 40
/** Between two of the same sender, so that most of them find a place in the queue and reach the host. */
const BREATH_MS = 200
/** The service's limits: sign-ins that wait for answers, and checks in flight. */
const WAITING = 20
const CHECKS = 6
/** The lifetime of a challenge and the slack after it, with the time of a busy machine. */
const OVER_MS = 150_000
/** Less than a tenth of what a thousand SSH connections hold. */
const GROWTH_MIB = 64

const PEOPLE: Account[] = ['alice', 'bob', 'zoe', 'ops']

let service: Service
let sshd: Startups
let program: Caller
const home = freshAddress()
beforeAll(async () => {
  await resetWithSshd(...BY_PROMPTS, 'MaxStartups 60', 'LoginGraceTime 120')
  await askForCode()
  service = await startService()
  // root is the one account that is not asked. It has signed in from here before.
  const root = signedIn(service, await login(service, 'root', PASSWORDS.root, home))
  const made = await root.post('/api/auth/tokens', { name: 'flood', role: 'viewer', targets: 'all' })
  program = caller(service, z.object({ token: z.string() }).parse(made.body).token, '')
  // A first question loads what all of them need.
  const { challenge } = await askedAfterPassword(service, 'bob')
  expect((await answerTo(service, challenge, CODE)).status).toBe(200)
  sshd = startups()
  return async () => {
    await service.stop()
    await rig('reset')
  }
}, 120_000)

test('of a thousand sign-ins that leave the host’s question unanswered twenty wait, others sign in, and everything ends', {
  timeout: 600_000,
}, async () => {
  await expect.poll(() => sshd.now(), { timeout: 20_000 }).toBe(0)
  const [before, sockets] = [(await memory(service.pid)).now, socketsOf(service.pid)]
  const counts = sshd.watch()
  const answers: Answer[] = []
  let begun = 0
  const leave = async () => {
    while (begun < CONVERSATIONS) {
      const account = PEOPLE[begun++ % PEOPLE.length] ?? 'bob'
      answers.push(await login(service, account, PASSWORDS[account]))
      await pause(BREATH_MS)
    }
  }
  const flood = Promise.all(Array.from({ length: AT_A_TIME }, leave))
  const others: string[] = []
  const reads: number[] = []
  while (begun < CONVERSATIONS) {
    reads.push((await program.get('/api/updates/targets')).status)
    others.push(...(await persist(home)))
    await pause(500)
  }
  await flood
  const most = counts().at(-1)

  console.log({ most, kinds: countOf(answers.map(kind)), others: countOf(others), reads: reads.length })
  const asked = answers.filter(({ status }) => status === 401)
  expect(answers.map(kind).filter((each) => each !== ASKED && each !== BUSY)).toEqual([])
  expect(asked.length).toBeGreaterThanOrEqual(WAITING)
  // sshd counts a connection that the service has ended until its process is gone.
  expect(most).toBeLessThanOrEqual(WAITING + 2 * CHECKS)
  expect(others).toContain('200')
  expect(others.filter((each) => each !== '200' && each !== BUSY && !LIMITED.test(each))).toEqual([])
  expect(others.at(-1)).toBe('200')
  expect(new Set(reads)).toEqual(new Set([200]))

  // Those that wait are the ones that were told so, and one of them is still good.
  expect(sshd.now()).toBeLessThanOrEqual(WAITING)
  const challenges = asked.map((answer) => askedBy(answer).challenge)
  expect(new Set(challenges).size).toBe(challenges.length)

  await expect.poll(() => sshd.now(), { timeout: OVER_MS, interval: 500 }).toBe(0)
  await expect.poll(() => socketsOf(service.pid), { timeout: 30_000, interval: 500 }).toBeLessThanOrEqual(sockets + 4)
  expect((await memory(service.pid)).now - before).toBeLessThan(GROWTH_MIB)
  for (const challenge of challenges.slice(-3))
    expect(await answerTo(service, challenge, CODE)).toMatchObject({ status: 410, body: { code: 'challenge_over' } })
  const again = await askedAfterPassword(service, 'bob')
  expect((await answerTo(service, again.challenge, CODE)).status).toBe(200)
})

const ASKED = '401 more_asked'
const BUSY = '503 login_busy'
const LIMITED = /^429 login_rate_limited$/

function kind({ status, body }: Answer): string {
  return status === 200 ? '200' : `${status} ${z.looseObject({ code: z.string() }).parse(body).code}`
}

/** Signs root in, again after each Retry-After; returns the answers. */
async function persist(address: string): Promise<string[]> {
  const answers: string[] = []
  for (;;) {
    const answer = await login(service, 'root', PASSWORDS.root, address)
    answers.push(kind(answer))
    if (answer.status === 200) return answers
    await pause(1_000 * Number(answer.headers.get('retry-after') ?? 0))
  }
}

/** The number of sockets that a process has open. */
function socketsOf(pid: number): number {
  const link = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return '' // Closed meanwhile.
    }
  }
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => link(fd).startsWith('socket:')).length
}

function countOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
