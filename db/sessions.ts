import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

const Id = z.object({ id: z.number() })

export interface NewSession {
  user_id: number
  /** Lower-case hex SHA-256 of the refresh token; the token itself is never stored. */
  token_hash: string
  expires_at: string
  user_agent: string
  ip: string
  /** The start of the session, unless given. */
  proven_at?: string
  proven_by: ProvenBy
}

/** How a session's user last proved who it is. `host`: by the host's own second factor. */
export const ProvenBy = z.enum(['password', 'host', 'totp', 'passkey', 'recovery', 'oidc'])
export type ProvenBy = z.infer<typeof ProvenBy>

/**
 * Stores a session and the user's last login, and executes `more`, in one transaction. The session counts as used
 * now. Returns its id.
 */
export async function addSession(
  db: Database,
  session: NewSession,
  now: string,
  more: readonly Statement[] = [],
): Promise<number> {
  const { user_id, token_hash, expires_at, user_agent, ip, proven_at = now, proven_by } = session
  await db.batch([
    {
      sql: `INSERT INTO sessions (user_id, token_hash, expires_at, user_agent, ip, created_at, last_used_at, proven_at, proven_by)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      args: [user_id, token_hash, expires_at, user_agent, ip, now, now, proven_at, proven_by],
    },
    { sql: 'UPDATE users SET last_login_at = ? WHERE id = ?', args: [now, user_id] },
    ...more,
  ])
  const [row] = await db.query(Id, 'SELECT id FROM sessions WHERE token_hash = ?', [token_hash])
  if (!row) throw new Error('a session vanished while it was being stored')
  return row.id
}

const Session = z.object({
  id: z.number(),
  token_hash: z.string(),
  user_agent: z.string(),
  ip: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  expires_at: z.string(),
  proven_at: z.string(),
  proven_by: ProvenBy,
})
export type Session = z.infer<typeof Session>

/** The user's unexpired sessions, the last used one first. `julianday` reads both stored formats of a timestamp. */
export function listSessions(db: Database, userId: number, now: string): Promise<Session[]> {
  const sql = `SELECT id, token_hash, user_agent, ip, created_at, last_used_at, expires_at, proven_at, proven_by FROM sessions
               WHERE user_id = ? AND julianday(expires_at) > julianday(?)
               ORDER BY julianday(coalesce(last_used_at, created_at)) DESC, id DESC`
  return db.query(Session, sql, [userId, now])
}

const Proven = Id.extend({ proven_at: z.string() })

/** The id of the user's unexpired session with that token, and when its user was last proven. */
export async function findSession(
  db: Database,
  userId: number,
  tokenHash: string,
  now: string,
): Promise<z.infer<typeof Proven> | undefined> {
  const sql = `SELECT id, proven_at FROM sessions
               WHERE user_id = ? AND token_hash = ? AND julianday(expires_at) > julianday(?)`
  const [session] = await db.query(Proven, sql, [userId, tokenHash, now])
  return session
}

const Proof = z.object({ proven_at: z.string(), proven_by: ProvenBy })

/** When and how the user of a session was last proven. */
export async function proofOfSession(
  db: Database,
  id: number,
  userId: number,
): Promise<z.infer<typeof Proof> | undefined> {
  const sql = 'SELECT proven_at, proven_by FROM sessions WHERE id = ? AND user_id = ?'
  const [proof] = await db.query(Proof, sql, [id, userId])
  return proof
}

/** Makes the statement that stores a new proof of an open session. */
export function provenSession(id: number, userId: number, by: ProvenBy, now: string): Statement {
  return {
    sql: 'UPDATE sessions SET proven_at = ?, proven_by = ? WHERE id = ? AND user_id = ?',
    args: [now, by, id, userId],
  }
}

export async function touchSession(db: Database, id: number, now: string): Promise<void> {
  await db.run('UPDATE sessions SET last_used_at = ? WHERE id = ?', [now, id])
}

/** Chooses all sessions of a user but `except`, or the one of them with that id or token. */
export interface SessionChoice {
  userId: number
  id?: number
  except?: number
  tokenHash?: string
}

/**
 * Makes the audit entry of ended sessions, and what else changes with them; the query `count` returns their number until
 * then.
 */
export type EndAuditEntry = (count: Statement) => Statement | Statement[]

/**
 * Makes the statements that remove sessions and record their ends, which every instance reads with `endedSince`. The
 * count of the last statement is the number of removed sessions.
 */
export function endingSessions(choice: SessionChoice | 'all', now: string, announce?: EndAuditEntry): Statement[] {
  const { userId = null, id = null, except = null, tokenHash = null } = choice === 'all' ? {} : choice
  const chosen =
    '(? IS NULL OR user_id = ?) AND (? IS NULL OR id = ?) AND (? IS NULL OR id <> ?) AND (? IS NULL OR token_hash = ?)'
  const args = [userId, userId, id, id, except, except, tokenHash, tokenHash]
  const count = { sql: `SELECT count(*) FROM sessions WHERE ${chosen}`, args }
  return [
    ...(announce ? [announce(count)].flat() : []),
    {
      sql: `INSERT INTO ended_sessions (session_id, ended_at) SELECT id, ? FROM sessions WHERE ${chosen}`,
      args: [now, ...args],
    },
    { sql: `DELETE FROM sessions WHERE ${chosen}`, args },
  ]
}

/** Removes sessions and stores the audit entry in one transaction. Returns the number of removed sessions. */
export async function endSessions(
  db: Database,
  choice: SessionChoice | 'all',
  now: string,
  announce?: EndAuditEntry,
): Promise<number> {
  return (await db.batch(endingSessions(choice, now, announce))).at(-1) ?? 0
}

const Ended = z.object({ seq: z.number(), session_id: z.number() })
export type EndedSession = z.infer<typeof Ended>

/** The ends after number `seq`, in their order. Numbers only grow. */
export function endedSince(db: Database, seq: number): Promise<EndedSession[]> {
  return db.query(Ended, 'SELECT seq, session_id FROM ended_sessions WHERE seq > ? ORDER BY seq', [seq])
}

/** Removes the sessions that have expired at `by`. Returns their number. */
export function removeExpiredSessions(db: Database, by: string): Promise<number> {
  return db.run('DELETE FROM sessions WHERE julianday(expires_at) <= julianday(?)', [by])
}

/** Removes ends that every instance has read long ago. Returns their number. */
export function pruneEndedSessions(db: Database, before: string): Promise<number> {
  return db.run('DELETE FROM ended_sessions WHERE julianday(ended_at) < julianday(?)', [before])
}
