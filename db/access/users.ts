import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { AUTOMATIC_USER, HOST_ACCOUNT, HostAccount, StoredTargets } from '../users.ts'

const Account = z.object({
  id: z.number(),
  username: z.string(),
  is_admin: z.number().transform(Boolean),
  operates: StoredTargets.nullable(),
  last_login_at: z.string().nullable(),
  rights_at: z.string().nullable(),
  barred_at: z.string().nullable(),
  barred_by: z.string().nullable(),
  sessions: z.number(),
  tokens: z.number(),
  totp: z.number(),
  passkeys: z.number(),
  recovery_codes: z.number(),
})
/** An account that has signed in, with the numbers of what it has: what has expired or was used does not count. */
export type AccountRow = z.infer<typeof Account>

/** The accounts that have signed in, by name: those after a name, at most so many, or all. */
export function listAccounts(
  db: Database,
  now: string,
  { after = null, limit = -1 }: { after?: string | null; limit?: number } = {},
): Promise<AccountRow[]> {
  const count = (from: string) => `(SELECT count(*) FROM ${from} AND user_id = users.id)`
  const sql = `
    SELECT id, username, is_admin, operates, last_login_at, rights_at, barred_at, barred_by,
      ${count('sessions WHERE julianday(expires_at) > julianday(?1)')} AS sessions,
      ${count('api_tokens WHERE (expires_at IS NULL OR expires_at > ?1)')} AS tokens,
      ${count(`factors WHERE kind = 'totp'`)} AS totp,
      ${count(`factors WHERE kind = 'passkey'`)} AS passkeys,
      ${count('recovery_codes WHERE used_at IS NULL')} AS recovery_codes
    FROM users WHERE id <> ${AUTOMATIC_USER} AND (?2 IS NULL OR username > ?2) ORDER BY username LIMIT ?3`
  return db.query(Account, sql, [now, after, limit])
}

/**
 * Makes the statements that bar an account; the first one writes the audit entry if the account was not barred. Sign-ins,
 * refreshes and API tokens of a barred account are refused.
 */
export function barringAccount(id: number, by: string, at: string, entry: Statement): Statement[] {
  return [
    whereBarred(entry, id, false),
    {
      sql: 'UPDATE users SET barred_at = ?, barred_by = ? WHERE id = ? AND barred_at IS NULL',
      args: [at, by, id],
    },
  ]
}

/** Lifts the bar of an account, with its audit entry; false, without a change, when it is not barred. */
export async function unbarAccount(db: Database, id: number, entry: Statement): Promise<boolean> {
  const [, changed] = await db.batch([
    whereBarred(entry, id, true),
    { sql: 'UPDATE users SET barred_at = NULL, barred_by = NULL WHERE id = ? AND barred_at IS NOT NULL', args: [id] },
  ])
  return changed === 1
}

function whereBarred({ sql, args = [] }: Statement, id: number, isBarred: boolean): Statement {
  return {
    sql: `${sql} WHERE EXISTS (SELECT 1 FROM users WHERE id = ? AND (barred_at IS NOT NULL) = ?)`,
    args: [...args, id, Number(isBarred)],
  }
}

/** The times of a search for accounts about which the host has to be asked. */
export interface AskingTimes {
  now: string
  /** Rights that were confirmed since then are new enough. */
  confirmedSince: string
  /** A session that was used since then is in use. */
  usedSince: string
  /** A confirmation or a claim after that is of a clock that was ahead. */
  ahead: string
}

/**
 * The accounts with a session in use or an API token, about which the host has not been asked for too long; the longest
 * unasked first. A token counts before its first use, because its first use must not meet the rights of last month.
 */
export function accountsToAsk(
  db: Database,
  { now, confirmedSince, usedSince, ahead }: AskingTimes,
  most: number,
): Promise<HostAccount[]> {
  const sql = `
    ${HOST_ACCOUNT} AND barred_at IS NULL AND ${isDue('?2', '?4')} AND ${isFree('?1', '?4')} AND (
      EXISTS (SELECT 1 FROM sessions WHERE user_id = users.id AND julianday(expires_at) > julianday(?1)
        AND julianday(coalesce(last_used_at, created_at)) >= julianday(?3))
      OR EXISTS (SELECT 1 FROM api_tokens WHERE user_id = users.id AND (expires_at IS NULL OR expires_at > ?1)))
    ORDER BY coalesce(asking_until, ''), rights_at, id LIMIT ?5`
  return db.query(HostAccount, sql, [now, confirmedSince, usedSince, ahead, most])
}

/** Claims an account for this instance to ask about; false when another one asks, or has just asked. */
export async function claimAsking(
  db: Database,
  id: number,
  { now, confirmedSince, ahead }: AskingTimes,
  until: string,
): Promise<boolean> {
  const sql = `UPDATE users SET asking_until = ?5 WHERE id = ?1 AND ${isDue('?3', '?4')} AND ${isFree('?2', '?4')}`
  return (await db.run(sql, [id, now, confirmedSince, ahead, until])) === 1
}

const isDue = (since: string, ahead: string) => `(rights_at IS NULL OR rights_at < ${since} OR rights_at > ${ahead})`
const isFree = (now: string, ahead: string) =>
  `(asking_until IS NULL OR asking_until <= ${now} OR asking_until > ${ahead})`
