import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { MUST_CHANGE } from './claims.ts'

/** Challenges of one purpose that one user may have. The newest stay. */
const MOST_OF_USER = 20
/** Answers to one challenge. */
const MOST_ANSWERS = 5
/** The number of answers that stands for a challenge that is used up. */
const USED = MOST_ANSWERS + 1

const Row = z.object({
  hash: z.string(),
  user_id: z.number(),
  purpose: z.string(),
  data_sealed: z.string(),
})
/** A challenge of a user as stored: the hash of its id, and its data, sealed. */
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
              SELECT hash FROM factor_challenges WHERE user_id = ? AND purpose = ?
              ORDER BY rowid DESC LIMIT -1 OFFSET ?)`,
      args: [user_id, purpose, MOST_OF_USER],
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
  const sql = `SELECT hash, user_id, purpose, data_sealed FROM factor_challenges
               WHERE hash = ? AND purpose = ? AND user_id IS NOT NULL AND ${OPEN}`
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

/**
 * Counts an answer to a challenge of nobody in the same way. The first answer stores it, without data: until then only
 * its holder has it.
 */
export async function countAnswerOfNobody(
  db: Database,
  { hash, purpose, expires }: { hash: string; purpose: string; expires: string },
  now: string,
): Promise<boolean> {
  const counted = await db.run(
    `INSERT INTO factor_challenges (hash, purpose, data_sealed, answers, created_at, expires_at)
     SELECT ?1, ?2, '', 1, ?3, ?4 WHERE ?4 > ?3
     ON CONFLICT (hash) DO UPDATE SET answers = answers + 1 WHERE answers < ${MOST_ANSWERS} AND expires_at > ?3`,
    [hash, purpose, now, expires],
  )
  return counted > 0
}

/** Whether the challenge was used, or answered too often. */
export async function isOver(db: Database, hash: string): Promise<boolean> {
  const sql = `SELECT 1 AS over FROM factor_challenges WHERE hash = ? AND answers >= ${MOST_ANSWERS}`
  return (await db.query(z.object({ over: z.number() }), sql, [hash])).length > 0
}

/** Whether the challenge takes a further answer. */
export async function takesAnswers(db: Database, hash: string, now: string): Promise<boolean> {
  const sql = `SELECT 1 AS open FROM factor_challenges WHERE hash = ? AND ${OPEN}`
  return (await db.query(z.object({ open: z.number() }), sql, [hash, now])).length > 0
}

/** Makes the statements that use a user's challenge up. The transaction is rolled back when it is used or has expired. */
export function usingChallenge(hash: string, now: string): Statement[] {
  return [{ sql: 'DELETE FROM factor_challenges WHERE hash = ? AND expires_at > ?', args: [hash, now] }, MUST_CHANGE]
}

/**
 * Does the same for a challenge of nobody to which an answer was counted. Its row stays until it expires: without it, the
 * challenge would be as new.
 */
export function usingChallengeOfNobody(hash: string, now: string): Statement[] {
  return [
    {
      sql: `UPDATE factor_challenges SET answers = ${USED} WHERE hash = ? AND answers < ${USED} AND expires_at > ?`,
      args: [hash, now],
    },
    MUST_CHANGE,
  ]
}

/** Removes challenges that expired by `before`. Returns their number. */
export function pruneChallenges(db: Database, before: string): Promise<number> {
  return db.run('DELETE FROM factor_challenges WHERE expires_at <= ?', [before])
}
