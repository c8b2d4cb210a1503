import * as z from 'zod'
import type { Database, Statement } from './client.ts'
import { StoredText, storedText } from './text.ts'

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
  const { sql, args } = auditEntry(entry, now)
  await db.run(sql, args)
}

/** The same for a transaction, with what it tells of. */
export function auditEntry({ action, user_id, username, target, ip, details }: AuditEntry, now: string): Statement {
  return {
    sql: 'INSERT INTO audit (at, action, user_id, username, target, ip, details) SELECT ?, ?, ?, ?, ?, ?, ?',
    args: [now, action, user_id, username && storedText(username), target && storedText(target), ip, details],
  }
}

const Row = z.object({
  id: z.number(),
  at: z.string(),
  action: z.string(),
  username: StoredText.nullable(),
  target: StoredText.nullable(),
  ip: z.string(),
  details: z.string().nullable(),
})
export type AuditRow = z.infer<typeof Row>

/** The newest entries first, those with an id below `before`, of one action or one user where they are named. */
export function readAudit(
  db: Database,
  { limit, before, action, user }: { limit: number; before?: number; action?: string; user?: string },
): Promise<AuditRow[]> {
  const wanted: [condition: string, value: string | number | undefined][] = [
    ['id < ?', before],
    ['action = ?', action],
    ['username = ?', user],
  ]
  const given = wanted.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]))
  const where = given.length === 0 ? '' : `WHERE ${given.map(({ condition }) => condition).join(' AND ')}`
  const sql = `SELECT id, at, action, username, target, ip, details FROM audit ${where} ORDER BY id DESC LIMIT ?`
  return db.query(Row, sql, [...given.map(({ value }) => value), limit])
}
