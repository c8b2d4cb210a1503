import { onTestFinished } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { migrate } from '../../db/migrate.ts'
import { makeSchema } from '../migrated.ts'

export const NOW = '2026-03-01T12:00:00.000Z'

/** A database that is closed when the running test ends; in memory unless an address is given. */
export async function open(url = ':memory:'): Promise<Database> {
  const db = await openDatabase(url)
  onTestFinished(() => db.close())
  return db
}

/** Opens such a database and migrates it. */
export async function openMigrated(url = ':memory:'): Promise<Database> {
  const db = await open(url)
  if (url === ':memory:') await makeSchema(db, new Date(NOW))
  else await migrate(db, new Date(NOW))
  return db
}
