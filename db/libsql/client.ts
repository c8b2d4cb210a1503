import * as z from 'zod'
import { type Database, type Engine, type Statement, StorageError } from './database.ts'

/** A change that only shows that changes are taken is made no more often than this. */
const PROBE_MS = 1_000

/** Opens `file:…`, `:memory:` or a remote libSQL address. */
export async function openDatabase(url: string, authToken?: string): Promise<Database> {
  const engine = await openEngine(url, authToken)
  const query: Database['query'] = async (row, sql, args) => {
    const rows = await engine.query(sql, args).catch(fail)
    return rows.map((raw) => row.parse(raw))
  }
  const batch: Database['batch'] = async (statements) =>
    statements.length === 0 ? [] : engine.batch(statements).catch(fail)

  const probe = async (): Promise<number> => {
    // A table, not a constant: without reading a page, a database that is gone would answer too.
    const [row] = await query(Version, 'SELECT max(version) AS version FROM schema_version')
    if (performance.now() - changedAt > PROBE_MS) {
      await batch(CHANGE)
      changedAt = performance.now()
    }
    return row?.version ?? 0
  }
  let changedAt = Number.NEGATIVE_INFINITY
  let probing: Promise<number> | undefined
  return {
    query,
    batch,
    probe() {
      probing ??= probe().finally(() => {
        probing = undefined
      })
      return probing
    },
    run: (sql, args) => engine.run(sql, args).catch(fail),
    script: (sql) => engine.script(sql).catch(fail),
    reconnect: () => engine.reconnect().catch(fail),
    close: () => engine.close(),
  }
}

/** Each is loaded where it is used alone: a server's database needs no native addon, and a file no client for servers. */
async function openEngine(url: string, authToken: string | undefined): Promise<Engine> {
  if (url === ':memory:' || url.startsWith('file:')) return (await import('./local.ts')).openLocal(url)
  return (await import('./remote.ts')).openRemote(url, authToken)
}

function fail(cause: unknown): never {
  throw new StorageError(cause instanceof Error ? cause.message : String(cause), { cause })
}

/** There and back: SQLite does not write what is the same already. */
const CHANGE: Statement[] = [`applied_at || ' '`, 'rtrim(applied_at)'].map((value) => ({
  sql: `UPDATE schema_version SET applied_at = ${value} WHERE version = 1`,
}))
const Version = z.object({ version: z.number() })
const Verdict = z.object({ quick_check: z.string() })

/** What is wrong with a local database as a file; undefined when nothing is. */
export async function quickCheck(db: Database): Promise<string | undefined> {
  const [row] = await db.query(Verdict, 'PRAGMA quick_check(1)')
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? '').replaceAll(/\s+/g, ' ')
}
