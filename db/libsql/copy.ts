import { stat } from 'node:fs/promises'
import * as z from 'zod'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { isBusy } from './text.ts'

/** Writes a whole copy, as of one moment, into a new file, while others go on writing. Local databases only. */
export async function copyInto(db: Database, file: string): Promise<void> {
  await db.run('VACUUM INTO ?', [file])
}

/** What a copy says of itself. */
export interface Copy {
  /** Of its schema. */
  version: number
  /** Every secret in it, under the name that was bound in. */
  sealed: { name: string; value: string }[]
}

const Verdict = z.object({ integrity_check: z.string() })
const Size = z.object({ size: z.number() })
const Version = z.object({ version: z.number() })
const Sealed = z.object({ name: z.string(), value: z.string() })

/** Reads a database file without changing it. Rejects unless it is whole and one of this service. */
export async function inspectCopy(file: string): Promise<Copy> {
  // Not by `openDatabase`, which makes a write-ahead log of its own for what it opens.
  const { openConnection } = await import('./connection.ts')
  const connection = openConnection(file)
  const one = <row>(form: z.ZodType<row>, sql: string): row => form.parse(connection.rows(sql)[0])
  try {
    const { integrity_check: verdict } = one(Verdict, 'PRAGMA integrity_check')
    if (verdict !== 'ok') throw new Error(verdict)
    // What is missing at the end of the last page may have been of no use to SQLite: the file is cut off all the same.
    const { size } = one(Size, 'SELECT page_size * page_count AS size FROM pragma_page_size, pragma_page_count')
    const missing = size - (await stat(file)).size
    if (missing !== 0) throw new Error(`${missing} octets manquent`)
    const { version } = one(Version, 'SELECT max(version) AS version FROM schema_version')
    const sealed = connection.rows(`
      SELECT key AS name, value FROM settings WHERE key IN ('ssh_password', 'hypervisor_token') AND value <> ''
      UNION ALL SELECT 'signing_key:' || kid, private_sealed FROM signing_keys`)
    return { version, sealed: sealed.map((row) => Sealed.parse(row)) }
  } finally {
    connection.close()
  }
}

/** A database file that no other process can open. */
export interface Claim {
  /** Whether all of it is in its one file; a broken one, or what is no database, is left as it is. */
  whole: boolean
  release(): Promise<void>
}

/** Connections to broken files: closed before these are moved away, they would remove the logs that lie beside them. */
const leftOpen: Connection[] = []

/**
 * Takes a database file for this process alone, whole in its one file; undefined when another process has it open: a
 * connection in WAL mode holds a lock for as long as it lives. A file that is no database, or a broken one, is nobody's.
 */
export async function claimFile(file: string): Promise<Claim | undefined> {
  const { openConnection, SqliteError } = await import('./connection.ts')
  const connection = openConnection(file, 100)
  try {
    takeWhole(connection)
  } catch (error) {
    if (error instanceof SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code)) {
      leftOpen.push(connection)
      return { whole: false, release: async () => {} }
    }
    connection.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return {
    whole: true,
    async release() {
      try {
        // libSQL's `close` lets go of the file only when the garbage is collected.
        connection.script('PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;')
      } catch {
        // Who holds it then lets go of it with its end.
      }
      connection.close()
    },
  }
}

function takeWhole(connection: Connection): void {
  connection.script('PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema; BEGIN EXCLUSIVE; COMMIT;')
  // Carries the write-ahead log into the file and removes it: beside another database it would be read as that one's.
  connection.rows('PRAGMA journal_mode = DELETE')
  // The lock comes with a read, in the new mode too.
  connection.script('BEGIN EXCLUSIVE; COMMIT;')
}
