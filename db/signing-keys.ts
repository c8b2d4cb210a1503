import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

/** The origin of a key: made because there was none, taken from the environment, or added by a rotation. */
const Origin = z.enum(['made', 'environment', 'rotation'])
export type KeyOrigin = z.infer<typeof Origin>

const Row = z.object({
  kid: z.string(),
  public_jwk: z.string(),
  private_sealed: z.string(),
  origin: Origin,
  created_at: z.string(),
})
export type SigningKeyRow = z.infer<typeof Row>

const KEYS = 'SELECT kid, public_jwk, private_sealed, origin, created_at FROM signing_keys WHERE revoked_at IS NULL'

/** All signing keys that are not revoked, the last added one first. The order does not depend on clocks. */
export function readSigningKeys(db: Database): Promise<SigningKeyRow[]> {
  return db.query(Row, `${KEYS} ORDER BY rowid DESC`)
}

/** The key with that id, unless it is revoked. */
export async function findSigningKey(db: Database, kid: string): Promise<SigningKeyRow | undefined> {
  const [row] = await db.query(Row, `${KEYS} AND kid = ?`, [kid])
  return row
}

/**
 * Adds a key and executes `more` in one transaction. A key that exists already stays unchanged, revoked or not. Returns
 * how many rows each statement of `more` has changed.
 */
export async function addSigningKey(
  db: Database,
  key: SigningKeyRow,
  more: readonly Statement[] = [],
): Promise<number[]> {
  const sql = `INSERT OR IGNORE INTO signing_keys (kid, public_jwk, private_sealed, origin, created_at) VALUES (?, ?, ?, ?, ?)`
  const args = [key.kid, key.public_jwk, key.private_sealed, key.origin, key.created_at]
  const [, ...changed] = await db.batch([{ sql, args }, ...more])
  return changed
}

const OTHERS = 'kid <> ? AND revoked_at IS NULL'

/** Revokes all keys but one. Tokens signed by the others become invalid, and those keys can never be added again. */
export function revokeOtherSigningKeys(kid: string, now: string): Statement {
  return { sql: `UPDATE signing_keys SET revoked_at = ? WHERE ${OTHERS}`, args: [now, kid] }
}

/** Makes the query that counts the keys that `revokeOtherSigningKeys` would revoke. */
export function countOtherSigningKeys(kid: string): Statement {
  return { sql: `SELECT count(*) FROM signing_keys WHERE ${OTHERS}`, args: [kid] }
}
