import * as z from 'zod'
import type { Database } from './client.ts'

const Row = z.object({ key: z.string(), value: z.string() })

export async function readSettings(db: Database): Promise<Map<string, string>> {
  const rows = await db.query(Row, 'SELECT key, value FROM settings')
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Writes all of the values or none. */
export async function writeSettings(db: Database, values: Record<string, string>, now: string): Promise<void> {
  await db.batch(
    Object.entries(values).map(([key, value]) => ({
      sql: `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [key, value, now],
    })),
  )
}

/** Writes a value where none stands, or an empty one; false when another was there. */
export async function writeSettingOnce(db: Database, key: string, value: string, now: string): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at WHERE settings.value = ''`,
    [key, value, now],
  )
  return changed > 0
}
