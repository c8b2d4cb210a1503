import type { Database } from './client.ts'
import { storedText } from './text.ts'

export interface AuditEntry {
  action: string
  user_id: number | null
  username: string | null
  target: string | null
  ip: string
  details: string | null
}

/** Appends; entries are never changed or removed. */
export async function addAuditEntry(db: Database, entry: AuditEntry, now: string): Promise<void> {
  const { action, user_id, username, target, ip, details } = entry
  await db.run('INSERT INTO audit (at, action, user_id, username, target, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)', [
    now,
    action,
    user_id,
    username && storedText(username),
    target && storedText(target),
    ip,
    details,
  ])
}
