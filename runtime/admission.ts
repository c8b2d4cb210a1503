import type { Services, User } from './context.ts'
import { Failure } from './errors.ts'
import type { Auth, DeclaredLimit } from './function.ts'

/**
 * What HTTP functions and sockets have in common before anything is done for a caller. What needs no waiting is
 * answered, and thrown, at once: each promise that a request passes costs it a tenth of its time.
 */
export interface Admission {
  /** Counts a request; throws `rate_limited` or the declared refusal. */
  count(bucket: string, limit: DeclaredLimit, who: string): void | Promise<void>
  /** Whose token it is; throws `unauthenticated` or `forbidden` as `auth` asks. */
  identify(auth: Auth, token: string | undefined): User | undefined | Promise<User | undefined>
}

export function createAdmission({ limiter, sessions }: Pick<Services, 'limiter' | 'sessions'>): Admission {
  return {
    count(bucket, limit, who) {
      const wait = limiter.admit(bucket, who, limit)
      return typeof wait === 'number' ? admitted(limit, wait) : wait.then((ms) => admitted(limit, ms))
    },
    identify(auth, token) {
      if (auth === 'none') return undefined
      const user = token === undefined ? undefined : sessions.verify(token)
      return user instanceof Promise ? user.then((found) => allowed(auth, found)) : allowed(auth, user)
    },
  }
}

function admitted({ refusal = 'rate_limited' }: DeclaredLimit, waitMs: number): void {
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw new Failure(refusal, { retryAfter: seconds, values: { seconds } })
}

function allowed(auth: Auth, user: User | undefined): User | undefined {
  if (auth === 'optional') return user
  if (!user) throw new Failure('unauthenticated')
  if (auth === 'admin' && !user.isAdmin) throw new Failure('forbidden')
  return user
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
