import { withdrawJobs } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import { fail } from '../runtime/errors.ts'

/**
 * Jobs whose start has failed with the database. It may have stored them all the same, or do so late, when what it was
 * sent is read at last; and a recorded job is begun by whoever finds it, although its caller was told that it was not.
 */
export interface FailedStarts {
  add(id: string): void
  has(id: string): boolean
  /** Ends those that were stored. Their lease has nobody else take one before this is called again. */
  withdraw(): Promise<void>
}

/** By then whatever was on its way to a database that answers has arrived. */
const LATE_MS = 60_000

export function createFailedStarts({
  db,
  clock,
  elapsed,
}: {
  db: Database
  clock: Clock
  elapsed(): number
}): FailedStarts {
  const refused = new Map<string, number>()
  return {
    add: (id) => void refused.set(id, elapsed()),
    has: (id) => refused.has(id),
    async withdraw() {
      if (refused.size === 0) return
      const { message, code } = fail('storage_failed')
      const at = elapsed()
      await withdrawJobs(db, [...refused.keys()], { error: message, error_code: code, now: timestamp(clock()) })
      for (const [id, since] of refused) if (at - since > LATE_MS) refused.delete(id)
    },
  }
}
