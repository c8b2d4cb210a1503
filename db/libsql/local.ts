import { setTimeout as pause } from 'node:timers/promises'
import { filePath } from '../../platform/files.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Engine } from './database.ts'
import { isBusy } from './text.ts'

/** Busy answers are retried for this long: another process may be in the middle of a backup or a large write. */
const BUSY_FOR_MS = 5_000
/** libSQL waits synchronously, which stops the event loop: so briefly, then again from here. */
const BUSY_TIMEOUT_MS = 20

const SETTINGS = [
  // Output is stored in rows of some 32 KiB, compressed: large pages halve the time of a write (of a new file; others keep theirs).
  'PRAGMA page_size = 16384',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA foreign_keys = ON',
  // Every 4 MB, so that carrying the log into the file never takes long at a time.
  'PRAGMA wal_autocheckpoint = 250',
]

/**
 * Opens a file or `:memory:`, which works one call at a time, in the order of the calls: one whose turn it is is done at
 * once. While one waits for another process to let go of the database, those behind it wait with it.
 */
export async function openLocal(url: string): Promise<Engine> {
  const file = url === ':memory:' ? undefined : filePath(url)
  let connection: Connection | undefined
  let closed = false
  /** The last of the calls that wait; undefined when none does. */
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

  const retryStorage = async <result>(work: (connection: Connection) => result, asked: number): Promise<result> => {
    try {
      // From when the call was made, or the calls behind a long lock would wait one after the other.
      const until = asked + BUSY_FOR_MS
      for (let wait = 5; ; wait = Math.min(wait * 2, 200)) {
        try {
          return work(connected())
        } catch (error) {
          if (file === undefined || !isBusy(error)) throw error
          // After one busy answer a connection is of no more use ("cannot commit"). Also when it is given up: the next
          // call would write into a transaction that can never be committed.
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
    const asked = performance.now()
    const turn = waiting ? waiting.then(() => retryStorage(work, asked)) : retryStorage(work, asked)
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
        whole(db, () => {
          db.script('BEGIN IMMEDIATE')
          const changed = statements.map(({ sql, args }) => db.change(sql, args))
          db.script('COMMIT')
          return changed
        }),
      ),
    script: (sql) => inOrder((db) => whole(db, () => db.script(sql))),
    async reconnect() {},
    async close() {
      // Without this the newest changes would lie beside the file, where a copy of it misses them.
      const carry = (db: Connection) => {
        if (file !== undefined) db.rows('PRAGMA wal_checkpoint(TRUNCATE)')
        // In the same turn: a change that came after it would be taken and lie there after all.
        closed = true
      }
      await inOrder(carry).catch(nothing)
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

/** What is left open, by a failure or by a script that does not commit, is rolled back. */
function whole<result>(db: Connection, work: () => result): result {
  try {
    return work()
  } finally {
    db.rollBack()
  }
}
