import * as z from 'zod'
import type { Database } from './libsql/database.ts'

const Row = z.object({ layout: z.string() })

/** The user's layout as stored JSON text; undefined when there is none. */
export async function readLayout(db: Database, userId: number): Promise<string | undefined> {
  const [row] = await db.query(Row, 'SELECT layout FROM dashboard_layouts WHERE user_id = ?', [userId])
  return row?.layout
}

/** Stores a layout; false when there is no such user. */
export async function saveLayout(db: Database, userId: number, layout: string, now: string): Promise<boolean> {
  const written = await db.run(
    `INSERT INTO dashboard_layouts (user_id, layout, updated_at) SELECT id, ?, ? FROM users WHERE id = ?
     ON CONFLICT (user_id) DO UPDATE SET layout = excluded.layout, updated_at = excluded.updated_at`,
    [layout, now, userId],
  )
  return written > 0
}
