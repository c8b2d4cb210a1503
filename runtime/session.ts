import type { Database } from '../db/client.ts'
import { type AnnounceEnd, endedSince, endSessions, type SessionChoice } from '../db/sessions.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Log } from './log.ts'
import { createRecent } from './recent.ts'
import type { Secrets } from './secrets.ts'
import { createSigningKeys, type PublicKey } from './signing-keys.ts'
import { createTokens, tokenHash, type User } from './tokens.ts'

/** Verified tokens kept in memory. */
const CACHED = 10_000
/** Half of the minute within which other instances must have learnt of an end, so that one failure to read may pass. */
const STALE_MS = 30_000
/** A login signs two tokens: they need not both look. */
const SIGN_STALE_MS = 1_000
/** Ended sessions kept in memory: far more than can end while a token of one is good. */
const REMEMBERED = 100_000

/** Sessions as the tokens that speak for them. What reads the database may throw a StorageError. */
export interface Sessions {
  accessToken(user: Omit<User, 'expires'>): Promise<string>
  /** A refresh token with what is stored of it. */
  refreshToken(userId: number): Promise<{ token: string; hash: string; expires: Date }>
  /** The user of a valid access token. Its expiry and its session are checked at every use, the signature once. */
  verify(token: string): User | undefined | Promise<User | undefined>
  /** Whether a token is worth verifying while those of its address are refused: known here, or most likely of this service. */
  isPlausible(token: string): boolean
  /** The id of the user of a valid refresh token, whether or not its session still exists. */
  verifyRefresh(token: string): Promise<number | undefined>
  /**
   * Ends sessions: their tokens are refused from now on, their sockets close. Returns how many there were. The audit entry that
   * `announce` makes is written with their end, or neither is.
   */
  end(choice: SessionChoice | 'all', announce?: AnnounceEnd): Promise<number>
  /** Ends a session on this instance alone, when its end cannot be stored. */
  endHere(sid: string): void
  /** Calls back when the session ends, at once when it has. Returns the way out. */
  onEnd(sid: string, listener: () => void): () => void
  /** Learns what other instances ended, and which keys there are. */
  refresh(): Promise<void>
  publishedKeys(): Promise<PublicKey[]>
}

/** The sessions of all instances that share the database; see `docs/decisions/0004`. */
export async function createSessions(services: {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
  jwtKey: string | undefined
  refreshDays: number
}): Promise<Sessions> {
  const { db, secrets, clock, log, refreshDays } = services
  const keys = await createSigningKeys(services)
  const tokens = createTokens({ keys, secrets, clock, refreshDays })
  let verified = createRecent<User>(CACHED)
  /** By session id. */
  const ended = createRecent<true>(REMEMBERED)
  const listeners = new Map<string, Set<() => void>>()
  let lastSeq = 0
  let refreshedAt = clock().getTime()
  let refreshing: Promise<void> | undefined

  const endHere = (sid: string) => {
    ended.set(sid, true)
    for (const listener of listeners.get(sid) ?? []) listener()
    listeners.delete(sid)
  }

  const readEnded = async () => {
    for (const { seq, session_id } of await endedSince(db, lastSeq)) {
      lastSeq = Math.max(lastSeq, seq)
      endHere(String(session_id))
    }
  }

  const readAgain = async () => {
    const at = clock().getTime()
    await readEnded()
    // What a key that has gone had signed is not to be believed, though it was verified once.
    if (await keys.reload()) verified = createRecent(CACHED)
    refreshedAt = at
  }

  const refresh = (): Promise<void> => {
    refreshing ??= readAgain().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  const isStale = (afterMs = STALE_MS) => Math.abs(clock().getTime() - refreshedAt) > afterMs
  /** What is signed is rare, and must not be signed with a key that has just been revoked. */
  const fresh = () => (isStale(SIGN_STALE_MS) ? refresh() : undefined)

  const verify = (token: string): User | undefined | Promise<User | undefined> => {
    const cache = verified
    const known = cache.get(token)
    if (known) return alive(known)
    return tokens.readAccess(token).then((user) => {
      // A key has gone meanwhile, perhaps the one that signed this.
      if (cache !== verified) return verify(token)
      if (user) cache.set(token, user)
      return user && alive(user)
    })
  }

  const alive = (user: User): User | undefined =>
    user.expires * 1000 > clock().getTime() && !ended.get(user.sid) ? user : undefined

  await readEnded()

  return {
    async accessToken(user) {
      await fresh()
      return tokens.signAccess(user)
    },
    async refreshToken(userId) {
      await fresh()
      const { token, expires } = await tokens.signRefresh(userId)
      return { token, hash: tokenHash(token), expires }
    },
    verify: (token) => (isStale() ? refresh().then(() => verify(token)) : verify(token)),
    isPlausible: (token) => verified.get(token) !== undefined || tokens.isMarked(token),
    verifyRefresh: (token) => tokens.readRefresh(token),
    async end(choice, announce) {
      const count = await endSessions(db, choice, timestamp(clock()), announce)
      await readEnded().catch((error: unknown) => {
        // They have ended all the same. Nobody is believed here before it has been read.
        refreshedAt = Number.NEGATIVE_INFINITY
        log.error({ err: error }, 'the end of sessions is not read yet')
      })
      return count
    },
    endHere,
    onEnd(sid, listener) {
      if (ended.get(sid)) {
        listener()
        return () => {}
      }
      const own = listeners.get(sid) ?? new Set()
      listeners.set(sid, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0 && listeners.get(sid) === own) listeners.delete(sid)
      }
    },
    refresh,
    async publishedKeys() {
      await fresh()
      return keys.published()
    },
  }
}
