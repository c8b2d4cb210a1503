import { setTimeout as pause } from 'node:timers/promises'
import { filePath } from '../../platform/files.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Engine } from './database.ts'
import { isBusy } from './text.ts'

/** How long a busy database is retried, because another process may be making a backup or a large write. */
const BUSY_FOR_MS = 5_000
/** libSQL waits synchronously, which blocks the event loop. It waits only briefly, and this file retries. */
const BUSY_TIMEOUT_MS = 20

const SETTINGS = [
  // Rows of output take some 32 KiB, compressed. Large pages halve the time of a write; existing files keep their page
  // size.
  'PRAGMA page_size = 16384',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA foreign_keys = ON',
  // Every 4 MB, so that no checkpoint takes long.
  'PRAGMA wal_autocheckpoint = 250',
]

/**
 * Opens a file or `:memory:`. Executes calls one at a time, in their order, and each synchronously when it is its turn.
 * While another process locks the database, a call retries and later calls wait. Without the retries, each lock of
 * another process would fail requests or block the event loop.
 */
export async function openLocal(url: string): Promise<Engine> {
  const file = url === ':memory:' ? undefined : filePath(url)
  let connection: Connection | undefined
  let closed = false
  /** Settles after the last waiting call; undefined when no call waits. */
  let waiting: Promise<void> | undefined
  let isRetrying = false

  const connected = (): Connection => {
    if (closed) throw new Error('the database is closed')
    connection ??= connect(file)
    return connection
  }

  const drop = () => {
    connection?.close()
    connection = undefined
  }

  const retryBusy = async <result>(work: (connection: Connection) => result, calledAt: number): Promise<result> => {
    try {
      // The limit counts from the call. Otherwise calls behind a long lock would each wait for the whole limit.
      const until = calledAt + BUSY_FOR_MS
      for (let wait = 5; ; wait = Math.min(wait * 2, 200)) {
        try {
          return work(connected())
        } catch (error) {
          if (file === undefined || !isBusy(error)) throw error
          // A connection is unusable after one busy answer ("cannot commit"): the next call would write into a
          // transaction that can never be committed. It is dropped even when the call gives up.
          const late = performance.now() > until
          isRetrying = true
          if (!late) await pause(wait)
          drop()
          if (late) throw error
        }
      }
    } finally {
      isRetrying = false
    }
  }

  const inOrder = <result>(work: (connection: Connection) => result): Promise<result> => {
    const calledAt = performance.now()
    const turn = waiting ? waiting.then(() => retryBusy(work, calledAt)) : retryBusy(work, calledAt)
    if (!waiting && !isRetrying) return turn
    const ended = turn.then(nothing, nothing).then(() => {
      if (waiting === ended) waiting = undefined
    })
    waiting = ended
    return turn
  }

  await inOrder(nothing)
  return {
    query: (sql, args) => inOrder((db) => db.rows(sql, args)),
    run: (sql, args) => inOrder((db) => db.change(sql, args)),
    batch: (statements) =>
      inOrder((db) =>
        rollingBack(db, () => {
          db.script('BEGIN IMMEDIATE')
          const changed = statements.map(({ sql, args }) => db.change(sql, args))
          db.script('COMMIT')
          return changed
        }),
      ),
    script: (sql) => inOrder((db) => rollingBack(db, () => db.script(sql))),
    async reconnect() {},
    async close() {
      // Without the checkpoint, the newest changes would stay in the log, and a copy of the file would miss them.
      const checkpoint = (db: Connection) => {
        if (file !== undefined) db.rows('PRAGMA wal_checkpoint(TRUNCATE)')
        // Set in the same turn, so that no later change goes into the log.
        closed = true
      }
      await inOrder(checkpoint).catch(nothing)
      closed = true
      drop()
    },
  }
}

function nothing(): void {}

function connect(file: string | undefined): Connection {
  if (file === undefined) return openConnection(':memory:')
  const connection = openConnection(file, BUSY_TIMEOUT_MS)
  try {
    for (const setting of SETTINGS) connection.rows(setting)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Rolls back a transaction that a failure, or a script without a commit, leaves open. */
function rollingBack<result>(db: Connection, work: () => result): result {
  try {
    return work()
  } finally {
    db.rollBack()
  }
}
