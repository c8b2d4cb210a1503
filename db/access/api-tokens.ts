import * as z from 'zod'
import { onlyIf, withCount } from '../audit.ts'
import type { Database, Statement } from '../libsql/database.ts'
import { AUTOMATIC_USER, StoredTargets } from '../users.ts'

/** A token of this age after its end is removed when its owner makes another one. */
const KEPT_DAYS = 30
/** Tokens of one owner that are kept after their end: some live for a second. */
const MOST_EXPIRED = 100
/** Rows of a list. */
const MOST_LISTED = 1_000

/** A token with what its owner may do, as both are stored. */
const Row = z.object({
  id: z.number(),
  user_id: z.number(),
  username: z.string(),
  name: z.string(),
  role: z.enum(['viewer', 'operator', 'admin']),
  targets: StoredTargets,
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  last_ip: z.string().nullable(),
  is_admin: z.number().transform(Boolean),
  operates: StoredTargets.nullable(),
  kept_out: z.number().transform(Boolean),
  barred_at: z.string().nullable(),
  rights_at: z.string().nullable(),
})
export type ApiTokenRow = z.infer<typeof Row>

const TOKENS = `SELECT api_tokens.id, user_id, username, name, role, targets, api_tokens.created_at, expires_at, last_used_at, last_ip,
    is_admin, operates, kept_out, barred_at, rights_at
  FROM api_tokens JOIN users ON users.id = user_id AND users.id <> ${AUTOMATIC_USER}`

export async function findApiToken(db: Database, hash: string): Promise<ApiTokenRow | undefined> {
  const [row] = await db.query(Row, `${TOKENS} WHERE hash = ?`, [hash])
  return row
}

export async function findApiTokenById(db: Database, id: number): Promise<ApiTokenRow | undefined> {
  const [row] = await db.query(Row, `${TOKENS} WHERE api_tokens.id = ?`, [id])
  return row
}

/** The tokens of one user, or of everybody, the newest first. */
export function listApiTokens(db: Database, userId?: number): Promise<ApiTokenRow[]> {
  const sql = `${TOKENS} WHERE ?1 IS NULL OR user_id = ?1 ORDER BY api_tokens.id DESC LIMIT ${MOST_LISTED}`
  return db.query(Row, sql, [userId ?? null])
}

export interface NewApiToken {
  user_id: number
  name: string
  /** Lower-case hex SHA-256 of the token; the token itself is never stored. */
  hash: string
  role: ApiTokenRow['role']
  targets: ApiTokenRow['targets']
  expires_at: string | null
}

/**
 * Stores a token with its audit entry, which gets the token's id, and removes the owner's tokens that expired long ago, or
 * are beyond the most that are kept, in one transaction. Stores nothing and returns undefined when the owner has `most`
 * tokens that have not expired.
 */
export async function addApiToken(
  db: Database,
  token: NewApiToken,
  { now, most, entry }: { now: string; most: number; entry: Statement },
): Promise<ApiTokenRow | undefined> {
  const { user_id, name, hash, role, targets, expires_at } = token
  const added = { sql: 'SELECT id FROM api_tokens WHERE hash = ?', args: [hash] }
  await db.batch([
    {
      sql: `DELETE FROM api_tokens WHERE user_id = ?1 AND (julianday(expires_at) < julianday(?2) - ?3 OR id IN (
              SELECT id FROM api_tokens WHERE user_id = ?1 AND julianday(expires_at) <= julianday(?2)
              ORDER BY id DESC LIMIT -1 OFFSET ?4))`,
      args: [user_id, now, KEPT_DAYS, MOST_EXPIRED],
    },
    {
      sql: `INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at, expires_at)
            SELECT ?, ?, ?, ?, ?, ?, ? WHERE ? > (SELECT count(*) FROM api_tokens
              WHERE user_id = ? AND (expires_at IS NULL OR julianday(expires_at) > julianday(?)))`,
      args: [user_id, name, hash, role, JSON.stringify(targets), now, expires_at, most, user_id, now],
    },
    onlyIf(withCount(entry, 'id', added), { sql: `SELECT count(*) FROM api_tokens WHERE hash = ?`, args: [hash] }),
  ])
  return findApiToken(db, hash)
}

/** Removes a token and stores the audit entry. Returns whether there was one. */
export async function removeApiToken(db: Database, id: number, entry: Statement): Promise<boolean> {
  const [, removed] = await db.batch([
    onlyIf(entry, { sql: 'SELECT count(*) FROM api_tokens WHERE id = ?', args: [id] }),
    { sql: 'DELETE FROM api_tokens WHERE id = ?', args: [id] },
  ])
  return removed === 1
}

/** Makes the query for the number of a user's tokens and of what `count` counts. */
export function countingWithApiTokens(count: Statement, userId: number): Statement {
  return {
    sql: `SELECT (${count.sql}) + (SELECT count(*) FROM api_tokens WHERE user_id = ?)`,
    args: [...(count.args ?? []), userId],
  }
}

/** Makes the statement that removes every token of a user. */
export function removingApiTokens(userId: number): Statement {
  return { sql: 'DELETE FROM api_tokens WHERE user_id = ?', args: [userId] }
}

const Id = z.object({ id: z.number() })

export async function apiTokenIds(db: Database, userId: number): Promise<number[]> {
  return (await db.query(Id, 'SELECT id FROM api_tokens WHERE user_id = ?', [userId])).map(({ id }) => id)
}

/** Stores the last use of a token, unless another instance has stored a later one. */
export async function touchApiToken(db: Database, id: number, at: string, ip: string): Promise<void> {
  await db.run(
    `UPDATE api_tokens SET last_used_at = ?1, last_ip = ?2
     WHERE id = ?3 AND (last_used_at IS NULL OR julianday(last_used_at) <= julianday(?1))`,
    [at, ip, id],
  )
}
