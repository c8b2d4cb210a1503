import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText, storedText } from '../libsql/text.ts'
import { MUST_CHANGE } from './claims.ts'

const Kind = z.enum(['totp', 'passkey'])
const Listed = z.object({
  id: z.number(),
  kind: Kind,
  name: StoredText,
  created_at: z.string(),
  last_used_at: z.string().nullable(),
})
/** A second factor of a user, without its secret. */
export type ListedFactor = z.infer<typeof Listed>

/** A user's factors, the oldest first. */
export function listFactors(db: Database, userId: number): Promise<ListedFactor[]> {
  const sql = 'SELECT id, kind, name, created_at, last_used_at FROM factors WHERE user_id = ? ORDER BY id'
  return db.query(Listed, sql, [userId])
}

const Totp = z.object({ id: z.number(), secret_sealed: z.string(), last_step: z.number() })
export type TotpRow = z.infer<typeof Totp>

export function readTotps(db: Database, userId: number): Promise<TotpRow[]> {
  const sql = "SELECT id, secret_sealed, last_step FROM factors WHERE user_id = ? AND kind = 'totp' ORDER BY id"
  return db.query(Totp, sql, [userId])
}

/** Makes the statement that rolls its transaction back when the user has a factor. `isLostClaim` tells it. */
export function expectingNoFactor(userId: number): Statement {
  const sql = 'INSERT INTO claims (won) SELECT 0 WHERE EXISTS (SELECT 1 FROM factors WHERE user_id = ?)'
  return { sql, args: [userId] }
}

const NextId = z.object({ id: z.number() })

/** The id of the next factor, unless another one is added before. */
export async function nextFactorId(db: Database): Promise<number> {
  const sql = "SELECT coalesce(max(seq), 0) + 1 AS id FROM sqlite_sequence WHERE name = 'factors'"
  return (await db.query(NextId, sql))[0]?.id ?? 1
}

/** Makes the statement that rolls its transaction back unless this is the id of the newest factor. `isLostClaim` tells it. */
export function expectingNewestFactor(id: number): Statement {
  return { sql: 'INSERT INTO claims (won) SELECT 0 WHERE (SELECT max(id) FROM factors) IS NOT ?', args: [id] }
}

/** The condition that the user has fewer than `most` factors. */
const ROOM = '(SELECT count(*) FROM factors WHERE user_id = ?) < ?'

/**
 * Makes the statements that store a factor for one-time passwords, of which `step` was just used. The transaction is rolled back
 * when the user has `most` factors already.
 */
export function addingTotp(
  { userId, name, secret, step }: { userId: number; name: string; secret: string; step: number },
  most: number,
  now: string,
): Statement[] {
  return [
    {
      sql: `INSERT INTO factors (user_id, kind, name, secret_sealed, last_step, created_at)
            SELECT ?, 'totp', ?, ?, ?, ? WHERE ${ROOM}`,
      args: [userId, storedText(name), secret, step, now, userId, most],
    },
    MUST_CHANGE,
  ]
}

/** Makes the statements that use a step up. The transaction is rolled back when it, or a later one, was used. */
export function usingStep(id: number, step: number, now: string): Statement[] {
  return [
    {
      sql: 'UPDATE factors SET last_step = ?, last_used_at = ? WHERE id = ? AND last_step < ?',
      args: [step, now, id, step],
    },
    MUST_CHANGE,
  ]
}

/**
 * Makes the statements that remove a factor, and after the last one the user's recovery codes, which then have nothing
 * to recover. The transaction is rolled back when the factor is gone, or is the last one and `keepLast`.
 */
export function removingFactor({ id, userId }: { id: number; userId: number }, keepLast: boolean): Statement[] {
  const none = 'user_id = ? AND NOT EXISTS (SELECT 1 FROM factors WHERE user_id = ?)'
  return [
    {
      sql: `DELETE FROM factors WHERE id = ? AND user_id = ?
            AND (? = 0 OR (SELECT count(*) FROM factors WHERE user_id = ?) > 1)`,
      args: [id, userId, Number(keepLast), userId],
    },
    MUST_CHANGE,
    { sql: `DELETE FROM recovery_codes WHERE ${none}`, args: [userId, userId] },
  ]
}

/** Makes the statements that remove everything about the user's factors. */
export function removingEveryFactor(userId: number): Statement[] {
  return ['factors', 'recovery_codes', 'factor_locks', 'factor_challenges'].map((table) => ({
    sql: `DELETE FROM ${table} WHERE user_id = ?`,
    args: [userId],
  }))
}

const Count = z.object({ count: z.number() })

/** The number of the user's recovery codes that are not used. */
export async function countRecoveryCodes(db: Database, userId: number): Promise<number> {
  const sql = 'SELECT count(*) AS count FROM recovery_codes WHERE user_id = ? AND used_at IS NULL'
  return (await db.query(Count, sql, [userId]))[0]?.count ?? 0
}

/** Whether the user has an unused recovery code with that hash. */
export async function hasRecoveryCode(db: Database, userId: number, hash: string): Promise<boolean> {
  const sql = 'SELECT count(*) AS count FROM recovery_codes WHERE user_id = ? AND hash = ? AND used_at IS NULL'
  return (await db.query(Count, sql, [userId, hash]))[0]?.count === 1
}

/** Makes the statements that use a recovery code up. The transaction is rolled back when it was used. */
export function usingRecoveryCode(userId: number, hash: string, now: string): Statement[] {
  return [
    {
      sql: 'UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND hash = ? AND used_at IS NULL',
      args: [now, userId, hash],
    },
    MUST_CHANGE,
  ]
}

/** Makes the statements that replace the user's recovery codes, used ones too. */
export function replacingRecoveryCodes(userId: number, hashes: readonly string[]): Statement[] {
  return [
    { sql: 'DELETE FROM recovery_codes WHERE user_id = ?', args: [userId] },
    ...hashes.map((hash) => ({
      sql: 'INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)',
      args: [userId, hash],
    })),
  ]
}

/** A kind of factor that is locked by itself. */
export type LockedKind = 'totp' | 'passkey' | 'recovery'

const Lock = z.object({ locked_until: z.string().nullable() })

/**
 * Counts an answer before it is checked. The answer number `most`, with no correct one between and never `forget` ms
 * apart, locks the kind of factor until `lockedUntil`. Returns until when the kind is locked already, and counts nothing then.
 * A lock until after `ahead` comes from a clock that was ahead, and holds nobody back.
 */
export async function countFactorAnswer(
  db: Database,
  { userId, kind }: { userId: number; kind: LockedKind },
  {
    now,
    since,
    lockedUntil,
    ahead,
    most,
  }: Record<'now' | 'since' | 'lockedUntil' | 'ahead', string> & { most: number },
): Promise<string | undefined> {
  const counted = await db.run(
    `INSERT INTO factor_locks (user_id, kind, answers, last_at) VALUES (?1, ?2, 1, ?3)
     ON CONFLICT (user_id, kind) DO UPDATE SET last_at = ?3,
       answers = iif(locked_until IS NOT NULL OR last_at <= ?4, 1, answers + 1),
       locked_until = iif(locked_until IS NULL AND last_at > ?4 AND answers + 1 >= ?6, ?5, NULL)
     WHERE locked_until IS NULL OR locked_until <= ?3 OR locked_until > ?7`,
    [userId, kind, now, since, lockedUntil, most, ahead],
  )
  if (counted > 0) return undefined
  const sql = 'SELECT locked_until FROM factor_locks WHERE user_id = ? AND kind = ?'
  return (await db.query(Lock, sql, [userId, kind]))[0]?.locked_until ?? lockedUntil
}

/** Makes the statement that forgets the answers to a kind of factor after a correct one. */
export function forgettingAnswers({ userId, kind }: { userId: number; kind: LockedKind }): Statement {
  return { sql: 'DELETE FROM factor_locks WHERE user_id = ? AND kind = ?', args: [userId, kind] }
}

/** Removes counted answers from before `since` of kinds that are not locked at `now`. Returns their number. */
export function pruneFactorLocks(db: Database, now: string, since: string): Promise<number> {
  const sql = 'DELETE FROM factor_locks WHERE last_at <= ? AND (locked_until IS NULL OR locked_until <= ?)'
  return db.run(sql, [since, now])
}
