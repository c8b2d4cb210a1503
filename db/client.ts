import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient, type InStatement, type InValue } from '@libsql/client/sqlite3'
import * as z from 'zod'
import { connectRemote, isBusy, remoteCalls, remoteChanges } from './remote-calls.ts'

/** The database refused or did not answer; `cause` is libSQL's own error. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

export interface Statement {
  sql: string
  args?: InValue[]
}

export interface Database {
  /** The rows of one statement, each parsed. */
  query<row>(row: z.ZodType<row>, sql: string, args?: InValue[]): Promise<row[]>
  /** How many rows one statement changed. Not for `RETURNING`, whose count libSQL reports as 0. */
  run(sql: string, args?: InValue[]): Promise<number>
  /** All of the statements or none; how many rows each changed. */
  batch(statements: readonly Statement[]): Promise<number[]>
  /** A text of several statements, without arguments. What it leaves open is rolled back. */
  script(sql: string): Promise<void>
  /** Leaves the connection to a remote server, which may have died without a word, for another one. */
  reconnect(): Promise<void>
  /**
   * Whether it answers and takes a change, which reading does not tell of a full disk or a lock: the version of its schema
   * then. What is asked while an answer is awaited shares that, and one change a second is enough for all.
   */
  probe(): Promise<number>
  /** Waits for what is under way; a local database is then whole in its one file. */
  close(): Promise<void>
}

/** Busy answers are retried for this long: another process may be in the middle of a backup or a large write. */
const BUSY_FOR_MS = 5_000
/** libSQL waits synchronously, which stops the event loop: so briefly, then again from here. */
const BUSY_TIMEOUT_MS = 20
/** A change that only shows that changes are taken is made no more often than this. */
const PROBE_MS = 1_000

/**
 * Opens `file:…`, `:memory:` or a remote libSQL address. A local database works one call at a time, in the order of
 * the calls: its client is synchronous, and a write beside its own open transaction would block the event loop.
 */
export async function openDatabase(url: string, authToken?: string): Promise<Database> {
  const inMemory = url === ':memory:'
  const local = inMemory || url.startsWith('file:')
  const client = local
    ? createClient({ url, concurrency: 1, timeout: BUSY_TIMEOUT_MS })
    : await connectRemote(url, authToken)
  const guard = local ? inOrder(inMemory ? (work) => work() : retryWhenBusy(client)) : remoteCalls()
  const changing = local ? guard : remoteChanges()
  if (local && !inMemory) await guard(() => applyPragmas(client))
  const storage = async <result>(work: () => Promise<result>, by = guard): Promise<result> => {
    try {
      return await by(work)
    } catch (cause) {
      throw new StorageError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
  }
  const statement = (sql: string, args: InValue[] = []): InStatement => ({ sql, args })
  const query: Database['query'] = async (row, sql, args) => {
    const { rows } = await storage(() => client.execute(statement(sql, args)))
    return rows.map((raw) => row.parse(raw))
  }
  const probe = async (): Promise<number> => {
    // A table, not a constant: without reading a page, a database that is gone would answer too.
    const [row] = await query(Version, 'SELECT max(version) AS version FROM schema_version')
    if (performance.now() - changedAt > PROBE_MS) {
      await storage(() => client.batch(CHANGE, 'write'), changing)
      changedAt = performance.now()
    }
    return row?.version ?? 0
  }
  let changedAt = Number.NEGATIVE_INFINITY
  let probing: Promise<number> | undefined
  return {
    query,
    probe() {
      probing ??= probe().finally(() => {
        probing = undefined
      })
      return probing
    },
    async run(sql, args) {
      const { rowsAffected } = await storage(() => client.execute(statement(sql, args)), changing)
      return rowsAffected
    },
    async batch(statements) {
      if (statements.length === 0) return []
      const list = statements.map(({ sql, args }) => statement(sql, args))
      const results = await storage(() => client.batch(list, 'write'), changing)
      return results.map(({ rowsAffected }) => rowsAffected)
    },
    async script(sql) {
      await storage(() => client.executeMultiple(sql), changing)
    },
    async reconnect() {
      if (!local) await storage(async () => client.reconnect())
    },
    async close() {
      // Without this the newest changes would lie beside the file, where a copy of it misses them.
      if (local && !inMemory) await guard(() => client.execute('PRAGMA wal_checkpoint(TRUNCATE)')).catch(() => {})
      client.close()
    },
  }
}

/** `asked` is when the call was made, on the clock of `performance.now`. */
type Guard = <result>(work: () => Promise<result>, asked?: number) => Promise<result>

async function applyPragmas(client: Client): Promise<void> {
  // Output is stored in rows of some 32 KiB, compressed: large pages halve the time of a write (of a new file; others keep theirs).
  await client.execute('PRAGMA page_size = 16384')
  await client.execute('PRAGMA journal_mode = WAL')
  await client.execute('PRAGMA synchronous = NORMAL')
  await client.execute('PRAGMA foreign_keys = ON')
  // Every 4 MB, so that carrying the log into the file never takes long at a time.
  await client.execute('PRAGMA wal_autocheckpoint = 250')
}

function inOrder(inner: Guard): Guard {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const asked = performance.now()
    const turn = last.then(() => inner(work, asked))
    last = turn.catch(() => {})
    return turn
  }
}

/** After one busy answer the connection is of no more use ("cannot commit"), and a new one has lost its PRAGMAs. */
function retryWhenBusy(client: Client): Guard {
  return async (work, asked = performance.now()) => {
    // From when the call was made, or the calls behind a long lock would wait one after the other.
    const until = asked + BUSY_FOR_MS
    for (let wait = 5; ; wait = Math.min(wait * 2, 200)) {
      try {
        return await work()
      } catch (error) {
        if (!isBusy(error) || client.closed) throw error
        const late = performance.now() > until
        if (!late) await pause(wait)
        // Also when it is given up: the next call would write into a transaction that can never be committed.
        await client.reconnect()
        await applyPragmas(client).catch((cause: unknown) => {
          if (!isBusy(cause)) throw cause
        })
        if (late) throw error
      }
    }
  }
}

/** There and back: SQLite does not write what is the same already. */
const CHANGE = [`applied_at || ' '`, 'rtrim(applied_at)'].map(
  (value) => `UPDATE schema_version SET applied_at = ${value} WHERE version = 1`,
)
const Version = z.object({ version: z.number() })
const Verdict = z.object({ quick_check: z.string() })

/** What is wrong with a local database as a file; undefined when nothing is. */
export async function quickCheck(db: Database): Promise<string | undefined> {
  const [row] = await db.query(Verdict, 'PRAGMA quick_check(1)')
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? '').replaceAll(/\s+/g, ' ')
}
