import type { RuntimeServices, User } from './context.ts'
import { fail, type Failure, failureIn } from './errors.ts'
import type { Auth, DeclaredLimit } from './function.ts'

/**
 * Access control for HTTP functions and sockets: limits, tokens and roles. A method returns a promise only when it has
 * to wait: for a limit that is counted in the database, or for a token that this process has not verified before. Most
 * requests need neither, and each promise would add a tenth to their time.
 */
export interface Access {
  /** Counts a request. Throws `rate_limited` or the declared refusal when the limit is exceeded. */
  countRequest(bucket: string, limit: DeclaredLimit, key: string): void | Promise<void>
  /**
   * Returns the user of the token. Throws `unauthenticated` or `forbidden` as `auth` requires. `key` names the caller's
   * address: `requestLimitKey` for HTTP, `limitKey` for sockets. After too many refused tokens from it, throws
   * `rate_limited` without a check, except for a token that this service most likely issued.
   */
  authenticate(auth: Auth, token: string | undefined, key: string): User | undefined | Promise<User | undefined>
  /**
   * Counts a bad token that a handler found, such as a refresh token. Returns the failure to answer with: the given
   * one, or `rate_limited` after too many.
   */
  countBadToken(failure: Failure, key: string): Failure
}

/** Refused tokens per address: far more than a person's pages cause when a session ends. */
const REFUSALS: DeclaredLimit = { limit: 120, seconds: 60, by: 'address' }
const BUCKET = 'refused tokens'

export function createAccess({
  limiter,
  sessions,
  errors,
}: Pick<RuntimeServices, 'limiter' | 'sessions' | 'errors'>): Access {
  const limitFailure = ({ refusal = 'rate_limited' }: DeclaredLimit, waitMs: number): Failure => {
    const seconds = Math.ceil(waitMs / 1000)
    return failureIn(errors, refusal, { retryAfter: seconds, values: { seconds } })
  }
  const throwIfLimited = (limit: DeclaredLimit, waitMs: number): void => {
    if (waitMs > 0) throw limitFailure(limit, waitMs)
  }
  const countBadToken: Access['countBadToken'] = (failure, key) => {
    const wait = limiter.admit(BUCKET, key, REFUSALS)
    return typeof wait === 'number' && wait > 0 ? limitFailure(REFUSALS, wait) : failure
  }
  const checkRole = (auth: Auth, user: User | undefined, key: string): User | undefined => {
    if (!user) {
      const refusal = countBadToken(fail('unauthenticated'), key)
      if (auth === 'optional' && refusal.code === 'unauthenticated') return undefined
      throw refusal
    }
    if (auth === 'admin' && !user.isAdmin) throw fail('forbidden')
    return user
  }
  return {
    countRequest(bucket, limit, key) {
      const wait = limiter.admit(bucket, key, limit)
      return typeof wait === 'number' ? throwIfLimited(limit, wait) : wait.then((ms) => throwIfLimited(limit, ms))
    },
    authenticate(auth, token, key) {
      if (auth === 'none' || (auth === 'optional' && token === undefined)) return undefined
      if (token === undefined || !sessions.isPlausible(token))
        throwIfLimited(REFUSALS, limiter.wait(BUCKET, key, REFUSALS))
      const user = token === undefined ? undefined : sessions.verify(token)
      return user instanceof Promise ? user.then((found) => checkRole(auth, found, key)) : checkRole(auth, user, key)
    },
    countBadToken,
  }
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
