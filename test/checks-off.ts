import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { migrate } from '../db/migrate.ts'
import { readSettings, writeSettings } from '../db/settings.ts'
import { DEFAULT_PROTECTION } from '../functions/protection/protection.ts'

/**
 * Turns automatic checks off in a service's database, unless a test has set them: most tests count what runs on the
 * host. Its first tasks run two seconds after the start of a service, so there is time for it afterwards.
 */
export function turnChecksOff(databaseUrl: string, authToken?: string): Promise<void> {
  return withDatabase(databaseUrl, authToken, async (db) => {
    if ((await readSettings(db)).has('checks_automatic')) return
    await writeSettings(db, { checks_automatic: 'off' }, new Date().toISOString())
  })
}

/** Runs plans without a snapshot and without a pause after them, unless a test has set the default policy. */
export function turnProtectionOff(databaseUrl: string, authToken?: string): Promise<void> {
  return withDatabase(databaseUrl, authToken, async (db) => {
    const policy = JSON.stringify({ ...DEFAULT_PROTECTION, before: 'none' })
    const sql = `INSERT INTO protections (target, protection, changed_at, changed_by) VALUES ('default', ?, ?, 'test')
      ON CONFLICT DO NOTHING`
    await db.run(sql, [policy, new Date().toISOString()])
  })
}

async function withDatabase(url: string, authToken: string | undefined, work: (db: Database) => Promise<void>) {
  const db = await openDatabase(url, authToken)
  try {
    await migrate(db, new Date())
    await work(db)
  } finally {
    await db.close()
  }
}
