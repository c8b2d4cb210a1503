/*
 * Takes one job from the state in its row through its turn, its start and its output to its recorded end. Without it, no
 * instance could continue a job that another one has started.
 */
import { type JobEnd, type JobRow, noteFoldersRemoved, setPhase } from '../db/jobs.ts'
import { type Database, StorageError } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Failure, translate } from '../runtime/errors.ts'
import { type Host, SshError } from '../ssh/ssh.ts'
import { jobFailure } from './codes.ts'
import { followOutput, JobLost, type JobOutcome } from './follow.ts'
import { createHostJob, StartNotAttempted, StartFailed } from './host-job.ts'
import type { Answering, AnyJobKind, Conclusion, EndedJob, JobResult, LeftBy, Leftovers } from './kind.ts'
import { createLiveNotes } from './notes.ts'
import { LeaseLost, type OutputWriter } from './output.ts'
import { createJobProgress } from './progress.ts'
import type { JobQueue } from './queue.ts'
import { createJobRecord } from './record.ts'
import { retryHost, retryStorage } from './retry.ts'

export interface JobServices<settings> {
  db: Database
  host: Host
  clock: Clock
  /** A monotonic clock in milliseconds. */
  elapsed(): number
  log: Log
  writer: OutputWriter
  queue: JobQueue
  mostOutput: number
  /** The settings for kinds that read some. */
  settings: settings
  /** Called with the row of each job whose end has been recorded. */
  ended(job: JobRow): void
  /** Called when a running job has begun another phase, after it was recorded. */
  phased(id: string, phase: string): void
}

/** One job that this instance follows. */
export interface JobRun {
  /** Settles when the job has ended or was released. */
  done: Promise<void>
  /** Settles when the host has started the job, when the job waits for another one, or when it is done. */
  startedOrWaiting: Promise<void>
  /** Settles within seconds, when the output that the host has until now is stored. */
  caughtUp(): Promise<void>
  /** Ends the job for the user that its row names. A repeated call retries an end that has failed. */
  cancel(): void
  /** Stops following the job. It continues on the host, and another instance takes it over. */
  release(): void
}

/** Continues a job from the state in its row to its end, and records the end. */
export function runJob<settings>(services: JobServices<settings>, kind: AnyJobKind<settings>, row: JobRow): JobRun {
  const released = new AbortController()
  const cancelled = new AbortController()
  const work = createWork(services, kind, row, { released: released.signal, cancelled: cancelled.signal })
  if (row.cancelled_by !== null) cancelled.abort()
  const cancel = () => {
    cancelled.abort()
    work.end()
  }
  const done = work.runToEnd()
  const { progress } = work
  return {
    done,
    startedOrWaiting: Promise.race([progress.startedOrWaiting, done]).catch(() => {}),
    caughtUp: () => progress.caughtUp(done),
    cancel,
    release: () => released.abort(),
  }
}

interface Signals {
  released: AbortSignal
  cancelled: AbortSignal
}

function createWork<settings>(
  services: JobServices<settings>,
  kind: AnyJobKind<settings>,
  row: JobRow,
  { released, cancelled }: Signals,
) {
  const { host, elapsed, log, writer, queue, mostOutput } = services
  const { id, epoch } = row
  const persisting = { log, signal: released, job: id, clock: elapsed }
  const stored = <result>(query: () => Promise<result>) => retryStorage(persisting, query)
  const record = createJobRecord(services, row, stored)
  const progress = createJobProgress()
  const name = row.folder ?? id
  const args: unknown = JSON.parse(row.args)
  const ofHost = {
    prepare: (...of: [args: unknown, host: Host, job: string]) => stored(() => kind.prepare(...of, services.db)),
    leftovers: (given: unknown, at: Host, of: Omit<LeftBy, 'settings'>) =>
      kind.leftovers(given, at, { ...of, settings: services.settings }),
    answer: (given: unknown, question: string, by: Omit<Answering, 'settings'>) =>
      kind.answer(given, question, { ...by, settings: services.settings }),
  }
  const following = { ...persisting, patience: () => kind.absence?.patience }
  const hostJob = createHostJob({ host, ...following }, ofHost, { id, name, args, mostOutput })
  const result = async (ended: Omit<EndedJob, 'db'>): Promise<JobResult> => {
    try {
      return await kind.result(args, { ...ended, db: services.db })
    } catch (error) {
      if (error instanceof StorageError) throw error
      // The job has ended whether its result can be read or not.
      log.error({ job: id, err: error }, 'the result of a job could not be read')
      return { statements: [] }
    }
  }

  const live = createLiveNotes({
    known: row.phase ?? undefined,
    async phase(phase) {
      const at = timestamp(services.clock())
      try {
        if (await stored(() => setPhase(services.db, row, { phase, at }))) services.phased(id, phase)
      } catch (error) {
        if (!released.aborted) log.error({ job: id, err: error }, 'the phase of a job could not be recorded')
      }
    },
    answer: hostJob.answer,
  })

  const turn = async (): Promise<void> => {
    const waits = AbortSignal.any([released, cancelled])
    // Output of a job that has not started is this text, stored before a takeover.
    let isStored = row.output_size > 0
    const waiting = async (ahead: { id: string; target: string }[]) => {
      const [first] = ahead
      const more = ahead.length > 1 ? ` et de ${ahead.length - 1} autre${ahead.length > 2 ? 's' : ''}` : ''
      if (first && !isStored)
        await record.appendText(`En attente de la fin de la tâche ${first.id} (${first.target})${more}…\n`)
      isStored = false
      progress.waits()
    }
    await queue.turn(id, waiting, waits)
    progress.hasTurn()
  }

  const launch = async (): Promise<void> => {
    const beforeStart = async () => {
      // Another instance may have taken the job over and recorded its end.
      if ((await record.current()).status !== 'running') throw new LeaseLost(`job ${id} has ended elsewhere`)
    }
    // A previous follower may have asked the host already.
    const parts = await hostJob.start(beforeStart, { askedBefore: epoch > 1 })
    await record.launched(parts)
    progress.launched()
  }

  const follow = (): Promise<JobOutcome> =>
    retryHost(following, (connected) =>
      stored(async () => {
        const at = await record.current()
        const output = writer.open(at)
        const received = () => progress.receives(output)
        live.again()
        try {
          const follower = { host, output, signal: released, attached: connected, received, noted: live.take }
          return await followOutput(follower, at)
        } finally {
          await live.settled()
          progress.disconnected()
        }
      }),
    )

  let isLaunched = false
  let ending: Promise<void> | undefined
  /** Ends the started job on the host, one attempt at a time. */
  const end = (): void => {
    if (!isLaunched || ending) return
    ending = hostJob.cancel().finally(() => {
      ending = undefined
    })
    ending.catch(() => {})
  }

  /** Continues from the state in the row to the end of the command. */
  const run = async (): Promise<JobOutcome> => {
    if (!row.launched) {
      // A previous follower may have started the job and died before it recorded the start.
      if (cancelled.aborted && epoch > 1) await hostJob.cancel()
      await turn()
      await launch()
    }
    isLaunched = true
    if (cancelled.aborted) end()
    const outcome = await follow()
    await ending
    return outcome
  }

  /** The end of the command: its exit code, or how it was lost. */
  const commandEnd = async () => {
    try {
      return { ...(await run()), lost: undefined }
    } catch (error) {
      if (!(error instanceof JobLost)) throw error
      return { code: null, notes: error.notes, lost: error }
    }
  }

  /** The end that the kind finds for a job that nobody has cancelled; undefined keeps that of the command. */
  const conclude = async (code: number | null, notes: readonly string[]): Promise<Conclusion | undefined> => {
    if (!kind.conclude || cancelled.aborted) return undefined
    progress.waits()
    const signal = AbortSignal.any([released, cancelled])
    const of = { id, code, notes, settings: services.settings, signal, tell: record.tell }
    const work = (answered: () => void) => stored(async () => kind.conclude?.(args, host, { ...of, answered }))
    try {
      return await retryHost({ ...following, signal }, work)
    } catch (error) {
      if (cancelled.aborted && !released.aborted) return undefined
      throw error
    }
  }

  interface Outcome {
    end: JobEnd
    allRead: boolean
    notes: readonly string[]
    left?: Leftovers | undefined
  }

  const outcome = async (): Promise<Outcome> => {
    try {
      const { code, notes, lost } = await commandEnd()
      const concluded = await conclude(code, notes)
      if (concluded) return { ...concludedBy(concluded, code), allRead: true, notes }
      if (lost) throw lost
      return { end: { status: 'success', error: null, error_code: null, exit_code: code }, allRead: true, notes }
    } catch (error) {
      if (released.aborted || error instanceof LeaseLost) throw error
      const end = { status: 'error', error: null, error_code: null, exit_code: null } as const
      // The job was cancelled while it was queued.
      if (cancelled.aborted && error === cancelled.reason) return { end, allRead: false, notes: [] }
      const cause = error instanceof StartNotAttempted ? error.cause : error
      const isAsked = !(error instanceof StartNotAttempted)
      const { message, code } = (isAsked && isAway(cause) && kind.absence?.failure()) || failureOf(cause)
      // A failure of the host or of the request needs no stack.
      const isExpected = code !== 'internal'
      log.warn({ job: id, code, ...(isExpected ? { reason: message } : { err: error }) }, 'job failed')
      const isLost = error instanceof JobLost
      const notes = isLost ? error.notes : []
      const left = isLost && !cancelled.aborted ? await hostJob.leftovers({ ending: 'lost', notes }) : undefined
      const rest = isLost && error.isAtWork ? [STILL_AT_WORK] : []
      const told = left || rest.length > 0 ? { ...left, lines: [...rest, ...(left?.lines ?? [])] } : undefined
      return { end: { ...end, error: message, error_code: code }, allRead: isLost, notes, left: told }
    }
  }

  return {
    progress,
    end,
    async runToEnd(): Promise<void> {
      try {
        const { end, allRead, notes, left } = await outcome()
        const leftovers = () => hostJob.leftovers({ ending: 'cancelled', notes })
        const at = await record.end(end, { notes, left, leftovers, result })
        log.info({ job: id, status: at.status, exit_code: at.exit_code, error: at.error }, 'job ended')
        services.ended(at)
        // The folder stays for inspection if its output could not be read to the end.
        if (allRead && (await hostJob.clean())) await stored(() => noteFoldersRemoved(services.db, [id]))
      } catch (error) {
        if (!(released.aborted || error instanceof LeaseLost)) throw error
        log.info({ job: id }, 'job let go')
      } finally {
        live.close()
      }
    },
  }
}

const STILL_AT_WORK = 'Des programmes de la tâche travaillent encore sur l’hôte.'

/** The end of a job as its kind has found it, with the lines for the end of its output. */
function concludedBy({ failure, ...left }: Conclusion, code: number | null): { end: JobEnd; left: Leftovers } {
  if (!failure) return { end: { status: 'success', error: null, error_code: null, exit_code: 0 }, left }
  const end = { status: 'error', error: failure.message, error_code: failure.code, exit_code: code } as const
  // The record of a command without an exit code has the message in place of the output.
  return { end, left: { ...left, lines: code === null ? left.lines : [...left.lines, failure.message] } }
}

function isAway(error: unknown): boolean {
  return error instanceof SshError && error.reason !== 'bad_credentials' && error.reason !== 'host_key_changed'
}

/** The failure to record for a job that ended with an error. */
function failureOf(error: unknown): Failure {
  if (error instanceof JobLost) return error.failure
  if (error instanceof StartFailed) return jobFailure('job_not_started', { values: { message: error.message } })
  return translate(error)
}
