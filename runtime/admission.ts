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
  /**
   * Whose token it is; throws `unauthenticated` or `forbidden` as `auth` asks, and `rate_limited` where too many of this
   * address (see `countedAs`) were refused for their token: before it is looked at, unless it is most likely one of this service's own.
   */
  identify(auth: Auth, token: string | undefined, who: string): User | undefined | Promise<User | undefined>
  /** Counts a request that is refused for another token than that; the failure that it is answered with. */
  refused(failure: Failure, who: string): Failure
}

/** Refusals for a token, of one address: far more than a person's pages meet when a session ends. */
const REFUSALS: DeclaredLimit = { limit: 120, seconds: 60, by: 'address' }
const BUCKET = 'refused tokens'

export function createAdmission({ limiter, sessions }: Pick<Services, 'limiter' | 'sessions'>): Admission {
  const refused: Admission['refused'] = (failure, who) => {
    const wait = limiter.admit(BUCKET, who, REFUSALS)
    return typeof wait === 'number' && wait > 0 ? passed(REFUSALS, wait) : failure
  }
  const allowed = (auth: Auth, user: User | undefined, who: string): User | undefined => {
    if (!user) {
      const refusal = refused(new Failure('unauthenticated'), who)
      if (auth === 'optional' && refusal.code === 'unauthenticated') return undefined
      throw refusal
    }
    if (auth === 'admin' && !user.isAdmin) throw new Failure('forbidden')
    return user
  }
  return {
    count(bucket, limit, who) {
      const wait = limiter.admit(bucket, who, limit)
      return typeof wait === 'number' ? admitted(limit, wait) : wait.then((ms) => admitted(limit, ms))
    },
    identify(auth, token, who) {
      if (auth === 'none' || (auth === 'optional' && token === undefined)) return undefined
      if (token === undefined || !sessions.isPlausible(token)) admitted(REFUSALS, limiter.wait(BUCKET, who, REFUSALS))
      const user = token === undefined ? undefined : sessions.verify(token)
      return user instanceof Promise ? user.then((found) => allowed(auth, found, who)) : allowed(auth, user, who)
    },
    refused,
  }
}

function admitted(limit: DeclaredLimit, waitMs: number): void {
  if (waitMs > 0) throw passed(limit, waitMs)
}

function passed({ refusal = 'rate_limited' }: DeclaredLimit, waitMs: number): Failure {
  const seconds = Math.ceil(waitMs / 1000)
  return new Failure(refusal, { retryAfter: seconds, values: { seconds } })
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
