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

/** Writes a value where none is stored, if another setting has the expected value; false when nothing was written. */
export async function writeIfEmpty(
  db: Database,
  { key, value, expected }: { key: string; value: string; expected: { key: string; value: string } },
  now: string,
): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO settings (key, value, updated_at) SELECT ?, ?, ?
     WHERE EXISTS (SELECT 1 FROM settings WHERE key = ? AND value = ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at WHERE settings.value = ''`,
    [key, value, now, expected.key, expected.value],
  )
  return changed > 0
}

/** Writes a value in the place of `before`, empty for none; false when another one is stored by now. */
export async function replaceSetting(
  db: Database,
  { key, value, before }: { key: string; value: string; before: string },
  now: string,
): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO settings (key, value, updated_at) SELECT ?1, ?2, ?3
     WHERE coalesce((SELECT value FROM settings WHERE key = ?1), '') = ?4
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
    [key, value, now, before],
  )
  return changed > 0
}

/**
 * Writes the values and executes the `INSERT … SELECT`s of `more` in one transaction. Returns false, without a change,
 * when `mark`, one of the values, is set already.
 */
export async function writeFirstSettings(
  db: Database,
  mark: string,
  { [mark]: marked = '', ...others }: Record<string, string>,
  now: string,
  more: readonly Statement[] = [],
): Promise<boolean> {
  const unlessSet = `WHERE NOT EXISTS (SELECT 1 FROM settings WHERE key = ? AND value <> '')`
  // The mark comes last, because the condition of the other values is that it is not set.
  const counts = await db.batch([
    ...more.map(({ sql, args = [] }) => ({ sql: `${sql} ${unlessSet}`, args: [...args, mark] })),
    ...Object.entries({ ...others, [mark]: marked }).map(([key, value]) => ({
      sql: `INSERT INTO settings (key, value, updated_at) SELECT ?, ?, ? ${unlessSet}
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [key, value, now, mark],
    })),
  ])
  return (counts.at(-1) ?? 0) > 0
}
