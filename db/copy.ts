import { stat } from 'node:fs/promises'
import { type Client, createClient, LibsqlError } from '@libsql/client/sqlite3'
import * as z from 'zod'
import type { Database } from './client.ts'
import { fileUrl } from './file-url.ts'

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
  const client = createClient({ url: fileUrl(file), concurrency: 1 })
  try {
    const { rows } = await client.execute('PRAGMA integrity_check')
    const { integrity_check: verdict } = Verdict.parse(rows[0])
    if (verdict !== 'ok') throw new Error(verdict)
    // What is missing at the end of the last page may have been of no use to SQLite: the file is cut off all the same.
    const sizes = await client.execute('SELECT page_size * page_count AS size FROM pragma_page_size, pragma_page_count')
    const missing = Size.parse(sizes.rows[0]).size - (await stat(file)).size
    if (missing !== 0) throw new Error(`${missing} octets manquent`)
    const versions = await client.execute('SELECT max(version) AS version FROM schema_version')
    const { version } = Version.parse(versions.rows[0])
    const sealed = await client.execute(`
      SELECT key AS name, value FROM settings WHERE key IN ('ssh_password', 'hypervisor_token') AND value <> ''
      UNION ALL SELECT 'signing_key:' || kid, private_sealed FROM signing_keys`)
    return { version, sealed: sealed.rows.map((row) => Sealed.parse(row)) }
  } finally {
    client.close()
  }
}

/** A database file that no other process can open. */
export interface Claim {
  /** Whether all of it is in its one file; a broken one, or what is no database, is left as it is. */
  whole: boolean
  release(): Promise<void>
}

/**
 * Takes a database file for this process alone, whole in its one file; undefined when another process has it open: a
 * connection in WAL mode holds a lock for as long as it lives. A file that is no database, or a broken one, is nobody's.
 */
export async function claimFile(file: string): Promise<Claim | undefined> {
  const client = createClient({ url: fileUrl(file), concurrency: 1, timeout: 100 })
  try {
    await takeWhole(client)
  } catch (error) {
    client.close()
    if (!(error instanceof LibsqlError)) throw error
    if (error.code.startsWith('SQLITE_BUSY')) return undefined
    if (!/^SQLITE_(NOTADB|CORRUPT)/.test(error.code)) throw error
    return { whole: false, release: async () => {} }
  }
  return {
    whole: true,
    async release() {
      // libSQL's `close` lets go of the file only when the garbage is collected.
      await client.executeMultiple('PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;').catch(() => {})
      client.close()
    },
  }
}

async function takeWhole(client: Client): Promise<void> {
  await client.executeMultiple(
    'PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema; BEGIN EXCLUSIVE; COMMIT;',
  )
  // Carries the write-ahead log into the file and removes it: beside another database it would be read as that one's.
  await client.execute('PRAGMA journal_mode = DELETE')
  // The lock comes with a read, in the new mode too.
  await client.executeMultiple('BEGIN EXCLUSIVE; COMMIT;')
}
