import { createHash, createPrivateKey, createPublicKey, randomUUID, type webcrypto } from 'node:crypto'
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  importPKCS8,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import * as z from 'zod'
import type { Database } from '../db/client.ts'
import { addSigningKey, readSigningKeys } from '../db/signing-keys.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Log } from './log.ts'
import { createRecent } from './recent.ts'
import { SecretError, type Secrets } from './secrets.ts'

/** Lifetime of an access token, in seconds. */
export const ACCESS_SECONDS = 900 as const

const ALGORITHM = 'RS256'
const ISSUER = 'ops-panel'
const AUDIENCE = { access: 'ops-panel', refresh: 'ops-panel/refresh' } as const
/** Verified tokens kept in memory. */
const CACHED = 10_000
/** A token may name a key that another instance made: look again, but not at every stranger's token. */
const RELOAD_EVERY_MS = 5_000

const Claims = z.object({
  sub: z.string().regex(/^\d+$/).transform(Number),
  username: z.string(),
  is_admin: z.boolean(),
  sid: z.string(),
  exp: z.number(),
})

/** Who a verified access token speaks for. `expires` is in seconds since the epoch. */
export interface User {
  id: number
  username: string
  isAdmin: boolean
  /** The session that the token was issued in. */
  sid: string
  expires: number
}

export interface Sessions {
  accessToken(user: Omit<User, 'expires'>): Promise<string>
  /** A refresh token with what is stored of it. */
  refreshToken(userId: number): Promise<{ token: string; hash: string; expires: Date }>
  /** The user of a valid access token. Expiry is checked at every use, the signature once. */
  verify(token: string): User | undefined | Promise<User | undefined>
}

type Key = webcrypto.CryptoKey | Uint8Array

/** Lower-case hex SHA-256, the form in which a refresh token is stored. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Signs and verifies tokens with the keys of the database; makes the first key where none can sign. */
export async function createSessions(services: {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
  jwtKey: string | undefined
  refreshDays: number
}): Promise<Sessions> {
  const { db, clock, refreshDays } = services
  const signer = await loadSigner(services)
  let verifiers = await loadVerifiers(db)
  let loadedAt = clock().getTime()
  const cache = createRecent<User>(CACHED)
  const seconds = () => Math.floor(clock().getTime() / 1000)

  const sign = (payload: Record<string, unknown>, kind: keyof typeof AUDIENCE, issued: number, lifetime: number) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: signer.kid })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE[kind])
      .setIssuedAt(issued)
      .setExpirationTime(issued + lifetime)
      .setJti(randomUUID())
      .sign(signer.key)

  const verifier = async (kid: string | undefined): Promise<Key> => {
    const known = kid === undefined ? undefined : verifiers.get(kid)
    if (known) return known
    if (clock().getTime() - loadedAt > RELOAD_EVERY_MS) {
      loadedAt = clock().getTime()
      verifiers = await loadVerifiers(db)
    }
    const key = kid === undefined ? undefined : verifiers.get(kid)
    if (!key) throw new Error('unknown key')
    return key
  }

  const check = async (token: string): Promise<User | undefined> => {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => verifier(kid), {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE.access,
        requiredClaims: ['sub', 'exp', 'iat', 'jti', 'sid'],
        currentDate: clock(),
      })
      const { sub, username, is_admin, sid, exp } = Claims.parse(payload)
      return { id: sub, username, isAdmin: is_admin, sid, expires: exp }
    } catch {
      return undefined
    }
  }

  return {
    accessToken: ({ id, username, isAdmin, sid }) =>
      sign({ sub: String(id), username, is_admin: isAdmin, sid }, 'access', seconds(), ACCESS_SECONDS),
    async refreshToken(userId) {
      const issued = seconds()
      const lifetime = refreshDays * 86_400
      const token = await sign({ sub: String(userId), typ: 'refresh' }, 'refresh', issued, lifetime)
      return { token, hash: tokenHash(token), expires: new Date((issued + lifetime) * 1000) }
    },
    verify(token) {
      const cached = cache.get(token)
      if (cached) {
        if (cached.expires > seconds()) return cached
        cache.delete(token)
        return undefined
      }
      return check(token).then((user) => {
        if (!user || user.expires <= seconds()) return undefined
        cache.set(token, user)
        return user
      })
    },
  }
}

async function loadVerifiers(db: Database): Promise<Map<string, Key>> {
  const rows = await readSigningKeys(db)
  const entries = rows.map(async ({ kid, public_jwk }) => {
    const jwk: JWK = z.looseObject({ kty: z.string() }).parse(JSON.parse(public_jwk))
    return [kid, await importJWK(jwk, ALGORITHM)] as const
  })
  return new Map(await Promise.all(entries))
}

interface Signer {
  kid: string
  key: Key
}

/**
 * The environment's key, else the newest of the database whose private half this instance can decrypt, else a new
 * one. A key that cannot be decrypted stays: tokens that it signed are verified until they expire.
 */
async function loadSigner({ db, secrets, clock, log, jwtKey }: Parameters<typeof createSessions>[0]): Promise<Signer> {
  if (jwtKey !== undefined) return store(jwtKey)
  const rows = await readSigningKeys(db)
  for (const { kid, private_sealed } of rows) {
    try {
      return { kid, key: await importPKCS8(secrets.open(`signing_key:${kid}`, private_sealed), ALGORITHM) }
    } catch (error) {
      if (!(error instanceof SecretError)) throw error
      log.warn({ kid }, 'a signing key cannot be decrypted; another one signs')
    }
  }
  const { privateKey } = await generateKeyPair(ALGORITHM, { modulusLength: 2048, extractable: true })
  return store(await exportPKCS8(privateKey))

  async function store(pem: string): Promise<Signer> {
    const jwk = await exportJWK(createPublicKey(createPrivateKey(pem)))
    const kid = await calculateJwkThumbprint(jwk)
    const public_jwk = JSON.stringify({ ...jwk, kid, alg: ALGORITHM, use: 'sig' })
    await addSigningKey(
      db,
      { kid, public_jwk, private_sealed: secrets.seal(`signing_key:${kid}`, pem) },
      timestamp(clock()),
    )
    return { kid, key: await importPKCS8(pem, ALGORITHM) }
  }
}
