import type { SshdPenalties } from './sshd-penalties.ts'

/**
 * Keeps wrong passwords below the limit of the host’s sshd for one address, which is the service’s own. Above it,
 * sshd refuses every connection for a while, and no user could sign in. Right passwords cost nothing.
 */
export interface LoginThrottle {
  /**
   * Returns the milliseconds until a check of this rank may begin beside those that run; Infinity when one must end
   * first.
   */
  delay(rank: number): number
  begin(): void
  /** Reports the outcome of a check that began. */
  end(outcome: 'accepted' | 'rejected' | 'abandoned' | 'unknown'): void
  /** Reports a wrong password outside of these checks. */
  failed(): void
  /** Reports a connection that ended at a question of the host, outside of these checks. */
  abandoned(): void
  /** Returns how many connections may end like that within so many seconds, after a time without any. */
  mostAbandoned(withinSeconds: number): number
  /** Sets what is known of the host’s penalties for the service; undefined when nothing is known. */
  configure(penalties: Pick<SshdPenalties, 'state'> | SshdPenalties | undefined): void
}

/**
 * OpenSSH’s defaults: a wrong password adds five seconds, a connection that ends without a judged one adds one, and a sum
 * above fifteen is refused.
 */
const DEFAULTS = { authfail: 5, noauth: 1, min: 15 }
/** sshd counts when its process for the connection has ended, a moment after its answer. */
const LATE_SECONDS = 0.5

/**
 * Addresses with a successful login (a rank below 0) may use the whole limit. Unknown addresses leave room for one
 * such check, and failing addresses leave room for one check of an unknown address as well.
 */
export function createLoginThrottle(elapsed: () => number = () => performance.now()): LoginThrottle {
  let limits = DEFAULTS
  let known: SshdPenalties['state'] | 'nothing' = 'nothing'
  let running = 0
  /** The time at which sshd’s penalty will be zero, in seconds. */
  let clearAt = Number.NEGATIVE_INFINITY
  const now = () => elapsed() / 1000

  const limitOf = (rank: number): number => {
    const { authfail, min } = limits
    // Nothing is known only until the first connection, when the server identifies itself.
    if (rank < 0 || known === 'nothing') return min
    return Math.max(authfail, min - (rank > 0 ? 2 : 1) * authfail)
  }
  const add = (seconds: number) => {
    clearAt = Math.max(now() + LATE_SECONDS, clearAt) + seconds
  }
  const failed = () => add(limits.authfail)
  const abandoned = () => add(limits.noauth)
  const isHarmless = () => known === 'off' || known === 'exempt'

  return {
    delay(rank) {
      const { authfail, min } = limits
      // If a single wrong password exceeds the limit, waiting does not help.
      if (isHarmless() || authfail > min) return 0
      const room = limitOf(rank) - authfail * (running + 1)
      if (room < 0) return Number.POSITIVE_INFINITY
      return Math.max(0, clearAt - now() - room) * 1000
    },
    begin() {
      running += 1
    },
    end(outcome) {
      running -= 1
      if (outcome === 'rejected') failed()
      if (outcome === 'abandoned') abandoned()
    },
    failed,
    abandoned,
    mostAbandoned(withinSeconds) {
      const { authfail, noauth, min } = limits
      return isHarmless()
        ? Number.POSITIVE_INFINITY
        : Math.floor((Math.max(0, min - authfail) + withinSeconds) / noauth)
    },
    configure(penalties) {
      known = penalties?.state ?? 'nothing'
      limits = penalties && 'authfail' in penalties ? penalties : DEFAULTS
    },
  }
}
