import type { InValue } from '@libsql/client/web'
import type * as z from 'zod'

/** The database refused or did not answer; `cause` is libSQL's own error. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

export interface Statement {
  sql: string
  args?: InValue[]
}

export interface Database {
  /** Returns the rows of one statement, each parsed. */
  query<row>(row: z.ZodType<row>, sql: string, args?: InValue[]): Promise<row[]>
  /** Executes one statement and returns how many rows it changed. libSQL reports 0 for `RETURNING`. */
  run(sql: string, args?: InValue[]): Promise<number>
  /** Executes the statements in one transaction and returns how many rows each changed. */
  batch(statements: readonly Statement[]): Promise<number[]>
  /** Executes a text of several statements without arguments. Rolls back a transaction that it leaves open. */
  script(sql: string): Promise<void>
  /** Replaces the connection to a remote server, which may be dead. */
  reconnect(): Promise<void>
  /**
   * Tests that the database answers and accepts a change, which fails with a full disk or a lock. Returns the version
   * of its schema. Concurrent calls share one test, and at most one change a second is made.
   */
  probe(): Promise<number>
  /** Waits for pending calls and closes. A local database is then complete in its one file. */
  close(): Promise<void>
}

/** The access to a local or remote database: like `Database`, but with unparsed rows and libSQL's own errors. */
export interface Engine extends Pick<Database, 'run' | 'batch' | 'script' | 'reconnect' | 'close'> {
  query(sql: string, args?: InValue[]): Promise<unknown[]>
}
