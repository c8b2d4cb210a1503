import { openDatabase } from '../db/libsql/client.ts'
import { migrate } from '../db/migrate.ts'
import { readSettings, writeSettings } from '../db/settings.ts'

/**
 * Turns automatic checks off in a service's database, unless a test has set them: most tests count what runs on the
 * host. Its first tasks run two seconds after the start of a service, so there is time for it afterwards.
 */
export async function turnChecksOff(databaseUrl: string, authToken?: string): Promise<void> {
  const db = await openDatabase(databaseUrl, authToken)
  try {
    await migrate(db, new Date())
    if ((await readSettings(db)).has('checks_automatic')) return
    await writeSettings(db, { checks_automatic: 'off' }, new Date().toISOString())
  } finally {
    await db.close()
  }
}
