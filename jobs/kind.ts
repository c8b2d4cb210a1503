import type * as z from 'zod'
import type { JobBounds } from '../db/job-start.ts'
import type { JobPart, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import type { Failure } from '../runtime/errors.ts'
import type { Command, Host } from '../ssh/ssh.ts'
import type { Patience } from './retry.ts'

/**
 * A command for the host, with the parts of the job in their order if it has several. `notes`: the command writes notes
 * to descriptor 9; a job with parts or with a program always does. `program`: a text that the host gets as a file of
 * its own, whose path becomes the first argument of the command, as in `perl <file> <argument>…`.
 */
export interface Prepared {
  command: Command
  parts?: readonly JobPart[]
  notes?: boolean
  program?: string
}

/** The remains of an ended job on the host: French lines, and `found`, which its kind's `result` gets. */
export interface Leftovers {
  lines: string[]
  found?: unknown
}

/**
 * A job that has ended before its time; `notes` are the lines that its command wrote to descriptor 9. `signal` aborts
 * when this instance no longer follows the job. `settings`: see `JobKind`.
 */
export interface LeftBy<settings = unknown> {
  ending: Ending
  id: string
  notes: readonly string[]
  settings: settings
  signal: AbortSignal
}

/** `cancelled`: by a user. `lost`: the host has no exit code of the command. */
export type Ending = 'cancelled' | 'lost'

/**
 * A command that has ended, or that is lost: `code` is null then. `signal` aborts when this instance no longer follows the
 * job, or when a user cancels it. `settings`: see `JobKind`.
 */
export interface Concluding<settings = unknown> {
  id: string
  code: number | null
  notes: readonly string[]
  settings: settings
  signal: AbortSignal
  /** To be called whenever the host has answered: the time that it may be away begins anew. */
  answered(): void
  /** Adds a line to the output at once, unless its end has that line. */
  tell(line: string): Promise<void>
}

/** The end of a job that its kind has found out; without `failure` a success, whose exit code is 0. */
export interface Conclusion extends Leftovers {
  failure?: Failure | undefined
}

/** The means of an answer. `signal` aborts when nobody waits for it any more. `settings`: see `JobKind`. */
export interface Answering<settings = unknown> {
  id: string
  host: Host
  settings: settings
  signal: AbortSignal
}

/**
 * A kind of job: turns stored arguments into a command. Its events are published on topic `<event>:<job id>`.
 * `settings` is the part of the service's settings that a kind reads; this room hands them on.
 */
export interface JobKind<args = unknown, settings = unknown> {
  kind: string
  event: string
  args: z.ZodType<args>
  /**
   * Jobs of one queue run one after another; `a/*` conflicts with every `a/…`. A job with an empty queue waits only for
   * one with the queue `*`, which runs alone and comes before all that wait.
   */
  queue(args: args): string
  /** How many jobs of the kind may run or wait at once. */
  bounds?: JobBounds
  /** Returns the command for the host; `job` is the job's id. A thrown Failure ends the job with its sentence. */
  command(args: args, host: Host, job: string, db: Database): Promise<Command | Prepared>
  /**
   * Returns French lines for the end of the output that say what a job left unfinished that was cancelled or lost. Of a
   * lost job, undefined means that nothing has to be looked at.
   */
  leftovers?(args: args, host: Host, of: LeftBy<settings>): Promise<string[] | Leftovers | undefined>
  /**
   * Answers a question that the running command has noted as `{"ask": <question>}`, with lines that it reads. It may
   * take as long as the command waits. Another instance may answer the same question again.
   */
  answer?(args: args, question: string, by: Answering<settings>): Promise<string[]>
  /**
   * How long the host may be away once it may have begun the job, and the failure after that time; unless given, five
   * minutes and the failure of the connection.
   */
  absence?: Absence
  /**
   * Finds out how a job ended that changes more than its command sees, such as a reboot of the host, when the command has
   * ended or is lost. It may take as long as it needs. A lost connection or another instance repeats it.
   */
  conclude?(args: args, host: Host, of: Concluding<settings>): Promise<Conclusion>
  /**
   * Returns statements that store a result read from the output, in one transaction with the end of the job. Another
   * instance may repeat them, so they must be idempotent, and change nothing while the job runs (see `db/checks.ts`).
   */
  result?(args: args, ended: EndedJob): Promise<Statement[] | JobResult>
}

/** How patiently a host that is away is waited for, and the failure of a job whose host does not come back. */
export interface Absence {
  patience: Patience
  failure(): Failure
}

/** The statements of a job's end, and the error that replaces the end of a command that ended by itself. */
export interface JobResult {
  statements: Statement[]
  failure?: { message: string; code: string } | undefined
}

/** A job that is about to end. */
export interface EndedJob {
  db: Database
  /** The row before the end, with the parts as the command noted them. */
  row: JobRow
  /** The exit code of its command; null where that is not known. */
  code: number | null
  /** Whether a user cancelled the job. */
  cancelled: boolean
  /** The time of the end, RFC 3339. */
  at: string
  /** The lines that the command wrote to descriptor 9. */
  notes: readonly string[]
  /** The findings of `leftovers`, if it was asked. */
  found?: unknown
  /** The error that its command ended with, such as a host that could not be reached. */
  failure?: { message: string; code: string } | undefined
}

/** A kind with unknown arguments, which its own schema parses. */
export interface AnyJobKind<settings = unknown> {
  kind: string
  event: string
  queue(args: unknown): string
  bounds?: JobBounds | undefined
  prepare(args: unknown, host: Host, job: string, db: Database): Promise<Prepared>
  leftovers(args: unknown, host: Host, of: LeftBy<settings>): Promise<Leftovers | undefined>
  answer(args: unknown, question: string, by: Answering<settings>): Promise<string[] | undefined>
  absence?: Absence | undefined
  conclude?(args: unknown, host: Host, of: Concluding<settings>): Promise<Conclusion>
  result(args: unknown, ended: EndedJob): Promise<JobResult>
}

/** Declares a kind of job. Jobs are stored as `{kind, args}`, so that any instance can take one over. */
export function defineJob<args, settings = unknown>({
  kind,
  event,
  args,
  queue,
  bounds,
  command,
  leftovers,
  answer,
  absence,
  conclude,
  result,
}: JobKind<args, settings>): AnyJobKind<settings> {
  return {
    kind,
    event,
    queue: (stored) => queue(args.parse(stored)),
    bounds,
    async prepare(stored, host, job, db) {
      const prepared = await command(args.parse(stored), host, job, db)
      return 'command' in prepared ? prepared : { command: prepared }
    },
    async leftovers(stored, host, of) {
      const found = await leftovers?.(args.parse(stored), host, of)
      return Array.isArray(found) ? { lines: found } : found
    },
    answer: async (stored, question, by) => answer?.(args.parse(stored), question, by),
    absence,
    ...(conclude && { conclude: async (stored, host, of) => conclude(args.parse(stored), host, of) }),
    async result(stored, ended) {
      const found = (await result?.(args.parse(stored), ended)) ?? []
      return Array.isArray(found) ? { statements: found } : found
    },
  }
}
