import { jobsVersion, type ListedJob, listJobs, type NewestOfKind } from '../db/job-list.ts'
import type { Database } from '../db/libsql/database.ts'

/** The newest jobs of some kinds with all that run, and a text that changes whenever one begins or ends. */
export interface NewestJobs {
  version: string
  jobs: readonly ListedJob[]
}

/** What everybody who looks at the panel asks for every other second: one question to the database answers all of them. */
export interface JobList {
  newest(kinds: readonly NewestOfKind[]): Promise<NewestJobs>
  /** A job has begun or ended here: who asks from now on is told. */
  changed(): void
}

/** What another instance has begun or ended is seen so soon; nobody can tell. */
const FRESH_MS = 250

interface Known extends NewestJobs {
  at: number
}

export function createJobList(db: Database, elapsed: () => number): JobList {
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<NewestJobs>>()

  const read = async (key: string, kinds: readonly NewestOfKind[]): Promise<Known> => {
    const at = elapsed()
    // Read first: what changes before the list is read makes the next answer another one.
    const version = await jobsVersion(db)
    const before = known.get(key)
    return before?.version === version ? { ...before, at } : { version, jobs: await listJobs(db, kinds), at }
  }

  return {
    newest(kinds) {
      const key = JSON.stringify(kinds)
      const before = known.get(key)
      if (before && elapsed() - before.at < FRESH_MS) return Promise.resolve(before)
      const shared = asking.get(key)
      if (shared) return shared
      const asked = read(key, kinds).then((found) => {
        // Not over what has changed meanwhile.
        if (asking.get(key) === asked) known.set(key, found)
        return found
      })
      asking.set(key, asked)
      const leave = () => {
        if (asking.get(key) === asked) asking.delete(key)
      }
      asked.then(leave, leave)
      return asked
    },
    changed() {
      asking.clear()
      for (const [key, { version, jobs }] of known) known.set(key, { version, jobs, at: Number.NEGATIVE_INFINITY })
    },
  }
}
