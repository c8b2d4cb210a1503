import { createPriorityQueue } from '../platform/priority-queue.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import { type SshConnection, SshError } from './connection.ts'
import { askIdentity, type Claim } from './identity.ts'
import type { Ask, Prompt } from './login/prompts.ts'
import { createWaitingLogins, type WaitingLogin } from './login/waiting-logins.ts'
import { createLoginThrottle, type LoginThrottle } from './login-throttle.ts'

/** How far a login has come: in, or at questions of the host for the person. */
export type Checked = { claim: Claim } | { asked: { id: string; prompts: readonly Prompt[] } }

/** Checks logins on the host. Every method rejects with an SshError. */
export interface LoginCheck {
  /**
   * Checks a login and returns the identity claim of the account. Returns undefined when too many checks are queued, no
   * slot became free before `signal` aborted or 25 s passed, too many identity questions for that name are running, or
   * too many logins wait for answers. Under pressure, addresses with an earlier successful login go first, and
   * addresses with many failures last. `asks` says that the person can answer what the host asks beyond the password.
   */
  signIn(
    username: string,
    password: string,
    options?: { from?: string; signal?: AbortSignal; asks?: boolean },
  ): Promise<Checked | undefined>
  /**
   * Goes on with a login whose host has asked. Returns `gone` for an id that is unknown, expired or answered,
   * `miscounted` unless there is one answer for each prompt, and undefined as above; then the host still waits.
   */
  answer(
    id: string,
    answers: readonly string[],
    options?: { signal?: AbortSignal },
  ): Promise<Checked | 'gone' | 'miscounted' | undefined>
}

/** Below Debian’s `MaxStartups 10`: PAM holds a wrong password for seconds, and others still need room. */
const SIGN_INS = { running: 6, waiting: 24 }
/** Limit on concurrent identity questions per name: the account’s start-up files may run for any time. */
const QUESTIONS_PER_NAME = 4
/** 24 wrong passwords ahead in the queue take at most 17 s; a longer wait means that others overtake. */
const SLOT_MS = 25_000
/** sshd ends a connection that has not signed in after its LoginGraceTime, 120 s, and may penalize the service for it. */
const ANSWERED_MS = 100_000

/** The refusals that sshd holds against the service, and how. */
const OUTCOMES: Partial<Record<SshError['reason'], Parameters<LoginThrottle['end']>[0]>> = {
  bad_credentials: 'rejected',
  no_passwords: 'abandoned',
  asks_more: 'abandoned',
  password_expired: 'abandoned',
}

/** The next step of a login. Slots are free while the account’s start-up files run and while the person is asked. */
type Step = { claim: Promise<Claim | undefined> } | Asked

interface Asked extends WaitingLogin {
  /** Sends the answers. Resolves to what follows from them. */
  reply(answers: readonly string[]): Promise<Step>
  /** Calls the listener when the connection ends. */
  onLost(listener: () => void): void
}

/**
 * `signIn` opens a connection as the account, runs `work` over it and ends it; `ask` answers what the host asks beyond
 * the password. It rejects with an SshError. `throttle` delays checks that sshd would penalize; `changed` receives the
 * function to call when more is known of that sshd.
 */
export function createLoginCheck(
  signIn: <result>(
    username: string,
    password: string,
    work: (connection: SshConnection) => Promise<result>,
    ask: Ask | undefined,
  ) => Promise<result>,
  throttle: LoginThrottle = createLoginThrottle(),
  changed: (recheck: () => void) => void = () => {},
  answeredMs = ANSWERED_MS,
): LoginCheck {
  const queue = createPriorityQueue(SIGN_INS, throttle)
  changed(queue.recheck)
  const reputation = createReputation()
  const waiting = createWaitingLogins<Asked>(throttle)
  const asking = new Map<string, number>()
  const askOf = async (username: string, connection: SshConnection): Promise<Claim> => {
    asking.set(username, (asking.get(username) ?? 0) + 1)
    try {
      return await askIdentity(connection)
    } finally {
      const left = (asking.get(username) ?? 0) - 1
      if (left > 0) asking.set(username, left)
      else asking.delete(username)
    }
  }

  /** Opens the connection. Its first step is returned, and each answer returns the next one. */
  const begin = (username: string, password: string, from: string, asks: boolean): Promise<Step> => {
    const until = performance.now() + answeredMs
    let step = newTurn()
    const ask: Ask = (prompts) =>
      new Promise((resolve, reject) => {
        const current = step
        step = newTurn()
        const { promise } = step
        const reply = (answers: readonly string[]) => {
          resolve(answers)
          return promise
        }
        const onLost = (listener: () => void) => void promise.catch(listener)
        const end = () => reject(new SshError('lost', 'personne n’a répondu à temps aux questions de l’hôte'))
        current.resolve({ from, rank: reputation.rank(from), prompts, until, reply, onLost, end })
      })
    const claim = signIn(
      username,
      password,
      async (connection) => {
        step.resolve({ claim })
        return (asking.get(username) ?? 0) < QUESTIONS_PER_NAME ? askOf(username, connection) : undefined
      },
      asks ? ask : undefined,
    )
    claim.catch((error: unknown) => step.reject(error))
    return step.promise
  }

  /** Waits for a step within a slot of the queue, and reports its outcome once. */
  const settled = async (next: Promise<Step>, from: string) => {
    try {
      const step = await next
      if ('claim' in step) {
        reputation.succeeded(from)
        throttle.end('accepted')
        return { claim: step.claim }
      }
      const id = waiting.add(step)
      // The end of a connection that waits is the host's own: sshd has lost its patience.
      step.onLost(() => {
        if (id !== undefined && waiting.take(id)) throttle.failed()
      })
      throttle.end(id === undefined ? 'abandoned' : 'unknown')
      return id === undefined ? undefined : { asked: { id, prompts: step.prompts } }
    } catch (error) {
      const reason = error instanceof SshError ? error.reason : undefined
      if (reason === 'bad_credentials') reputation.failed(from)
      throttle.end(reason === undefined ? 'unknown' : (OUTCOMES[reason] ?? 'unknown'))
      throw error
    }
  }

  const inTurn = async <more extends string>(
    from: string,
    signal: AbortSignal | undefined,
    next: () => Promise<Step> | more,
  ): Promise<Checked | more | undefined> => {
    const timeout = AbortSignal.timeout(SLOT_MS)
    const turn = { rank: reputation.rank(from), signal: signal ? AbortSignal.any([signal, timeout]) : timeout }
    const admitted = await queue.run(async () => {
      const step = next()
      if (typeof step !== 'string') return settled(step, from)
      throttle.end('unknown')
      return step
    }, turn)
    const result = admitted?.result
    if (typeof result !== 'object' || !('claim' in result)) return result
    const claim = await result.claim
    return claim && { claim }
  }

  return {
    signIn: (username, password, { from = '', signal, asks = false } = {}) =>
      inTurn<never>(from, signal, () => begin(username, password, from, asks)),
    async answer(id, answers, { signal } = {}) {
      const login = waiting.find(id)
      if (!login) return 'gone'
      if (answers.length !== login.prompts.length) return 'miscounted'
      return inTurn(login.from, signal, () => waiting.take(id)?.reply(answers) ?? ('gone' as const))
    },
  }
}

/** A step that is still to come. */
function newTurn() {
  let settle: { resolve(step: Step): void; reject(error: unknown): void } = { resolve() {}, reject() {} }
  const promise = new Promise<Step>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}

/** The reputation of an address: successful ones go before unknown ones, and failing ones go last. */
export interface Reputation {
  /**
   * Negative after a success followed by at most two failures, 0 for an unknown address, else the number of failures.
   */
  rank(address: string): number
  succeeded(address: string): void
  failed(address: string): void
}

/** Number of wrong passwords after which a successful address counts as unknown: people mistype. */
const GRACE = 3
/** A flood of addresses cannot keep more than four times this number of entries in memory. */
const REMEMBERED = 10_000

export function createReputation(): Reputation {
  // Two caches, so that no number of failing addresses can displace a successful one.
  const [successful, others] = [createRecentCache<number>(REMEMBERED), createRecentCache<number>(REMEMBERED)]
  const rank = (address: string) => successful.get(address) ?? others.get(address) ?? 0
  return {
    rank,
    succeeded: (address) => successful.set(address, -GRACE),
    failed(address) {
      const now = rank(address) + 1
      if (now < 0) return successful.set(address, now)
      successful.delete(address)
      others.set(address, now)
    },
  }
}
