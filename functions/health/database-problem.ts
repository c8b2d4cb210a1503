import { type Database, StorageError } from '../../db/libsql/database.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'

/**
 * Returns why the database is unusable: it does not respond, it accepts no changes, or a newer program has migrated it
 * to a schema that this program does not know. Returns undefined when the database is usable.
 */
export async function databaseProblem(db: Database): Promise<Error | undefined> {
  try {
    const version = await db.probe()
    if (version <= SCHEMA_VERSION) return undefined
    return new Error(`the database is of version ${version}, newer than this program (${SCHEMA_VERSION})`)
  } catch (error) {
    if (error instanceof StorageError) return error
    throw error
  }
}
