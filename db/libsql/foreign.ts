import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { filePath, fileUrl } from '../../platform/files.ts'
import type { Database } from './database.ts'
import { isBusy } from './text.ts'

/** Another program may be in the middle of a change. */
const BUSY_FOR_MS = 5_000

const Table = z.object({ name: z.string() })
const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`

/** What is said of a database in which this program has never written. */
export class ForeignDatabase extends Error {
  override readonly name = 'ForeignDatabase'

  constructor(tables: readonly string[]) {
    super(
      `la base est celle d’un autre programme (tables ${tables.join(', ')}) : indiquez une autre PANEL_DATABASE_URL`,
    )
  }
}

/** Rejects with a ForeignDatabase when the database is another program's. */
export async function expectOwn(db: Database): Promise<void> {
  refuseForeign(await db.query(Table, TABLES))
}

/**
 * The same of an address that is not opened yet, without changing a byte: `openDatabase` would make a write-ahead log for a
 * local one, or carry the one that is there into the file. What keeps it from being read is left for that to tell; so is another server's.
 */
export async function expectOwnFile(url: string): Promise<void> {
  const file = filePath(url)
  if (file === undefined) return
  const { openConnection } = await import('./connection.ts')
  for (const until = performance.now() + BUSY_FOR_MS; ; await pause(50)) {
    try {
      // Without a log beside it all is in the file, and so it can be read without making one.
      const way = existsSync(`${file}-wal`) ? 'mode=ro' : 'immutable=1'
      const connection = openConnection(`${fileUrl(file)}?${way}`)
      try {
        return refuseForeign(connection.rows(TABLES).map((row) => Table.parse(row)))
      } finally {
        connection.close()
      }
    } catch (error) {
      if (error instanceof ForeignDatabase) throw error
      if (!isBusy(error) || performance.now() > until) return
    }
  }
}

/** This program's own first table is `schema_version`. */
function refuseForeign(tables: readonly z.infer<typeof Table>[]): void {
  const names = tables.map(({ name }) => name).filter((name) => !/^(sqlite|libsql|_litestream)_/.test(name))
  if (names.length > 0 && !names.includes('schema_version')) throw new ForeignDatabase(names.slice(0, 3))
}
