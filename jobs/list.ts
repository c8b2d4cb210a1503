import { jobsVersion, type ListedJob, listJobs, type NewestOfKind } from '../db/job-list.ts'
import type { Database } from '../db/libsql/database.ts'

/** The newest jobs of some kinds and all running ones, with a version that changes whenever a job starts or ends. */
export interface NewestJobs {
  version: string
  jobs: readonly ListedJob[]
}

/** Caches the list of jobs. Every open panel asks for it every other second, and one query answers all of them. */
export interface JobList {
  newest(kinds: readonly NewestOfKind[]): Promise<NewestJobs>
  /** Drops the cache, because a job has started or ended at this instance. */
  changed(): void
}

/** The longest delay until a start or end at another instance shows; too short to notice. */
const FRESH_MS = 250

interface Cached extends NewestJobs {
  at: number
}

export function createJobList(db: Database, elapsed: () => number): JobList {
  const cache = new Map<string, Cached>()
  const pending = new Map<string, Promise<NewestJobs>>()

  const read = async (key: string, kinds: readonly NewestOfKind[]): Promise<Cached> => {
    const at = elapsed()
    // The version is read first: a change between the two queries then invalidates this list at the next read.
    const version = await jobsVersion(db)
    const before = cache.get(key)
    return before?.version === version ? { ...before, at } : { version, jobs: await listJobs(db, kinds), at }
  }

  return {
    newest(kinds) {
      const key = JSON.stringify(kinds)
      const before = cache.get(key)
      if (before && elapsed() - before.at < FRESH_MS) return Promise.resolve(before)
      const shared = pending.get(key)
      if (shared) return shared
      const reading = read(key, kinds).then((found) => {
        // A read that began before a change must not replace newer data.
        if (pending.get(key) === reading) cache.set(key, found)
        return found
      })
      pending.set(key, reading)
      const leave = () => {
        if (pending.get(key) === reading) pending.delete(key)
      }
      reading.then(leave, leave)
      return reading
    },
    changed() {
      pending.clear()
      for (const [key, { version, jobs }] of cache) cache.set(key, { version, jobs, at: Number.NEGATIVE_INFINITY })
    },
  }
}
