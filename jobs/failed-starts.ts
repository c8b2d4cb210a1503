import { withdrawJobs } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import { fail } from '../runtime/errors.ts'

/**
 * Jobs whose start failed because of the database. The database may have stored them anyway, or may still store them
 * late. Any instance would then start such a job, although its caller got an error.
 */
export interface FailedStarts {
  add(id: string): void
  has(id: string): boolean
  /** Ends those that were stored. Their leases outlast the time until the next call, so no other instance takes one. */
  withdraw(): Promise<void>
}

/** A statement that is still on its way to a database that answers arrives within this time. */
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
  const failed = new Map<string, number>()
  return {
    add: (id) => void failed.set(id, elapsed()),
    has: (id) => failed.has(id),
    async withdraw() {
      if (failed.size === 0) return
      const { message, code } = fail('storage_failed')
      const at = elapsed()
      await withdrawJobs(db, [...failed.keys()], { error: message, error_code: code, now: timestamp(clock()) })
      for (const [id, since] of failed) if (at - since > LATE_MS) failed.delete(id)
    },
  }
}
