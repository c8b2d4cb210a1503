import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({ key: z.string(), value: z.string() })

export async function readSettings(db: Database): Promise<Map<string, string>> {
  const rows = await db.query(Row, 'SELECT key, value FROM settings')
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Writes the values and executes `more` in one transaction. */
export async function writeSettings(
  db: Database,
  values: Record<string, string>,
  now: string,
  more: readonly Statement[] = [],
): Promise<void> {
  await db.batch([
    ...Object.entries(values).map(([key, value]) => ({
      sql: `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [key, value, now],
    })),
    ...more,
  ])
}

/**
 * Pins a host key if none is pinned and `address` is still the host of the settings. False when nothing was written.
 */
export async function pinHostKey(
  db: Database,
  { hostKey, address }: { hostKey: string; address: string },
  now: string,
): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO settings (key, value, updated_at) SELECT 'ssh_host_key', ?, ?
     WHERE EXISTS (SELECT 1 FROM settings WHERE key = 'ssh_host' AND value = ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at WHERE settings.value = ''`,
    [hostKey, now, address],
  )
  return changed > 0
}

/**
 * Writes the values and executes the `INSERT … SELECT`s of `more` in one transaction. Returns false, without a change,
 * when an SSH host is set already.
 */
export async function writeFirstSettings(
  db: Database,
  { ssh_host = '', ...others }: Record<string, string>,
  now: string,
  more: readonly Statement[] = [],
): Promise<boolean> {
  const unlessInstalled = `WHERE NOT EXISTS (SELECT 1 FROM settings WHERE key = 'ssh_host' AND value <> '')`
  // The host comes last, because the condition of the other values is that no host is set.
  const counts = await db.batch([
    ...more.map(({ sql, args = [] }) => ({ sql: `${sql} ${unlessInstalled}`, args })),
    ...Object.entries({ ...others, ssh_host }).map(([key, value]) => ({
      sql: `INSERT INTO settings (key, value, updated_at) SELECT ?, ?, ? ${unlessInstalled}
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [key, value, now],
    })),
  ])
  return (counts.at(-1) ?? 0) > 0
}
