import { createPriorityQueue } from '../platform/priority-queue.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import { type SshConnection, SshError } from './connection.ts'
import { askIdentity, type Claim } from './identity.ts'
import { createLoginThrottle, type LoginThrottle } from './login-throttle.ts'

/**
 * Checks a login on the host and returns the identity claim of the account. Returns undefined when too many checks
 * are queued, no slot became free before `signal` aborted or 25 s passed, or too many identity questions for that
 * name are running. Under pressure, addresses with an earlier successful login go first, and addresses with many
 * failures last.
 */
export type LoginCheck = (
  username: string,
  password: string,
  options?: { from?: string; signal?: AbortSignal },
) => Promise<{ claim: Claim } | undefined>

/** Below Debian’s `MaxStartups 10`: PAM holds a wrong password for seconds, and others still need room. */
const SIGN_INS = { running: 6, waiting: 24 }
/** Limit on concurrent identity questions per name: the account’s start-up files may run for any time. */
const QUESTIONS_PER_NAME = 4
/** 24 wrong passwords ahead in the queue take at most 17 s; a longer wait means that others overtake. */
const SLOT_MS = 25_000

/**
 * `signIn` opens a connection as the account, runs `work` over it and ends it. It rejects with an SshError.
 * `throttle` delays checks that sshd would penalize; `changed` receives the function to call when more is known of
 * that sshd.
 */
export function createLoginCheck(
  signIn: <result>(
    username: string,
    password: string,
    work: (connection: SshConnection) => Promise<result>,
  ) => Promise<result>,
  throttle: LoginThrottle = createLoginThrottle(),
  changed: (recheck: () => void) => void = () => {},
): LoginCheck {
  const queue = createPriorityQueue(SIGN_INS, throttle)
  changed(queue.recheck)
  const reputation = createReputation()
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
  return async (username, password, { from = '', signal } = {}) => {
    /** Settles when the password is known to be right: the slot becomes free while the account’s start-up files run. */
    const check = async (): Promise<{ claim: Promise<Claim | undefined> }> => {
      let outcome: Parameters<LoginThrottle['end']>[0] | undefined
      const end = (known: NonNullable<typeof outcome>) => {
        if (!outcome) throttle.end(known)
        outcome ??= known
      }
      let accept = () => {}
      const accepted = new Promise<void>((resolve) => {
        accept = resolve
      })
      const claim = signIn(username, password, async (connection) => {
        reputation.succeeded(from)
        end('accepted')
        queue.recheck()
        accept()
        return (asking.get(username) ?? 0) < QUESTIONS_PER_NAME ? askOf(username, connection) : undefined
      })
      try {
        await Promise.race([accepted, claim])
        return { claim }
      } catch (error) {
        const rejected = error instanceof SshError && error.reason === 'bad_credentials'
        if (rejected) reputation.failed(from)
        end(rejected ? 'rejected' : 'unknown')
        throw error
      }
    }
    const timeout = AbortSignal.timeout(SLOT_MS)
    const turn = { rank: reputation.rank(from), signal: signal ? AbortSignal.any([signal, timeout]) : timeout }
    const admitted = await queue.run(check, turn)
    const claim = await admitted?.result.claim
    return claim && { claim }
  }
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
