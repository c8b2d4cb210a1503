import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type ApiTokenRow, apiTokenIds, findApiToken, touchApiToken } from '../db/access/api-tokens.ts'
import type { Database } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import type { Secrets } from '../platform/secrets.ts'
import { ROLES, type Targets, type User } from '../runtime/context.ts'
import { tokenHash } from './tokens.ts'

/**
 * `opt_` and the base64url of 32 bytes: 24 random ones, and 8 that only the key of this service makes from them. Those
 * are no proof. They only let a service tell its own tokens from invented ones without a query, while it refuses an
 * address for too many of the latter.
 */
const FORM = /^opt_[\w-]{43}$/
const PREFIX = 'opt_'
const RANDOM = 24
const MARK = 8

/** A revocation, a bar or other rights of the owner reach every instance after this time at most. */
const CACHED_MS = 10_000
/** Number of tokens kept in memory. */
const CACHED = 10_000
/**
 * The host is asked about the owner when its last word is older. With `CACHED_MS`, which follows it, the rights of a
 * token are never older than 15 minutes.
 */
const RIGHTS_MS = 14 * 60_000
/** While the host does not answer, or refuses the owner, it is asked again after this time. */
const ASKED_MS = 60_000
/** The last use is written this often, or when the address changes, which a client could do with each request. */
const USED_MS = 60_000
const USED_ELSEWHERE_MS = 1_000

/**
 * Asks the host about the rights of a user and stores what it says. Resolves to whether the stored rights count: those
 * that it confirms, and, while it does not answer, those that need no confirmation.
 */
export type AskHost = (userId: number) => Promise<boolean>

export interface ApiTokens {
  /** Returns the user as whom a token acts. A token that was verified within the last 10 s needs no query. */
  verify(token: string): User | undefined | Promise<User | undefined>
  isPlausible(token: string): boolean
  noteUse(user: Pick<User, 'sid'>, address: string): void
  /** Reads tokens anew at their next use. */
  forget(): void
  /** Returns the session ids of a user's tokens. */
  sidsOf(userId: number): Promise<string[]>
}

export function isApiToken(token: string): boolean {
  return token.startsWith(PREFIX)
}

export function tokenSid(id: number): string {
  return `token:${id}`
}

/** Makes a token. It is shown once and stored as its hash. */
export function newApiToken(secrets: Pick<Secrets, 'mark'>): { token: string; hash: string } {
  const random = randomBytes(RANDOM)
  const token = `${PREFIX}${Buffer.concat([random, markOf(secrets, random)]).toString('base64url')}`
  return { token, hash: tokenHash(token) }
}

function markOf(secrets: Pick<Secrets, 'mark'>, random: Buffer): Buffer {
  return Buffer.from(secrets.mark('api_token', random.toString('base64url')), 'base64url').subarray(0, MARK)
}

type Rights = Pick<User, 'role' | 'operates' | 'targets'>

/** The stored rights of a user. An account that the host keeps out reads at most. */
function ownerRights({
  is_admin,
  operates,
  kept_out,
}: Pick<ApiTokenRow, 'is_admin' | 'operates' | 'kept_out'>): Omit<Rights, 'targets'> {
  if (kept_out) return { role: 'viewer', operates: [] }
  if (is_admin) return { role: 'admin', operates: 'all' }
  return operates === null ? { role: 'viewer', operates: [] } : { role: 'operator', operates }
}

/** The rights of a token now: the lesser of its own and those of its owner. Undefined: it is refused. */
export function tokenRights(row: ApiTokenRow, now: Date): Rights | undefined {
  const hasExpired = row.expires_at !== null && Date.parse(row.expires_at) <= now.getTime()
  if (hasExpired || row.barred_at !== null || row.rights_at === null) return undefined
  const owner = ownerRights(row)
  const role = ROLES[Math.min(ROLES.indexOf(row.role), ROLES.indexOf(owner.role))] ?? 'viewer'
  const operates = role === 'viewer' ? [] : common(owner.operates, row.targets)
  return { role, operates, targets: row.targets }
}

function common(one: Targets, other: Targets): Targets {
  if (one === 'all') return other
  return other === 'all' ? one : one.filter((target) => other.includes(target))
}

interface Known {
  user: User | undefined
  /** When the database was asked. */
  at: number
}

export function createApiTokens({
  db,
  secrets,
  clock,
  log,
  askHost,
}: {
  db: Database
  secrets: Pick<Secrets, 'mark'>
  clock: Clock
  log: Log
  askHost: AskHost
}): ApiTokens {
  /** Keyed by hash, so that no token stays in memory. */
  let known = createRecentCache<Known>(CACHED)
  const reading = new Map<string, Promise<User | undefined>>()
  const asked = createRecentCache<{ at: number; answer: Promise<boolean> }>(CACHED)
  const used = createRecentCache<{ at: number; address: string }>(CACHED)
  const since = (at: number) => Math.abs(clock().getTime() - at)

  const isMarked = (token: string): boolean => {
    if (!FORM.test(token)) return false
    const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url')
    return timingSafeEqual(markOf(secrets, bytes.subarray(0, RANDOM)), bytes.subarray(RANDOM))
  }

  /** All tokens of an owner share one question. */
  const confirm = (userId: number): Promise<boolean> => {
    const key = String(userId)
    const before = asked.get(key)
    if (before && since(before.at) < ASKED_MS) return before.answer
    const answer = askHost(userId)
    asked.set(key, { at: clock().getTime(), answer })
    answer.catch(() => asked.delete(key))
    return answer
  }

  /** Whether the host has confirmed the owner's rights lately. */
  const isConfirmed = ({ rights_at }: ApiTokenRow) => rights_at !== null && since(Date.parse(rights_at)) < RIGHTS_MS

  const read = async (hash: string): Promise<User | undefined> => {
    let row = await findApiToken(db, hash)
    const isUsable = row && row.barred_at === null && (row.expires_at === null || Date.parse(row.expires_at) > +clock())
    if (row && isUsable && !isConfirmed(row)) {
      const counts = await confirm(row.user_id)
      row = counts ? await findApiToken(db, hash) : undefined
    }
    const rights = row && tokenRights(row, clock())
    if (!row || !rights) return undefined
    const { id, user_id, username, expires_at } = row
    return {
      id: user_id,
      username,
      ...rights,
      credential: 'token',
      sid: tokenSid(id),
      expires: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) / 1000,
      proven: 0,
      enrolling: false,
    }
  }

  /** Concurrent requests with one token share one query. */
  const readShared = (token: string, hash: string): Promise<User | undefined> => {
    const running = reading.get(hash)
    if (running) return running
    const cache = known
    const at = clock().getTime()
    const found = read(hash).then((user) => {
      // An invented token would only take the place of a real one.
      if (cache === known && (user || isMarked(token))) cache.set(hash, { user, at })
      return user
    })
    reading.set(hash, found)
    const done = () => {
      if (reading.get(hash) === found) reading.delete(hash)
    }
    found.then(done, done)
    return found
  }

  return {
    verify(token) {
      if (!FORM.test(token)) return undefined
      const hash = tokenHash(token)
      const before = known.get(hash)
      if (!before || since(before.at) >= CACHED_MS) return readShared(token, hash)
      const { user } = before
      return user && user.expires * 1000 > clock().getTime() ? user : undefined
    },
    isPlausible: isMarked,
    noteUse({ sid }, address) {
      const before = used.get(sid)
      const pause = before?.address === address ? USED_MS : USED_ELSEWHERE_MS
      if (before && since(before.at) < pause) return
      used.set(sid, { at: clock().getTime(), address })
      const id = Number(sid.slice(sid.indexOf(':') + 1))
      touchApiToken(db, id, timestamp(clock()), address).catch((error: unknown) =>
        log.error({ token_id: id, err: error }, 'the use of an API token is not noted'),
      )
    },
    forget() {
      known = createRecentCache(CACHED)
      reading.clear()
    },
    sidsOf: async (userId) => (await apiTokenIds(db, userId)).map(tokenSid),
  }
}
