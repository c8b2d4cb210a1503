import { createGate } from './gate.ts'
import { askIdentity, type Claim } from './identity.ts'
import { createPacing, type Pacing } from './pacing.ts'
import { type SshConnection, SshError } from './ssh-connection.ts'
import { createStanding } from './standing.ts'

/**
 * Checks a login against the host and gives what the account says of itself; undefined when too many checks wait already, its turn did not
 * come before `signal` gave up or 25 s were over, or too many right ones of that name are still being asked who they are. Under pressure, `from` where one was right goes first, and from where
 * many were wrong last.
 */
export type LoginCheck = (
  username: string,
  password: string,
  options?: { from?: string; signal?: AbortSignal },
) => Promise<{ claim: Claim } | undefined>

/** Below Debian's `MaxStartups 10`, so that wrong passwords, which PAM holds for seconds, leave room at the host. */
const SIGN_INS = { running: 6, waiting: 24 }
/** So many right sign-ins of one name are asked at a time who they are: start-up files may take as long as they like. */
const ASKED_OF_NAME = 4
/** 24 wrong passwords before one take at most 17 s; who has not had a turn by then is being passed by others. */
const TURN_MS = 25_000

/**
 * `signIn` opens a connection as the account, does `work` over it, and ends it. It rejects with an SshError. `pacing` holds
 * back what the host would take for an attack; `changed` is told what to call when more is known of that host.
 */
export function createLoginCheck(
  signIn: <result>(
    username: string,
    password: string,
    work: (connection: SshConnection) => Promise<result>,
  ) => Promise<result>,
  pacing: Pacing = createPacing(),
  changed: (review: () => void) => void = () => {},
): LoginCheck {
  const gate = createGate(SIGN_INS, pacing)
  changed(gate.review)
  const standing = createStanding()
  const asked = new Map<string, number>()
  const askOf = async (username: string, connection: SshConnection): Promise<Claim> => {
    asked.set(username, (asked.get(username) ?? 0) + 1)
    try {
      return await askIdentity(connection)
    } finally {
      const left = (asked.get(username) ?? 0) - 1
      if (left > 0) asked.set(username, left)
      else asked.delete(username)
    }
  }
  return async (username, password, { from = '', signal } = {}) => {
    /** Settles when the password is known to be right: the place is the next one's while the account's own files run. */
    const check = async (): Promise<{ claim: Promise<Claim | undefined> }> => {
      let outcome: Parameters<Pacing['end']>[0] | undefined
      const end = (known: NonNullable<typeof outcome>) => {
        if (!outcome) pacing.end(known)
        outcome ??= known
      }
      let isRight = () => {}
      const right = new Promise<void>((resolve) => {
        isRight = resolve
      })
      const claim = signIn(username, password, async (connection) => {
        standing.right(from)
        end('right')
        gate.review()
        isRight()
        return (asked.get(username) ?? 0) < ASKED_OF_NAME ? askOf(username, connection) : undefined
      })
      try {
        await Promise.race([right, claim])
        return { claim }
      } catch (error) {
        const wrong = error instanceof SshError && error.reason === 'bad_credentials'
        if (wrong) standing.wrong(from)
        end(wrong ? 'wrong' : 'neither')
        throw error
      }
    }
    const patience = AbortSignal.timeout(TURN_MS)
    const turn = { rank: standing.rank(from), signal: signal ? AbortSignal.any([signal, patience]) : patience }
    const entered = await gate.enter(check, turn)
    const claim = await entered?.result.claim
    return claim && { claim }
  }
}
