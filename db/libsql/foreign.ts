import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { filePath, fileUrl } from '../../platform/files.ts'
import type { Database } from './database.ts'
import { isBusy } from './text.ts'

/** How long a busy file is retried, because another program may be changing it. */
const BUSY_FOR_MS = 5_000

const Table = z.object({ name: z.string() })
const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`

/** A database that belongs to another program. */
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
 * Checks a local file likewise before it is opened, without changing it. `openDatabase` would create a write-ahead log,
 * or merge an existing one into the file. Leaves unreadable files and remote servers to `openDatabase`, which reports
 * the reason.
 */
export async function expectOwnFile(url: string): Promise<void> {
  const file = filePath(url)
  if (file === undefined) return
  const { openConnection } = await import('./connection.ts')
  for (const until = performance.now() + BUSY_FOR_MS; ; await pause(50)) {
    try {
      // Without a log, the file is complete, and `immutable` reads it without creating one.
      const mode = existsSync(`${file}-wal`) ? 'mode=ro' : 'immutable=1'
      const connection = openConnection(`${fileUrl(file)}?${mode}`)
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

/** Throws unless the database is empty or has `schema_version`, the first table of this program. */
function refuseForeign(tables: readonly z.infer<typeof Table>[]): void {
  const names = tables.map(({ name }) => name).filter((name) => !/^(sqlite|libsql|_litestream)_/.test(name))
  if (names.length > 0 && !names.includes('schema_version')) throw new ForeignDatabase(names.slice(0, 3))
}
