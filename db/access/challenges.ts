import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { MUST_CHANGE } from './claims.ts'

/** Challenges of one purpose that one user may have, or nobody yet. The newest stay. */
const MOST_OF_USER = 20
const MOST_OF_NOBODY = 5_000
/** Answers to one challenge. */
const MOST_ANSWERS = 5

const Row = z.object({
  hash: z.string(),
  user_id: z.number().nullable(),
  purpose: z.string(),
  data_sealed: z.string(),
})
/** A challenge as stored: the hash of its id, and its data, sealed. Without a user when it is to tell who signs in. */
export type ChallengeRow = z.infer<typeof Row>

const OPEN = `answers < ${MOST_ANSWERS} AND expires_at > ?`

/**
 * Stores a challenge, removes the oldest of its user and purpose beyond the most that there may be, and executes `more`,
 * in one transaction.
 */
export async function addChallenge(
  db: Database,
  { hash, user_id, purpose, data_sealed }: ChallengeRow,
  { now, expires }: { now: string; expires: string },
  more: readonly Statement[] = [],
): Promise<void> {
  await db.batch([
    {
      sql: `INSERT INTO factor_challenges (hash, user_id, purpose, data_sealed, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)`,
      args: [hash, user_id, purpose, data_sealed, now, expires],
    },
    {
      sql: `DELETE FROM factor_challenges WHERE hash IN (
              SELECT hash FROM factor_challenges WHERE user_id IS ? AND purpose = ?
              ORDER BY rowid DESC LIMIT -1 OFFSET ?)`,
      args: [user_id, purpose, user_id === null ? MOST_OF_NOBODY : MOST_OF_USER],
    },
    ...more,
  ])
}

/** The challenge with that hash and purpose, unless it has expired or was answered too often. */
export async function findOpenChallenge(
  db: Database,
  { hash, purpose }: Pick<ChallengeRow, 'hash' | 'purpose'>,
  now: string,
): Promise<ChallengeRow | undefined> {
  const sql = `SELECT hash, user_id, purpose, data_sealed FROM factor_challenges WHERE hash = ? AND purpose = ? AND ${OPEN}`
  const [row] = await db.query(Row, sql, [hash, purpose, now])
  return row
}

/**
 * Counts an answer before it is checked, so that many at the same time are no more guesses. False when the challenge
 * takes no answer any more.
 */
export async function countAnswer(db: Database, hash: string, now: string): Promise<boolean> {
  const sql = `UPDATE factor_challenges SET answers = answers + 1 WHERE hash = ? AND ${OPEN}`
  return (await db.run(sql, [hash, now])) > 0
}

/** Whether the challenge takes a further answer. */
export async function takesAnswers(db: Database, hash: string, now: string): Promise<boolean> {
  const sql = `SELECT 1 AS open FROM factor_challenges WHERE hash = ? AND ${OPEN}`
  return (await db.query(z.object({ open: z.number() }), sql, [hash, now])).length > 0
}

/** Makes the statements that use a challenge up. The transaction is rolled back when it is used or has expired. */
export function usingChallenge(hash: string, now: string): Statement[] {
  return [{ sql: 'DELETE FROM factor_challenges WHERE hash = ? AND expires_at > ?', args: [hash, now] }, MUST_CHANGE]
}

/** Removes challenges that have expired. Returns their number. */
export function pruneChallenges(db: Database, now: string): Promise<number> {
  return db.run('DELETE FROM factor_challenges WHERE expires_at <= ?', [now])
}
