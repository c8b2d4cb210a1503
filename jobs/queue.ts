/*
 * The queue of jobs. Without it, two jobs could change one container at the same time, and one user's jobs could hold
 * up everybody else's.
 */
import { AT_ONCE_OF_RUNS, type QueuedJob, queuedJobs, takeTurn } from '../db/job-list.ts'
import { EVERY_QUEUE } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { LeaseLost } from './output.ts'

/**
 * Runs the jobs of a queue one at a time across all instances: the jobs of one user in order of arrival, and the users
 * in turns.
 */
export interface JobQueue {
  /**
   * Settles when it is the job's turn. Calls `waiting` with the jobs ahead if it has to wait, and again when all of
   * those have ended and others are ahead. Rejects when `signal` aborts.
   */
  turn(id: string, waiting: (ahead: QueuedJob[]) => Promise<void>, signal: AbortSignal): Promise<void>
  /** Finds at once whose turn it is; to be called when a job has ended at this instance. */
  review(): void
}

/** Interval of the reads, which find the end of a job at another instance. */
const REVIEW_MS = 1_000

interface Waiting {
  id: string
  /** Takes the jobs ahead, undefined when the job no longer runs; returns true if the job may take its turn. */
  update(ahead: QueuedJob[] | undefined): boolean
  /** Settles the wait, because the job has its turn. */
  start(): void
}

/**
 * A job with the queue `''` waits only for one with `EVERY_QUEUE`, which conflicts with all jobs; `a/*` conflicts with
 * `a/1`, `a/2` and all other `a/…`. Of the jobs of all runs of one user, a few work at a time. One query serves all
 * waiting jobs.
 */
export function createJobQueue(db: Database, log: Log, clock: Clock): JobQueue {
  const waiting = new Set<Waiting>()
  let reading = false
  let readAgain = false
  let timer: NodeJS.Timeout | undefined

  const readQueue = async () => {
    do {
      readAgain = false
      const candidates = [...waiting]
      try {
        const jobs = await queuedJobs(db)
        for (const one of candidates) {
          const own = jobs.find(({ id }) => id === one.id)
          const isNext = one.update(own && jobsAhead(jobs, own))
          // A job that arrived after the query may be ahead of this one. The database gives the turn to one of them.
          if (!isNext || !own || !(await takeTurn(db, one.id, timestamp(clock())))) continue
          // The next candidates of this list count the job as one that works.
          own.begun = true
          one.start()
        }
      } catch (error) {
        // The jobs keep waiting for the next read.
        log.error({ err: error }, 'the queue of jobs could not be read')
      }
    } while (readAgain && waiting.size > 0)
  }

  const review = () => {
    if (waiting.size === 0) return
    readAgain = true
    if (reading) return
    reading = true
    void readQueue().finally(() => {
      reading = false
      clearTimeout(timer)
      if (waiting.size > 0) timer = setTimeout(review, REVIEW_MS).unref()
    })
  }

  return {
    review,
    turn: (id, onWaiting, signal) =>
      new Promise<void>((resolve, reject) => {
        /** The calls of `onWaiting`, one after another. */
        let reports: Promise<void> | undefined
        let reported: ReadonlySet<string> = new Set()
        const leave = () => {
          waiting.delete(one)
          signal.removeEventListener('abort', abort)
        }
        const abort = () => {
          leave()
          // The report of a wait must not come after the report of the end.
          void Promise.resolve(reports)
            .catch(() => {})
            .then(() => reject(signal.reason))
        }
        const one: Waiting = {
          id,
          update(ahead) {
            if (!waiting.has(one)) return false
            if (ahead === undefined) {
              leave()
              reject(new LeaseLost(`job ${id} has ended elsewhere`))
              return false
            }
            if (ahead.length === 0) return true
            if (!ahead.some((job) => reported.has(job.id))) {
              reported = new Set(ahead.map((job) => job.id))
              reports = (reports ?? Promise.resolve()).then(() => onWaiting(ahead))
              reports.catch((error: unknown) => {
                leave()
                reject(error)
              })
            }
            return false
          },
          start() {
            leave()
            Promise.resolve(reports).then(resolve, reject)
          },
        }
        if (signal.aborted) return reject(signal.reason)
        signal.addEventListener('abort', abort)
        waiting.add(one)
        review()
      }),
  }
}

/**
 * The jobs ahead of a job that conflict with it, or else those of its run that come before, or else those that work and
 * use up the turns of its user's runs. A job that waits for its run holds no other job up, because its run may wait for
 * that one.
 */
function jobsAhead(jobs: readonly QueuedJob[], own: QueuedJob): QueuedJob[] {
  if (own.begun) return []
  const earliest = new Map<string, number>()
  for (const { run_id, late } of jobs)
    if (run_id !== null) earliest.set(run_id, Math.min(late, earliest.get(run_id) ?? late))
  const waitsForRun = ({ run_id, late }: QueuedJob) => run_id !== null && late > (earliest.get(run_id) ?? late)
  const ahead = jobs.slice(0, jobs.indexOf(own)).filter((job) => conflict(job.queue, own.queue))
  const conflicting = ahead.filter((job) => job.begun || !waitsForRun(job))
  if (own.run_id === null || conflicting.length > 0) return conflicting
  if (waitsForRun(own)) return jobs.filter((job) => job.run_id === own.run_id && job.late < own.late)
  // A job that waits for another target does not hold up the rest of its run.
  const mates = jobs.filter((job) => job.begun && job.run_id !== null && job.started_by === own.started_by)
  return mates.length < AT_ONCE_OF_RUNS ? [] : mates
}

function conflict(one: string, other: string): boolean {
  if (one === EVERY_QUEUE || other === EVERY_QUEUE) return true
  if (one === '' || other === '') return false
  return one === other || covers(one, other) || covers(other, one)
}

function covers(all: string, one: string): boolean {
  return all.endsWith('/*') && one.startsWith(all.slice(0, -1))
}
