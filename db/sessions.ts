import * as z from 'zod'
import type { Database } from './client.ts'

const Id = z.object({ id: z.number() })

export interface NewSession {
  user_id: number
  /** Lower-case hex SHA-256 of the refresh token; the token itself is never stored. */
  token_hash: string
  expires_at: string
  user_agent: string
  ip: string
}

/** Stores a session and the user's last login in one go; the session counts as used now. Returns its id. */
export async function addSession(db: Database, session: NewSession, now: string): Promise<number> {
  const { user_id, token_hash, expires_at, user_agent, ip } = session
  await db.batch([
    {
      sql: `INSERT INTO sessions (user_id, token_hash, expires_at, user_agent, ip, created_at, last_used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)`,
      args: [user_id, token_hash, expires_at, user_agent, ip, now, now],
    },
    { sql: 'UPDATE users SET last_login_at = ? WHERE id = ?', args: [now, user_id] },
  ])
  const [row] = await db.query(Id, 'SELECT id FROM sessions WHERE token_hash = ?', [token_hash])
  if (!row) throw new Error('a session vanished while it was being stored')
  return row.id
}
