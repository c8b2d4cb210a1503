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

/** Appends an entry. Entries never change and are never removed. */
export async function addAuditEntry(db: Database, entry: AuditEntry, now: string): Promise<void> {
  const { sql, args } = auditEntry(entry, now)
  await db.run(sql, args)
}

/** The statement without its last value, the details. */
const ENTRY = 'INSERT INTO audit (at, action, user_id, username, target, ip, details) SELECT ?, ?, ?, ?, ?, ?, '

/** Makes the statement that appends an entry, for the transaction of the change that it records. */
export function auditEntry({ action, user_id, username, target, ip, details }: AuditEntry, now: string): Statement {
  return {
    sql: `${ENTRY}?`,
    args: [now, action, user_id, username && storedText(username), target && storedText(target), ip, details],
  }
}

/** Makes an entry conditional: it is written if the query `count` returns more than 0. */
export function onlyIf({ sql, args = [] }: Statement, count: Statement): Statement {
  return { sql: `${sql} WHERE (${count.sql}) > 0`, args: [...args, ...(count.args ?? [])] }
}

/** Adds a number to the details of an entry: the result of the query `count` at the moment of the write. */
export function withCount({ sql, args = [] }: Statement, name: string, count: Statement): Statement {
  const details = sql.slice(ENTRY.length)
  return {
    sql: `${ENTRY}json_set(coalesce(${details}, '{}'), '$.${name}', (${count.sql}))`,
    args: [...args, ...(count.args ?? [])],
  }
}

const Address = z.object({ ip: z.string() })

/** A user's newest entries among which sign-ins are looked for. */
const SEARCHED = 5_000

/** The addresses from which a user has signed in, of the newest entries and of the sessions that are left. */
export async function signInAddresses(db: Database, user: { id: number; username: string }): Promise<string[]> {
  const rows = await db.query(
    Address,
    `SELECT ip FROM (SELECT action, user_id, ip FROM audit WHERE username = ? ORDER BY id DESC LIMIT ${SEARCHED})
       WHERE action = 'login_success' AND user_id = ?
     UNION SELECT ip FROM sessions WHERE user_id = ?`,
    [storedText(user.username), user.id, user.id],
  )
  return rows.map(({ ip }) => ip)
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

/** Chooses entries: of one action, user or target, from a time on, until before another one, where these are given. */
export interface AuditFilter {
  action?: string | undefined
  user?: string | undefined
  target?: string | undefined
  from?: string | undefined
  until?: string | undefined
}

/** Reads the newest entries first: the chosen ones, with an id below `before` where it is given. */
export function readAudit(
  db: Database,
  { limit, before, ...filter }: AuditFilter & { limit: number; before?: number | undefined },
): Promise<AuditRow[]> {
  const { where, args } = chosen({ ...filter, before })
  const sql = `SELECT id, at, action, username, target, ip, details FROM audit ${where} ORDER BY id DESC LIMIT ?`
  return db.query(Row, sql, [...args, limit])
}

const Exported = Row.extend({ user_id: z.number().nullable(), hash: z.string().nullable() })
/** An entry with its place in the hash chain; null until it is linked. */
export type ExportedRow = z.infer<typeof Exported>

/** Reads the oldest entries first: the chosen ones, with an id above `after` and at most `last`. */
export function readAuditInOrder(
  db: Database,
  { limit, after, last, ...filter }: AuditFilter & { limit: number; after: number; last: number },
): Promise<ExportedRow[]> {
  const { where, args } = chosen({ ...filter, after, last })
  const sql = `SELECT id, at, action, user_id, username, target, ip, details, hash
    FROM audit LEFT JOIN audit_links ON audit_id = id ${where} ORDER BY id LIMIT ?`
  return db.query(Exported, sql, [...args, limit])
}

const Newest = z.object({ id: z.number() })

/** The id of the newest entry, 0 without one. */
export async function newestAuditId(db: Database): Promise<number> {
  const [row] = await db.query(Newest, 'SELECT coalesce(max(id), 0) AS id FROM audit')
  return row?.id ?? 0
}

function chosen({
  action,
  user,
  target,
  from,
  until,
  before,
  after,
  last,
}: AuditFilter & { before?: number | undefined; after?: number; last?: number }) {
  const filters: [condition: string, value: string | number | undefined][] = [
    ['id < ?', before],
    ['id > ?', after],
    ['id <= ?', last],
    ['action = ?', action],
    ['username = ?', user],
    ['target = ?', target],
    ['at >= ?', from],
    ['at < ?', until],
  ]
  const given = filters.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]))
  return {
    where: given.length === 0 ? '' : `WHERE ${given.map(({ condition }) => condition).join(' AND ')}`,
    args: given.map(({ value }) => value),
  }
}
