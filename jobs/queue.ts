import { type QueuedJob, queuedJobs, takeTurn } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import type { Log } from '../platform/log.ts'
import { LeaseLost } from './output.ts'

/** Jobs of which one runs at a time, at whichever instance: those of one user in the order of arrival, users by turns. */
export interface JobQueue {
  /**
   * Settles when it is the job's turn; `waiting` is told for what it waits when that is not so at once, and again when all
   * of those have ended and others, who came later, are before it. Rejects when `signal` aborts.
   */
  turn(id: string, waiting: (before: QueuedJob[]) => Promise<void>, signal: AbortSignal): Promise<void>
  /** Some job has ended here: looks at once who is next. */
  review(): void
}

/** How soon the end of a job at another instance is seen. */
const LOOK_MS = 1_000

interface Waiting {
  id: string
  /** Whether it is its turn, if nobody takes that first. */
  look(before: QueuedJob[] | undefined): boolean
  /** It has its turn. */
  come(): void
}

/**
 * `''` is in no queue; `a/*` is in that of `a/1`, of `a/2` and of every other one. A conflict is looked for by one
 * query for all that wait.
 */
export function createJobQueue(db: Database, log: Log): JobQueue {
  const waiting = new Set<Waiting>()
  let looking = false
  let again = false
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    do {
      again = false
      const asked = [...waiting]
      try {
        const jobs = await queuedJobs(db)
        for (const one of asked) {
          const isNext = one.look(before(jobs, one.id))
          // Whoever comes meanwhile may be before it: the database says whose turn it is, to one of them.
          if (isNext && (await takeTurn(db, one.id))) one.come()
        }
      } catch (error) {
        // They wait on, and it is looked at again.
        log.error({ err: error }, 'the queue of jobs could not be read')
      }
    } while (again && waiting.size > 0)
  }

  const review = () => {
    if (waiting.size === 0) return
    again = true
    if (looking) return
    looking = true
    void look().finally(() => {
      looking = false
      clearTimeout(timer)
      if (waiting.size > 0) timer = setTimeout(review, LOOK_MS).unref()
    })
  }

  return {
    review,
    turn: (id, tell, signal) =>
      new Promise<void>((resolve, reject) => {
        let told: Promise<void> | undefined
        /** Those of whom it has been told. */
        let known: ReadonlySet<string> = new Set()
        const leave = () => {
          waiting.delete(one)
          signal.removeEventListener('abort', abort)
        }
        const abort = () => {
          leave()
          // What is being said must not come after what is said of the end.
          void Promise.resolve(told)
            .catch(() => {})
            .then(() => reject(signal.reason))
        }
        const one: Waiting = {
          id,
          look(before) {
            if (!waiting.has(one)) return false
            if (before === undefined) {
              leave()
              reject(new LeaseLost(`job ${id} has ended elsewhere`))
              return false
            }
            if (before.length === 0) return true
            if (!before.some((job) => known.has(job.id))) {
              known = new Set(before.map((job) => job.id))
              told = (told ?? Promise.resolve()).then(() => tell(before))
              told.catch((error: unknown) => {
                leave()
                reject(error)
              })
            }
            return false
          },
          come() {
            leave()
            Promise.resolve(told).then(resolve, reject)
          },
        }
        if (signal.aborted) return reject(signal.reason)
        signal.addEventListener('abort', abort)
        waiting.add(one)
        review()
      }),
  }
}

/** What has its turn before a job and is in its way; undefined when it is not among them. */
function before(jobs: readonly QueuedJob[], id: string): QueuedJob[] | undefined {
  const at = jobs.findIndex((job) => job.id === id)
  const own = jobs[at]
  if (!own || own.begun) return own && []
  return jobs.slice(0, at).filter((job) => meet(job.queue, own.queue))
}

function meet(one: string, other: string): boolean {
  if (one === '' || other === '') return false
  return one === other || covers(one, other) || covers(other, one)
}

function covers(all: string, one: string): boolean {
  return all.endsWith('/*') && one.startsWith(all.slice(0, -1))
}
