import * as z from 'zod'
import { type Database, type Engine, type Statement, StorageError } from './database.ts'

/** The shortest interval between two test changes of `probe`. */
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
    // Reads a table: a query of a constant reads no page, and succeeds even if the database file is gone.
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

/** Loads only the engine in use: a remote database needs no native addon, and a file needs no client for servers. */
async function openEngine(url: string, authToken: string | undefined): Promise<Engine> {
  if (url === ':memory:' || url.startsWith('file:')) return (await import('./local.ts')).openLocal(url)
  return (await import('./remote.ts')).openRemote(url, authToken)
}

function fail(cause: unknown): never {
  throw new StorageError(cause instanceof Error ? cause.message : String(cause), { cause })
}

/** Two changes that cancel each other. SQLite would not write an unchanged value. */
const CHANGE: Statement[] = [`applied_at || ' '`, 'rtrim(applied_at)'].map((value) => ({
  sql: `UPDATE schema_version SET applied_at = ${value} WHERE version = 1`,
}))
const Version = z.object({ version: z.number() })
const Verdict = z.object({ quick_check: z.string() })

/** The first defect of a local database file; undefined when it is sound. */
export async function quickCheck(db: Database): Promise<string | undefined> {
  const [row] = await db.query(Verdict, 'PRAGMA quick_check(1)')
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? '').replaceAll(/\s+/g, ' ')
}
