/*
 * The policies of protection: one row for the default and one for each container that has its own.
 */
import * as z from 'zod'
import { onlyIf } from './audit.ts'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({ target: z.string(), protection: z.string() })
/** A policy as stored: `target` is `default` or `lxc:<id>`, `protection` is JSON. */
export type ProtectionRow = z.infer<typeof Row>

/** Reads the stored policies, in no order; with `targets`, those of these targets alone. */
export function readProtections(db: Database, targets?: readonly string[]): Promise<ProtectionRow[]> {
  const all = 'SELECT target, protection FROM protections'
  if (!targets) return db.query(Row, all)
  return db.query(Row, `${all} WHERE target IN (SELECT value FROM json_each(?))`, [JSON.stringify(targets)])
}

/** Stores a policy in place of the former one, with its audit entry. */
export async function saveProtection(
  db: Database,
  { target, protection }: ProtectionRow,
  { at, by, entry }: { at: string; by: string; entry: Statement },
): Promise<void> {
  await db.batch([
    {
      sql: `INSERT INTO protections (target, protection, changed_at, changed_by) VALUES (?, ?, ?, ?)
            ON CONFLICT (target) DO UPDATE SET protection = excluded.protection, changed_at = excluded.changed_at,
              changed_by = excluded.changed_by`,
      args: [target, protection, at, by],
    },
    entry,
  ])
}

/** Removes a stored policy, with the audit entry; false, without a change, where there is none. */
export async function removeProtection(db: Database, target: string, entry: Statement): Promise<boolean> {
  const exists = { sql: 'SELECT count(*) FROM protections WHERE target = ?', args: [target] }
  const [, removed = 0] = await db.batch([
    onlyIf(entry, exists),
    { sql: 'DELETE FROM protections WHERE target = ?', args: [target] },
  ])
  return removed > 0
}

const Listed = z.object({ target: z.string(), name: z.string() })

/** Reads the containers of the last list, in the order of their numbers. */
export function listedContainers(db: Database): Promise<z.infer<typeof Listed>[]> {
  return db.query(Listed, 'SELECT target, name FROM checks WHERE vmid IS NOT NULL ORDER BY vmid')
}

/** Whether a container is in the last list. */
export async function isListed(db: Database, target: string): Promise<boolean> {
  const found = await db.query(Listed, 'SELECT target, name FROM checks WHERE target = ? AND vmid IS NOT NULL', [
    target,
  ])
  return found.length > 0
}
