/*
 * Sessions: signs and verifies access and refresh tokens, and revokes them when a session ends. An ended session is
 * refused at once on this instance and within a minute on every other instance of the database. API tokens are verified
 * here too. The room must not know HTTP, cookies, passwords or SSH. A signature alone would leave the old token of a
 * signed-out user valid until it expires.
 */

import * as z from 'zod'
import type { Database } from '../db/libsql/database.ts'
import { type EndAuditEntry, endedSince, endSessions, type SessionChoice } from '../db/sessions.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { User } from '../runtime/context.ts'
import { type AskHost, createApiTokens, isApiToken, tokenSid } from './api-tokens.ts'
import { createSigningKeys, type PublicKey } from './signing-keys.ts'
import { type Bearer, createTokens, tokenHash } from './tokens.ts'

export { newApiToken, tokenRights } from './api-tokens.ts'
export { isSealedBy, PublicKey, rotateSigningKey, signingKeyOf } from './signing-keys.ts'
export { ACCESS_SECONDS, type Bearer, tokenHash } from './tokens.ts'

/** Number of verified tokens kept in memory. */
const CACHED = 10_000
/**
 * Half of the minute within which every instance must know of an ended session, so that one failed read is harmless.
 */
const STALE_MS = 30_000
/** How often `sync` reads the signing keys: well within the same minute. */
const KEYS_MS = 20_000
/** A login signs two tokens: the second signature reuses the read of the first. */
const SIGN_STALE_MS = 1_000
/** Number of ended sessions kept in memory: far more than can end while one of their tokens is valid. */
const REMEMBERED = 100_000

/** The id of a session. */
export const SessionId = z
  .int()
  .positive()
  .meta({ id: 'SessionId', description: 'Names a session.', examples: [12] })

/** Issues, verifies and revokes tokens. A method that reads the database may throw a StorageError. */
export interface Sessions {
  accessToken(user: Bearer): Promise<string>
  /** Signs a refresh token and returns it with its stored form. */
  refreshToken(userId: number): Promise<{ token: string; hash: string; expires: Date }>
  /**
   * Returns the user of a valid access token or API token. Every call checks expiry and session; the signature is checked
   * once. An API token is looked up again after 10 s.
   */
  verify(token: string): User | undefined | Promise<User | undefined>
  /**
   * Says whether a token deserves verification while its address is being refused: it was verified before, or its
   * mark shows that this service most likely signed it.
   */
  isPlausible(token: string): boolean
  /** Returns the user id of a valid refresh token, whether or not its session still exists. */
  verifyRefresh(token: string): Promise<number | undefined>
  /**
   * Ends sessions and returns their number. Their tokens are refused from now on, and their sockets close. The audit
   * entry that `announce` makes is stored in the same transaction.
   */
  end(choice: SessionChoice | 'all', announce?: EndAuditEntry): Promise<number>
  /** Ends a session on this instance only, for the case that its end cannot be stored. */
  endHere(sid: string): void
  /**
   * Makes this instance look up API tokens again and closes the sockets that one of them, or one of a user's, has opened. Others
   * follow within a minute. Whether a token is refused is decided by what is stored. `change` is made first, and may remove
   * the tokens.
   */
  endTokens(choice: { id: number } | { userId: number }, change?: () => Promise<unknown>): Promise<void>
  /** Stores the last use of the API token, at most once a minute while its address stays the same. */
  noteUse(user: Pick<User, 'sid'>, address: string): void
  /** Calls `listener` when the session ends, or at once if it has ended. Returns a function that unsubscribes. */
  onEnd(sid: string, listener: () => void): () => void
  /** Reads the sessions that other instances ended, and the signing keys if they were last read 20 s ago. */
  sync(): Promise<void>
  /** Reads both at once. */
  refresh(): Promise<void>
  publishedKeys(): Promise<PublicKey[]>
}

/** Creates the view of the sessions that all instances on this database share; see `docs/decisions/0004`. */
export async function createSessions(services: {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
  jwtKey: string | undefined
  refreshDays: number
  /** Without it, an API token is refused once its owner's rights are too old. */
  askHost?: AskHost
}): Promise<Sessions> {
  const { db, secrets, clock, log, refreshDays, askHost = async () => false } = services
  const keys = await createSigningKeys(services)
  const tokens = createTokens({ keys, secrets, clock, refreshDays })
  const apiTokens = createApiTokens({ db, secrets, clock, log, askHost })
  let verified = createRecentCache<User>(CACHED)
  /** Keyed by session id. */
  const ended = createRecentCache<true>(REMEMBERED)
  const listeners = new Map<string, Set<() => void>>()
  let lastSeq = 0
  let endedReadAt = clock().getTime()
  let keysReadAt = endedReadAt
  let refreshing: Promise<void> | undefined

  const tell = (sid: string) => {
    for (const listener of listeners.get(sid) ?? []) listener()
    listeners.delete(sid)
  }
  const endHere = (sid: string) => {
    ended.set(sid, true)
    tell(sid)
  }

  const readEnded = async () => {
    for (const { seq, session_id } of await endedSince(db, lastSeq)) {
      lastSeq = Math.max(lastSeq, seq)
      endHere(String(session_id))
    }
  }

  const readEndedAgain = async () => {
    const at = clock().getTime()
    await readEnded()
    endedReadAt = at
  }

  const readAgain = async () => {
    const at = clock().getTime()
    await readEndedAgain()
    // Tokens of a removed key are no longer valid, even if they were verified before.
    if (await keys.reload()) verified = createRecentCache(CACHED)
    keysReadAt = at
  }

  const refresh = (): Promise<void> => {
    refreshing ??= readAgain().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  const since = (at: number) => Math.abs(clock().getTime() - at)
  const isStale = () => since(endedReadAt) > STALE_MS || since(keysReadAt) > STALE_MS
  /** Reads the keys before a signature, which is rare and must not use a key that was just revoked. */
  const fresh = () => (since(keysReadAt) > SIGN_STALE_MS ? refresh() : undefined)

  const verify = (token: string): User | undefined | Promise<User | undefined> => {
    const cache = verified
    const known = cache.get(token)
    if (known) return alive(known)
    return tokens.readAccess(token).then((user) => {
      // A key was removed meanwhile, perhaps the one that signed this token.
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
    verify(token) {
      if (isApiToken(token)) return apiTokens.verify(token)
      return isStale() ? refresh().then(() => verify(token)) : verify(token)
    },
    isPlausible(token) {
      if (isApiToken(token)) return apiTokens.isPlausible(token)
      return verified.get(token) !== undefined || tokens.isMarked(token)
    },
    verifyRefresh: (token) => tokens.readRefresh(token),
    async end(choice, announce) {
      const count = await endSessions(db, choice, timestamp(clock()), announce)
      await readEnded().catch((error: unknown) => {
        // The sessions have ended in the database. The next verification must read that first.
        endedReadAt = Number.NEGATIVE_INFINITY
        log.error({ err: error }, 'the end of sessions is not read yet')
      })
      return count
    },
    endHere,
    async endTokens(choice, change) {
      const sids = 'id' in choice ? [tokenSid(choice.id)] : await apiTokens.sidsOf(choice.userId)
      await change?.()
      apiTokens.forget()
      for (const sid of sids) tell(sid)
    },
    noteUse: apiTokens.noteUse,
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
    sync: () => refreshing ?? (since(keysReadAt) >= KEYS_MS ? refresh() : readEndedAgain()),
    refresh,
    async publishedKeys() {
      await fresh()
      return keys.published()
    },
  }
}
