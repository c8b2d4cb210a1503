/*
 * Transactions that use something up, such as a challenge or a step of a one-time password: of two that run at the same
 * time, one is rolled back.
 */
import { type Statement, StorageError } from '../libsql/database.ts'

/** Rolls its transaction back unless the statement before it has changed a row. */
export const MUST_CHANGE: Statement = { sql: 'INSERT INTO claims (won) SELECT 0 WHERE changes() = 0' }

/** Whether a transaction was rolled back by `MUST_CHANGE`. */
export function isLostClaim(error: unknown): boolean {
  return error instanceof StorageError && error.message.includes('claim_lost')
}
