import type { Clock } from '../platform/clock.ts'
import { type Role, ROLES, type RuntimeServices, type Targets, type User } from './context.ts'
import { fail, type Failure, failureIn } from './errors.ts'
import type { Auth, DeclaredLimit, DeclaredTargets } from './function.ts'

/**
 * Access control for HTTP functions and sockets: limits, tokens, roles, the age of the last proof and targets. All of it
 * follows from the declaration of an endpoint. A method returns a promise only when it has to wait: for a limit that is
 * counted in the database, or for a token that this process has not verified before. Most requests need neither, and
 * each promise would add a tenth to their time.
 */
export interface Access {
  /** Counts a request. Throws `rate_limited` or the declared refusal when the limit is exceeded. */
  countRequest(bucket: string, limit: DeclaredLimit, key: string): void | Promise<void>
  /**
   * Returns the user of the token. Throws `unauthenticated` without a valid one, unless `auth` permits that. `key` names
   * the caller's address: `requestLimitKey` for HTTP, `limitKey` for sockets. After too many refused tokens from it,
   * throws `rate_limited` without a check, except for a token that this service most likely issued.
   */
  authenticate(demand: Demand, token: string | undefined, key: string): User | undefined | Promise<User | undefined>
  /**
   * Counts a bad token that a handler found, such as a refresh token. Returns the failure to answer with: the given
   * one, or `rate_limited` after too many.
   */
  countBadToken(failure: Failure, key: string): Failure
}

/** The demands of a declaration on its callers. */
export interface Demand {
  auth: Auth
  credential?: 'session'
  stepUp?: true
  whileEnrolling?: true
  targets?: DeclaredTargets<never, never>
}

/** The age of the last proof, in seconds, from which a caller must prove again who it is. */
export const PROOF_SECONDS = 900

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
  const admit = (demand: Demand, user: User | undefined, key: string): User | undefined => {
    if (!user) {
      const refusal = countBadToken(fail('unauthenticated'), key)
      if (demand.auth === 'optional' && refusal.code === 'unauthenticated') return undefined
      throw refusal
    }
    // An API token that an endpoint for anybody does not take counts as none.
    return demand.auth === 'optional' && !takesCredential(demand, user) ? undefined : user
  }
  return {
    countRequest(bucket, limit, key) {
      const wait = limiter.admit(bucket, key, limit)
      return typeof wait === 'number' ? throwIfLimited(limit, wait) : wait.then((ms) => throwIfLimited(limit, ms))
    },
    authenticate(demand, token, key) {
      const { auth } = demand
      if (auth === 'none' || (auth === 'optional' && token === undefined)) return undefined
      if (token === undefined || !sessions.isPlausible(token))
        throwIfLimited(REFUSALS, limiter.wait(BUCKET, key, REFUSALS))
      const user = token === undefined ? undefined : sessions.verify(token)
      return user instanceof Promise ? user.then((found) => admit(demand, found, key)) : admit(demand, user, key)
    },
    countBadToken,
  }
}

/** The least role of each `auth`. */
const LEAST: Readonly<Record<Auth, Role>> = {
  none: 'viewer',
  optional: 'viewer',
  user: 'viewer',
  operator: 'operator',
  admin: 'admin',
}

/**
 * Throws `forbidden`, `enrolment_required` or, for an endpoint that concerns all targets, `target_forbidden`, unless the
 * caller satisfies the declaration.
 */
export function expectRights(demand: Demand, user: User): void {
  if (ROLES.indexOf(user.role) < ROLES.indexOf(LEAST[demand.auth])) throw fail('forbidden')
  if (user.enrolling && !demand.whileEnrolling) throw fail('enrolment_required')
  if (!takesCredential(demand, user)) throw fail('forbidden')
  if (demand.targets === undefined && isBounded(demand, user)) throw fail('target_forbidden')
}

/** A program that holds an API token cannot be asked who it is, so it never does what needs a recent proof. */
function takesCredential({ credential, stepUp }: Demand, user: User): boolean {
  return user.credential === 'session' || !(credential === 'session' || stepUp)
}

/**
 * Throws `step_up_required` when the declaration asks for a recent proof and the caller's is older, or as far in the
 * future: the clock was set back. A socket asks it when it opens, not when its token is renewed.
 */
export function expectProof({ stepUp }: Demand, user: User | undefined, clock: Clock): void {
  if (stepUp && user && Math.abs(clock().getTime() - user.proven * 1000) > PROOF_SECONDS * 1000)
    throw fail('step_up_required')
}

/** Asks for a recent proof in a handler whose declaration asks for none: only some of its requests need one. */
export function expectProven(user: User, clock: Clock): void {
  if (user.credential === 'token') throw fail('forbidden')
  expectProof({ auth: 'user', stepUp: true }, user, clock)
}

/**
 * Returns the targets of a request whose caller may read, or work on, some targets only; undefined for any other caller,
 * and for an endpoint without a function that finds them.
 */
export async function targetsToCheck(
  demand: Demand,
  user: User | undefined,
  input: unknown,
  services: unknown,
): Promise<readonly string[] | undefined> {
  const { targets } = demand
  if (!user || typeof targets !== 'function' || !isBounded(demand, user)) return undefined
  // The casts are safe: the declaration's own schemas have parsed the input, and the service mounts its own functions.
  return (await targets(input as never, services as never)) ?? []
}

/** Throws `target_forbidden` unless the caller may read, or work on, all of these targets, at least one. */
export function expectTargets({ auth }: Demand, user: User | undefined, named: readonly string[] | undefined): void {
  if (!user || !named) return
  const permits = (target: string) => (works(auth) ? mayOperate(user, target) : mayRead(user, target))
  if (named.length === 0 || !named.every(permits)) throw fail('target_forbidden')
}

/** Whether the caller may use the endpoint for some targets only. */
function isBounded({ auth }: Demand, user: User): boolean {
  return user.targets !== 'all' || (works(auth) && user.operates !== 'all')
}

/** Whether such an endpoint changes something on its targets; the others read. */
function works(auth: Auth): boolean {
  return auth === 'operator' || auth === 'admin'
}

/** Whether the caller may read what concerns this target. */
export function mayRead({ targets }: Pick<User, 'targets'>, target: string): boolean {
  return covers(targets, target)
}

/** Whether the caller may work on this target. */
export function mayOperate({ role, operates, targets }: Pick<User, 'role' | 'operates' | 'targets'>, target: string) {
  return role !== 'viewer' && covers(operates, target) && covers(targets, target)
}

/** Whether the caller may read, or work on, every target. */
export function isUnbounded({ operates, targets }: Pick<User, 'operates' | 'targets'>): boolean {
  return operates === 'all' && targets === 'all'
}

function covers(targets: Targets, target: string): boolean {
  return targets === 'all' || targets.includes(target)
}

/** The key of a limit by user. Programs with API tokens of a user count apart, so that they do not lock out their owner. */
export function userKey({ id, credential }: User): string {
  return credential === 'token' ? `${id} by tokens` : String(id)
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
