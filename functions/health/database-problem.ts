import { type Database, StorageError } from '../../db/client.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'

/**
 * Why the database cannot be relied on: it does not answer, or takes no change, or a newer program beside this one has brought
 * it up to date, and this one knows nothing of what that changed. Undefined when all is well.
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
