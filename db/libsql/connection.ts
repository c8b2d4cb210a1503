import type { InValue } from '@libsql/client/web'
import Libsql from 'libsql'

/** What SQLite answers when it fails; `code` is its own, `SQLITE_…`. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError'
  readonly code: string

  constructor({ code, message }: Libsql.SqliteError['prototype'], cause: unknown) {
    super(`${code}: ${message}`, { cause })
    this.code = code
  }
}

/** One connection to a local database. Its calls are done when they return. */
export interface Connection {
  rows(sql: string, args?: readonly InValue[]): unknown[]
  /** How many rows one statement changed; 0 for one that returns rows. */
  change(sql: string, args?: readonly InValue[]): number
  /** A text of several statements, without arguments. */
  script(sql: string): void
  /** Ends a transaction that somebody has left open. */
  rollBack(): void
  /** Lets go of the file when its statements, which are garbage then, have been collected. */
  close(): void
}

interface Prepared {
  statement: Libsql.Statement
  returnsRows: boolean
  /** An argument that is left out would be that of the last time. */
  arity: number
}

/** More than the service has: what somebody makes a new text for each time must not stay. */
const MOST_PREPARED = 256
/** Some PRAGMAs are done while they are prepared, and the others are rare. */
const WORTH_KEEPING = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i

/**
 * Opens a file or `:memory:`. What is prepared is used again, which is most of the time of a small query; SQLite itself
 * prepares it anew after a change of the schema.
 */
export function openConnection(path: string, timeoutMs = 0): Connection {
  const db = new Libsql(path, { timeout: timeoutMs })
  const kept = new Map<string, Prepared>()

  const prepared = (sql: string, arity: number): Prepared => {
    // What has been prepared would go on working after the connection is closed.
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
    rows: (sql, args = []) => telling(() => prepared(sql, args.length).statement.all(args.map(toSql)).map(withNumbers)),
    change: (sql, args = []) =>
      telling(() => {
        const { statement, returnsRows } = prepared(sql, args.length)
        if (!returnsRows) return statement.run(args.map(toSql)).changes
        statement.all(args.map(toSql))
        return 0
      }),
    script(sql) {
      telling(() => db.exec(sql))
    },
    rollBack() {
      // To ask a closed one ends the process.
      if (db.open && db.inTransaction) db.exec('ROLLBACK')
    },
    close() {
      kept.clear()
      if (db.open) db.close()
    },
  }
}

function telling<result>(work: () => result): result {
  try {
    return work()
  } catch (error) {
    throw error instanceof Libsql.SqliteError ? new SqliteError(error, error) : error
  }
}

const [LOWEST, HIGHEST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** What libSQL cannot take it answers with the end of the process, or with NULL. */
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

/** The row itself, its integers as numbers; one that a number cannot hold is refused rather than rounded. */
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
