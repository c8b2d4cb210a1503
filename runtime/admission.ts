import type { Services, User } from './context.ts'
import { Failure } from './errors.ts'
import type { Auth, DeclaredLimit } from './function.ts'

/** What HTTP functions and sockets have in common before anything is done for a caller. */
export interface Admission {
  /** Counts a request; throws `rate_limited` or the declared refusal. */
  count(bucket: string, limit: DeclaredLimit, who: string): Promise<void>
  /** Whose token it is; throws `unauthenticated` or `forbidden` as `auth` asks. */
  identify(auth: Auth, token: string | undefined): Promise<User | undefined>
}

export function createAdmission({ limiter, sessions }: Pick<Services, 'limiter' | 'sessions'>): Admission {
  return {
    async count(bucket, limit, who) {
      const answer = limiter.admit(bucket, who, limit)
      const wait = typeof answer === 'number' ? answer : await answer
      if (wait === 0) return
      const seconds = Math.ceil(wait / 1000)
      throw new Failure(limit.refusal ?? 'rate_limited', { retryAfter: seconds, values: { seconds } })
    },
    async identify(auth, token) {
      if (auth === 'none') return undefined
      const user = token === undefined ? undefined : await sessions.verify(token)
      if (auth === 'optional') return user
      if (!user) throw new Failure('unauthenticated')
      if (auth === 'admin' && !user.isAdmin) throw new Failure('forbidden')
      return user
    },
  }
}

/** The token of an `Authorization: Bearer …` header. */
export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}
