import type { JobEnd, JobRow } from '../db/jobs.ts'
import { type Database, type Statement, StorageError } from '../db/libsql/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Failure, translate } from '../runtime/errors.ts'
import type { Host } from '../ssh/ssh.ts'
import { jobFailure } from './codes.ts'
import { followOutput, JobLost, type JobOutcome } from './follow.ts'
import { createHostJob, NotBegun, NotStarted } from './host-job.ts'
import type { AnyJobKind } from './kind.ts'
import { LeaseLost, type OutputWriter } from './output.ts'
import { createJobProgress } from './progress.ts'
import type { JobQueue } from './queue.ts'
import { createJobRecord } from './record.ts'
import { retryHost, retryStorage } from './retry.ts'

export interface JobServices {
  db: Database
  host: Host
  clock: Clock
  /** Milliseconds that go by. */
  elapsed(): number
  log: Log
  writer: OutputWriter
  queue: JobQueue
  mostOutput: number
  /** Told the row of each job whose end has been recorded. */
  ended(job: JobRow): void
}

/** One job that this instance sees to. */
export interface JobRun {
  /** Settles when it has ended, or was let go. */
  done: Promise<void>
  /** Settles when the host has begun it, it waits for another one, or it is done. */
  begun: Promise<void>
  /** Settles when what the host has put out until now is stored, within some seconds. */
  caughtUp(): Promise<void>
  /** Ends it, as whoever the database says wants it to. Asked again, it tries again what could not be ended. */
  cancel(): void
  /** Lets go of it: it runs on at the host, and somebody else sees to it. */
  release(): void
}

/** Brings a job from where its row says to its end, and records that. */
export function runJob(services: JobServices, kind: AnyJobKind, row: JobRow): JobRun {
  const released = new AbortController()
  const cancelled = new AbortController()
  const work = createWork(services, kind, row, { released: released.signal, cancelled: cancelled.signal })
  if (row.cancelled_by !== null) cancelled.abort()
  const cancel = () => {
    cancelled.abort()
    work.end()
  }
  const done = work.toItsEnd()
  const { progress } = work
  return {
    done,
    begun: Promise.race([progress.begun, done]).catch(() => {}),
    caughtUp: () => progress.caughtUp(done),
    cancel,
    release: () => released.abort(),
  }
}

interface Signals {
  released: AbortSignal
  cancelled: AbortSignal
}

function createWork(services: JobServices, kind: AnyJobKind, row: JobRow, { released, cancelled }: Signals) {
  const { host, elapsed, log, writer, queue, mostOutput } = services
  const { id, epoch } = row
  const persisting = { log, signal: released, job: id, clock: elapsed }
  const stored = <result>(query: () => Promise<result>) => retryStorage(persisting, query)
  const record = createJobRecord(services, row, stored)
  const progress = createJobProgress()
  const name = row.folder ?? id
  const args: unknown = JSON.parse(row.args)
  const there = createHostJob({ host, ...persisting }, kind, { id, name, args, mostOutput })
  const result = async (ended: JobRow, isCancelled: boolean): Promise<Statement[]> => {
    try {
      return await kind.result(args, { db: services.db, row: ended, cancelled: isCancelled })
    } catch (error) {
      if (error instanceof StorageError) throw error
      // The job has ended all the same.
      log.error({ job: id, err: error }, 'the result of a job could not be read')
      return []
    }
  }

  const turn = async (): Promise<void> => {
    const waits = AbortSignal.any([released, cancelled])
    // Before a restart, perhaps.
    let said = row.output_size > 0
    const waiting = async (before: { id: string; target: string }[]) => {
      const [first] = before
      const more = before.length > 1 ? ` et de ${before.length - 1} autre${before.length > 2 ? 's' : ''}` : ''
      if (first && !said) await record.say(`En attente de la fin de la tâche ${first.id} (${first.target})${more}…\n`)
      said = false
      progress.waits()
    }
    await queue.turn(id, waiting, waits)
    progress.hasTurn()
  }

  const launch = async (): Promise<void> => {
    const mayBegin = async () => {
      // Another instance may have taken it, and brought it to its end.
      if ((await record.current()).status !== 'running') throw new LeaseLost(`job ${id} has ended elsewhere`)
    }
    // Whoever saw to it before may have asked the host already.
    const parts = await there.start(mayBegin, { askedBefore: epoch > 1 })
    await record.launched(parts)
    progress.launched()
  }

  const follow = (): Promise<JobOutcome> =>
    retryHost(persisting, (reached) =>
      stored(async () => {
        const at = await record.current()
        const output = writer.open(at)
        const heard = () => progress.hears(output)
        try {
          return await followOutput({ host, output, signal: released, attached: reached, heard }, at)
        } finally {
          progress.hearsNothing()
        }
      }),
    )

  let begun = false
  let ending: Promise<void> | undefined
  /** Has the host end what has begun there, one try at a time. */
  const end = (): void => {
    if (!begun || ending) return
    ending = there.cancel().finally(() => {
      ending = undefined
    })
    ending.catch(() => {})
  }

  /** From where the row says to the end of the command. */
  const run = async (): Promise<JobOutcome> => {
    if (!row.launched) {
      // Whoever saw to it before may have begun it without having come to record that.
      if (cancelled.aborted && epoch > 1) await there.cancel()
      await turn()
      await launch()
    }
    begun = true
    if (cancelled.aborted) end()
    const outcome = await follow()
    await ending
    return outcome
  }

  const outcome = async (): Promise<{ end: JobEnd; allRead: boolean; notes: readonly string[] }> => {
    try {
      const { code, notes } = await run()
      return { end: { status: 'success', error: null, error_code: null, exit_code: code }, allRead: true, notes }
    } catch (error) {
      if (released.aborted || error instanceof LeaseLost) throw error
      const end = { status: 'error', error: null, error_code: null, exit_code: null } as const
      // Before it was its turn.
      if (cancelled.aborted && error === cancelled.reason) return { end, allRead: false, notes: [] }
      const cause = error instanceof NotBegun ? error.cause : error
      const { message, code } = failureOf(cause)
      // What the host or the caller is to blame for needs no stack.
      const foreseen = code !== 'internal'
      log.warn({ job: id, code, ...(foreseen ? { reason: message } : { err: error }) }, 'job failed')
      const notes = error instanceof JobLost ? error.notes : []
      return { end: { ...end, error: message, error_code: code }, allRead: error instanceof JobLost, notes }
    }
  }

  return {
    progress,
    end,
    async toItsEnd(): Promise<void> {
      try {
        const { end, allRead, notes } = await outcome()
        const at = await record.end(end, { notes, leftovers: there.leftovers, result })
        log.info({ job: id, status: at.status, exit_code: at.exit_code, error: at.error }, 'job ended')
        services.ended(at)
        // What could not be read to its end stays, for who wants to look.
        if (allRead) await there.clean()
      } catch (error) {
        if (!(released.aborted || error instanceof LeaseLost)) throw error
        log.info({ job: id }, 'job let go')
      }
    },
  }
}

/** What a job that has ended in error is told to have ended by. */
function failureOf(error: unknown): Failure {
  if (error instanceof JobLost) return error.failure
  if (error instanceof NotStarted) return jobFailure('job_not_started', { values: { message: error.message } })
  return translate(error)
}
