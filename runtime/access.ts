import type { RuntimeServices, User } from './context.ts'
import { fail, type Failure, failureIn } from './errors.ts'
import type { Auth, DeclaredLimit } from './function.ts'

/**
 * Access control that HTTP functions and sockets share. Without it nothing would limit requests or check tokens and
 * roles. Methods return and throw synchronously where they need not wait: each promise adds a tenth to the time of a
 * request.
 */
export interface Access {
  /** Counts a request. Throws `rate_limited` or the declared refusal when the limit is exceeded. */
  countRequest(bucket: string, limit: DeclaredLimit, key: string): void | Promise<void>
  /**
   * Returns the user of the token. Throws `unauthenticated` or `forbidden` as `auth` requires. Throws `rate_limited`
   * when too many tokens from this address (see `countedAs`) were refused; a token that this service has most likely
   * issued is verified all the same.
   */
  authenticate(auth: Auth, token: string | undefined, key: string): User | undefined | Promise<User | undefined>
  /** Counts a request that was refused for a token other than the access token. Returns the failure to answer with. */
  refused(failure: Failure, key: string): Failure
}

/** Refused tokens per address: far more than a person's pages cause when a session ends. */
const REFUSALS: DeclaredLimit = { limit: 120, seconds: 60, by: 'address' }
const BUCKET = 'refused tokens'

export function createAccess({
  limiter,
  sessions,
  errors,
}: Pick<RuntimeServices, 'limiter' | 'sessions' | 'errors'>): Access {
  const passed = ({ refusal = 'rate_limited' }: DeclaredLimit, waitMs: number): Failure => {
    const seconds = Math.ceil(waitMs / 1000)
    return failureIn(errors, refusal, { retryAfter: seconds, values: { seconds } })
  }
  const admitted = (limit: DeclaredLimit, waitMs: number): void => {
    if (waitMs > 0) throw passed(limit, waitMs)
  }
  const refused: Access['refused'] = (failure, key) => {
    const wait = limiter.admit(BUCKET, key, REFUSALS)
    return typeof wait === 'number' && wait > 0 ? passed(REFUSALS, wait) : failure
  }
  const allowed = (auth: Auth, user: User | undefined, key: string): User | undefined => {
    if (!user) {
      const refusal = refused(fail('unauthenticated'), key)
      if (auth === 'optional' && refusal.code === 'unauthenticated') return undefined
      throw refusal
    }
    if (auth === 'admin' && !user.isAdmin) throw fail('forbidden')
    return user
  }
  return {
    countRequest(bucket, limit, key) {
      const wait = limiter.admit(bucket, key, limit)
      return typeof wait === 'number' ? admitted(limit, wait) : wait.then((ms) => admitted(limit, ms))
    },
    authenticate(auth, token, key) {
      if (auth === 'none' || (auth === 'optional' && token === undefined)) return undefined
      if (token === undefined || !sessions.isPlausible(token)) admitted(REFUSALS, limiter.wait(BUCKET, key, REFUSALS))
      const user = token === undefined ? undefined : sessions.verify(token)
      return user instanceof Promise ? user.then((found) => allowed(auth, found, key)) : allowed(auth, user, key)
    },
    refused,
  }
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
