import * as z from 'zod'
import type { Database } from './client.ts'
import { sql as first } from './migrations/0001-first.ts'

/** In order, never changed once released; the version of a migration is its place here, from 1. */
const MIGRATIONS: readonly string[] = [first]

const Version = z.object({ version: z.number() })

/**
 * Brings the schema up to date, each step with its version in one transaction, and returns the version reached. Two
 * processes may start at once: who comes second finds the version taken and goes on from there.
 */
export async function migrate(db: Database, now: Date, migrations = MIGRATIONS): Promise<number> {
  await db.script('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)')
  let version = await current(db)
  if (version > migrations.length) {
    throw new Error(`the database is of version ${version}, newer than this program (${migrations.length})`)
  }
  while (version < migrations.length) {
    const next = version + 1
    const at = now.toISOString()
    try {
      await db.script(
        `BEGIN IMMEDIATE; INSERT INTO schema_version VALUES (${next}, '${at}');${migrations[version]};COMMIT;`,
      )
    } catch (error) {
      if ((await current(db)) < next) throw error
    }
    version = await current(db)
  }
  return version
}

async function current(db: Database): Promise<number> {
  const rows = await db.query(Version, 'SELECT coalesce(max(version), 0) AS version FROM schema_version')
  return rows[0]?.version ?? 0
}
