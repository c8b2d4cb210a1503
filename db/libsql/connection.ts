import type { InValue } from '@libsql/client/web'
import Libsql from 'libsql'

/** A failure of SQLite; `code` is SQLite's own, `SQLITE_…`. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError'
  readonly code: string

  constructor({ code, message }: Libsql.SqliteError['prototype'], cause: unknown) {
    super(`${code}: ${message}`, { cause })
    this.code = code
  }
}

/** One connection to a local database. Its calls are synchronous. */
export interface Connection {
  rows(sql: string, args?: readonly InValue[]): unknown[]
  /** How many rows one statement changed; 0 for one that returns rows. */
  change(sql: string, args?: readonly InValue[]): number
  /** A text of several statements, without arguments. */
  script(sql: string): void
  /** Rolls back a transaction that was left open. */
  rollBack(): void
  /** Closes the connection. libSQL closes the file once the garbage collector has freed the statements. */
  close(): void
}

interface Prepared {
  statement: Libsql.Statement
  returnsRows: boolean
  /** The number of arguments. SQLite reuses the last value of a missing one. */
  arity: number
}

/** More than the service has. The limit keeps statements with generated text from accumulating. */
const MOST_PREPARED = 256
/** Excludes PRAGMAs: some take effect while they are prepared, and the others are rare. */
const WORTH_KEEPING = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i

/**
 * Opens a file or `:memory:`. Caches prepared statements, because preparing takes most of the time of a small query.
 * SQLite prepares a statement again after a change of the schema.
 */
export function openConnection(path: string, timeoutMs = 0): Connection {
  const db = new Libsql(path, { timeout: timeoutMs })
  const kept = new Map<string, Prepared>()

  const prepared = (sql: string, arity: number): Prepared => {
    // A prepared statement would still work after the connection is closed.
    if (!db.open) throw new Error('the database is closed')
    const found = kept.get(sql)
    if (found?.arity === arity) return found
    const statement = db.prepare(sql).safeIntegers(true)
    const made = { statement, returnsRows: statement.reader, arity }
    if (!WORTH_KEEPING.test(sql)) return made
    const [oldest] = kept.keys()
    if (kept.size >= MOST_PREPARED && oldest !== undefined) kept.delete(oldest)
    kept.set(sql, made)
    return made
  }

  return {
    rows: (sql, args = []) =>
      withSqliteErrors(() => prepared(sql, args.length).statement.all(args.map(toSql)).map(withNumbers)),
    change: (sql, args = []) =>
      withSqliteErrors(() => {
        const { statement, returnsRows } = prepared(sql, args.length)
        if (!returnsRows) return statement.run(args.map(toSql)).changes
        statement.all(args.map(toSql))
        return 0
      }),
    script(sql) {
      withSqliteErrors(() => db.exec(sql))
    },
    rollBack() {
      // libSQL ends the process when `inTransaction` of a closed connection is read.
      if (db.open && db.inTransaction) db.exec('ROLLBACK')
    },
    close() {
      kept.clear()
      if (db.open) db.close()
    },
  }
}

function withSqliteErrors<result>(work: () => result): result {
  try {
    return work()
  } catch (error) {
    throw error instanceof Libsql.SqliteError ? new SqliteError(error, error) : error
  }
}

const [LOWEST, HIGHEST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Rejects values that libSQL cannot store: it would end the process or store NULL. */
function toSql(value: InValue): string | number | bigint | null | Uint8Array {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be stored`)
      return value
    case 'bigint':
      if (value < LOWEST || value > HIGHEST) throw new RangeError(`${value} has more than 64 bits`)
      return value
    case 'boolean':
      return value ? 1 : 0
  }
  if (value === undefined) throw new TypeError('an argument is undefined')
  if (value instanceof ArrayBuffer) return Buffer.from(value)
  return value instanceof Date ? value.valueOf() : value
}

/** Turns the integers of a row into numbers, in place. Throws for an integer that a number would round. */
function withNumbers(row: unknown): unknown {
  if (!isRow(row)) return row
  for (const name in row) {
    const value = row[name]
    if (typeof value !== 'bigint') continue
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw new RangeError(`the integer ${value} cannot be a number`)
    row[name] = number
  }
  return row
}

function isRow(row: unknown): row is Record<string, unknown> {
  return typeof row === 'object' && row !== null
}
