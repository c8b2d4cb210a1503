import type { Penalties } from './penalties.ts'

/**
 * Keeps wrong passwords below what the host's sshd puts up with from one address, the service's own: above it, sshd
 * refuses every connection for a while, and nobody could sign in. Passwords that are right cost nothing.
 */
export interface Pacing {
  /** Milliseconds until a check of this rank may begin beside those under way; infinite when one of them must end first. */
  delay(rank: number): number
  begin(): void
  /** One that began has come to this. */
  end(outcome: 'right' | 'wrong' | 'neither'): void
  /** A wrong password that was no such check. */
  wrong(): void
  /** Whether the host has penalties for the service, as far as that is known; undefined when nothing is known of it. */
  learn(penalties: Pick<Penalties, 'state'> | Penalties | undefined): void
}

/** OpenSSH's defaults: a wrong password counts five seconds, and more than fifteen are too many. */
const DEFAULTS = { authfail: 5, min: 15 }
/** sshd counts once its process for the connection has ended, a moment after its answer. */
const LATE_SECONDS = 0.5

/**
 * Who was right from where they are (a rank below 0) may use all that sshd allows, strangers leave room for one such check,
 * and who was wrong from there leaves room for a stranger's, too.
 */
export function createPacing(elapsed: () => number = () => performance.now()): Pacing {
  let limits = DEFAULTS
  let known: Penalties['state'] | 'nothing' = 'nothing'
  let underWay = 0
  /** When sshd will have forgotten, in seconds. */
  let forgottenAt = Number.NEGATIVE_INFINITY
  const now = () => elapsed() / 1000

  const most = (rank: number): number => {
    const { authfail, min } = limits
    // Until the host has said what it is, which it does as soon as it is connected to.
    if (rank < 0 || known === 'nothing') return min
    return Math.max(authfail, min - (rank > 0 ? 2 : 1) * authfail)
  }
  const wrong = () => {
    forgottenAt = Math.max(now() + LATE_SECONDS, forgottenAt) + limits.authfail
  }

  return {
    delay(rank) {
      const { authfail, min } = limits
      // Where one wrong password is too many, waiting helps nobody.
      if (known === 'off' || known === 'exempt' || authfail > min) return 0
      const room = most(rank) - authfail * (underWay + 1)
      if (room < 0) return Number.POSITIVE_INFINITY
      return Math.max(0, forgottenAt - now() - room) * 1000
    },
    begin() {
      underWay += 1
    },
    end(outcome) {
      underWay -= 1
      if (outcome === 'wrong') wrong()
    },
    wrong,
    learn(penalties) {
      known = penalties?.state ?? 'nothing'
      limits = penalties && 'authfail' in penalties ? penalties : DEFAULTS
    },
  }
}
