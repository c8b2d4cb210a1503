import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod'
import type { Clock } from '../platform/clock.ts'
import type { Secrets } from '../platform/secrets.ts'
import { parseJson } from '../platform/untrusted.ts'
import { ROLES, type User } from '../runtime/context.ts'
import { ALGORITHM, type SigningKeys } from './signing-keys.ts'

/** Lifetime of an access token, in seconds. */
export const ACCESS_SECONDS = 900 as const

const ISSUER = 'ops-panel'
const AUDIENCE = { access: 'ops-panel', refresh: 'ops-panel/refresh' } as const
type Kind = keyof typeof AUDIENCE

const UserId = z
  .string()
  // The user 0 is the service itself: nobody signs in as it.
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number)
const AccessClaims = z.object({
  sub: UserId,
  username: z.string(),
  is_admin: z.boolean(),
  role: z.enum(ROLES),
  operates: z.union([z.literal('all'), z.array(z.string())]),
  proven: z.number(),
  enrolling: z.boolean(),
  sid: z.string(),
  exp: z.number(),
})
/** The claims from which the mark of a token is computed. */
const MarkedClaims = z.object({ sub: z.string(), exp: z.number(), jti: z.string() })
const RefreshClaims = z.object({ sub: UserId, typ: z.literal('refresh') })

/** The user for whom an access token is signed. */
export type Bearer = Pick<User, 'id' | 'username' | 'role' | 'operates' | 'sid' | 'proven' | 'enrolling'>

/** Signs and reads both kinds of token. An unreadable token gives undefined, without a reason. */
export interface Tokens {
  signAccess(user: Bearer): Promise<string>
  signRefresh(userId: number): Promise<{ token: string; expires: Date }>
  readAccess(token: string): Promise<User | undefined>
  /**
   * Says whether this service most likely signed the token and it has not expired. The check takes some microseconds,
   * so a flood of forged tokens stays cheap.
   */
  isMarked(token: string): boolean
  /** Returns the user id. */
  readRefresh(token: string): Promise<number | undefined>
}

/** Returns the lower-case hex SHA-256, the form in which a refresh token is stored. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export function createTokens({
  keys,
  secrets,
  clock,
  refreshDays,
}: {
  keys: SigningKeys
  secrets: Pick<Secrets, 'mark'>
  clock: Clock
  refreshDays: number
}): Tokens {
  const seconds = () => Math.floor(clock().getTime() / 1000)

  const markOf = (sub: string, exp: number, nonce: string) => secrets.mark('token', `${sub} ${exp} ${nonce}`)

  const sign = (kind: Kind, payload: JWTPayload, issued: number, lifetime: number) => {
    const { kid, key } = keys.signer()
    const nonce = randomUUID()
    const exp = issued + lifetime
    return new SignJWT(payload)
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE[kind])
      .setIssuedAt(issued)
      .setExpirationTime(exp)
      .setJti(`${nonce}.${markOf(`${payload.sub}`, exp, nonce)}`)
      .sign(key)
  }

  // jose declares `kid` as a string without checking it: the header comes from the client.
  const findKey = async (kid: unknown) => {
    const key = typeof kid === 'string' ? await keys.find(kid) : undefined
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key
  }

  const read = async <claims>(kind: Kind, token: string, shape: z.ZodType<claims>): Promise<claims | undefined> => {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => findKey(kid), {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE[kind],
        requiredClaims: ['sub', 'exp', 'iat', 'jti'],
        currentDate: clock(),
      })
      return shape.parse(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined
      throw error
    }
  }

  return {
    signAccess: ({ id, username, role, operates, sid, proven, enrolling }) => {
      const rights = { is_admin: role === 'admin', role, operates, proven, enrolling }
      return sign('access', { sub: String(id), username, ...rights, sid }, seconds(), ACCESS_SECONDS)
    },
    async signRefresh(userId) {
      const issued = seconds()
      const lifetime = refreshDays * 86_400
      const token = await sign('refresh', { sub: String(userId), typ: 'refresh' }, issued, lifetime)
      return { token, expires: new Date((issued + lifetime) * 1000) }
    },
    async readAccess(token) {
      const claims = await read('access', token, AccessClaims)
      if (!claims || claims.exp <= seconds()) return undefined
      const { sub, username, role, operates, proven, enrolling, sid, exp } = claims
      const user = { id: sub, username, role, operates, proven, enrolling, sid, expires: exp }
      return { ...user, targets: 'all', credential: 'session' }
    },
    isMarked(token) {
      const claims = MarkedClaims.safeParse(unverified(token)).data
      if (!claims || claims.exp <= seconds()) return false
      const [nonce = '', mark = ''] = claims.jti.split('.')
      const [own, given] = [Buffer.from(markOf(claims.sub, claims.exp, nonce)), Buffer.from(mark)]
      return own.length === given.length && timingSafeEqual(own, given)
    },
    async readRefresh(token) {
      return (await read('refresh', token, RefreshClaims))?.sub
    },
  }
}

/** Returns the payload without checking the signature; undefined when the token cannot be parsed. */
function unverified(token: string): unknown {
  return parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}
