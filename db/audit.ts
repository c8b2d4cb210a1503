import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'
import { StoredText, storedText } from './libsql/text.ts'

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

/** All but the details, which come last. */
const ENTRY = 'INSERT INTO audit (at, action, user_id, username, target, ip, details) SELECT ?, ?, ?, ?, ?, ?, '

/** The same for a transaction, with what it tells of. */
export function auditEntry({ action, user_id, username, target, ip, details }: AuditEntry, now: string): Statement {
  return {
    sql: `${ENTRY}?`,
    args: [now, action, user_id, username && storedText(username), target && storedText(target), ip, details],
  }
}

/** The entry of what may come to nothing: written where `count`, a query of one number, finds any. */
export function onlyIf({ sql, args = [] }: Statement, count: Statement): Statement {
  return { sql: `${sql} WHERE (${count.sql}) > 0`, args: [...args, ...(count.args ?? [])] }
}

/** The entry with a number among its details that is known only where it is written: what `count` finds. */
export function noting({ sql, args = [] }: Statement, name: string, count: Statement): Statement {
  const details = sql.slice(ENTRY.length)
  return {
    sql: `${ENTRY}json_set(coalesce(${details}, '{}'), '$.${name}', (${count.sql}))`,
    args: [...args, ...(count.args ?? [])],
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
