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

/** A database as it is reached: as `Database` says, but with rows as they come, and with libSQL's own errors. */
export interface Engine extends Pick<Database, 'run' | 'batch' | 'script' | 'reconnect' | 'close'> {
  query(sql: string, args?: InValue[]): Promise<unknown[]>
}
