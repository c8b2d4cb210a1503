import { stat } from 'node:fs/promises'
import * as z from 'zod'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { isBusy } from './text.ts'

/** Writes a consistent copy into a new file while others continue to write. For local databases only. */
export async function copyInto(db: Database, file: string): Promise<void> {
  await db.run('VACUUM INTO ?', [file])
}

/** The contents of a copy that a restore has to check. */
export interface Copy {
  /** The version of its schema. */
  version: number
  /** All encrypted secrets, each with the name that its encryption is bound to. */
  sealed: { name: string; value: string }[]
}

const Verdict = z.object({ integrity_check: z.string() })
const Size = z.object({ size: z.number() })
const Version = z.object({ version: z.number() })
const Sealed = z.object({ name: z.string(), value: z.string() })

const SEALED = `
  SELECT key AS name, value FROM settings WHERE key IN ('ssh_password', 'ssh_key', 'ssh_key_next', 'hypervisor_token', 'forge_token')
    AND value <> ''
  UNION ALL SELECT 'signing_key:' || kid, private_sealed FROM signing_keys`

/** Secrets in tables that copies of earlier versions do not have. */
const NEWER = {
  notification_channels: `SELECT 'notification_channel:' || id AS name, secrets AS value FROM notification_channels`,
  schedules: `SELECT 'schedule_ping:' || id AS name, ping AS value FROM schedules WHERE ping IS NOT NULL`,
  factors: `SELECT 'totp ' || user_id AS name, secret_sealed AS value FROM factors WHERE secret_sealed IS NOT NULL`,
  module_values: `SELECT CASE WHEN name LIKE 'secret:%' THEN 'module:' || module || ':' || substr(name, 8)
      ELSE 'module-setting:' || module || ':' || substr(name, 9) END AS name, value
    FROM module_values WHERE is_secret = 1`,
} as const

/** Reads a database file without changing it. Rejects if it is damaged or does not belong to this service. */
export async function inspectCopy(file: string): Promise<Copy> {
  // `openDatabase` would create a write-ahead log beside the file.
  const { openConnection } = await import('./connection.ts')
  const connection = openConnection(file)
  const one = <row>(form: z.ZodType<row>, sql: string): row => form.parse(connection.rows(sql)[0])
  try {
    const { integrity_check: verdict } = one(Verdict, 'PRAGMA integrity_check')
    if (verdict !== 'ok') throw new Error(verdict)
    // SQLite accepts a file whose last page lacks unused bytes. Such a file is truncated, so it counts as damaged.
    const { size } = one(Size, 'SELECT page_size * page_count AS size FROM pragma_page_size, pragma_page_count')
    const missing = size - (await stat(file)).size
    if (missing !== 0) throw new Error(`${missing} octets manquent`)
    const { version } = one(Version, 'SELECT max(version) AS version FROM schema_version')
    const has = (table: string) =>
      connection.rows(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`).length > 0
    const newer = Object.entries(NEWER).flatMap(([table, sql]) => (has(table) ? connection.rows(sql) : []))
    const sealed = [...connection.rows(SEALED), ...newer]
    return { version, sealed: sealed.map((row) => Sealed.parse(row)) }
  } finally {
    connection.close()
  }
}

/** Opens a file for reading, without a write-ahead log beside it and without migrating it. */
export async function openCopy(file: string): Promise<Pick<Database, 'query' | 'close'>> {
  const { openConnection } = await import('./connection.ts')
  const connection = openConnection(file)
  return {
    query: async (row, sql, args) => connection.rows(sql, args).map((raw) => row.parse(raw)),
    close: async () => connection.close(),
  }
}

/** A database file that no other process can open. */
export interface Claim {
  /** Whether the write-ahead log is merged into the file. False for a damaged file, which is not changed. */
  whole: boolean
  release(): Promise<void>
}

/**
 * Connections to damaged files stay open: closing them would remove the logs beside the files before these are moved.
 */
const leftOpen: Connection[] = []

/**
 * Locks a database file for this process and merges its write-ahead log into it. Returns undefined when another process
 * has the file open, because each connection in WAL mode holds a lock. A damaged file, or one that is no database, is
 * claimed without a lock.
 */
export async function claimFile(file: string): Promise<Claim | undefined> {
  const { openConnection, SqliteError } = await import('./connection.ts')
  const connection = openConnection(file, 100)
  try {
    lockAndMerge(connection)
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
        // libSQL's `close` releases the lock only when the garbage collector runs.
        connection.script('PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;')
      } catch {
        // The lock then ends with this process.
      }
      connection.close()
    },
  }
}

function lockAndMerge(connection: Connection): void {
  connection.script('PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema; BEGIN EXCLUSIVE; COMMIT;')
  // Merges the write-ahead log into the file and removes it. A log beside another database would be read as its own.
  connection.rows('PRAGMA journal_mode = DELETE')
  // The new mode needs a transaction of its own to take the lock.
  connection.script('BEGIN EXCLUSIVE; COMMIT;')
}
