import type * as z from 'zod'
import type { JobBounds } from '../db/job-start.ts'
import type { JobPart, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import type { Command, Host } from '../ssh/ssh.ts'

/**
 * A command for the host, with the parts of the job in their order if it has several. `notes`: the command writes notes
 * to descriptor 9; a job with parts always does.
 */
export interface Prepared {
  command: Command
  parts?: readonly JobPart[]
  notes?: boolean
}

/** The remains of an ended job on the host: French lines, and `found`, which its kind's `result` gets. */
export interface Leftovers {
  lines: string[]
  found?: unknown
}

/** `cancelled`: by a user. `lost`: the host has no exit code of the command. */
export type Ending = 'cancelled' | 'lost'

/** A kind of job: turns stored arguments into a command. Its events are published on topic `<event>:<job id>`. */
export interface JobKind<args = unknown> {
  kind: string
  event: string
  args: z.ZodType<args>
  /**
   * Jobs of one queue run one after another; `a/*` conflicts with every `a/…`. A job with an empty queue never waits.
   */
  queue(args: args): string
  /** How many jobs of the kind may run or wait at once. */
  bounds?: JobBounds
  /** Returns the command for the host; `job` is the job's id. A thrown Failure ends the job with its sentence. */
  command(args: args, host: Host, job: string): Promise<Command | Prepared>
  /**
   * Returns French lines for the end of the output that say what a job left unfinished that was cancelled or lost. Of a
   * lost job, undefined means that nothing has to be looked at.
   */
  leftovers?(args: args, host: Host, of: { ending: Ending; id: string }): Promise<string[] | Leftovers | undefined>
  /**
   * Answers a question that the running command has noted as `{"ask": <question>}`, with lines that it reads. Another
   * instance may answer the same question again.
   */
  answer?(args: args, question: string): Promise<string[]>
  /**
   * Returns statements that store a result read from the output, in one transaction with the end of the job. Another
   * instance may repeat them, so they must be idempotent, and change nothing while the job runs (see `db/checks.ts`).
   */
  result?(args: args, ended: EndedJob): Promise<Statement[] | JobResult>
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
}

/** A kind with unknown arguments, which its own schema parses. */
export interface AnyJobKind {
  kind: string
  event: string
  queue(args: unknown): string
  bounds?: JobBounds | undefined
  prepare(args: unknown, host: Host, job: string): Promise<Prepared>
  leftovers(args: unknown, host: Host, of: { ending: Ending; id: string }): Promise<Leftovers | undefined>
  answer(args: unknown, question: string): Promise<string[] | undefined>
  result(args: unknown, ended: EndedJob): Promise<JobResult>
}

/** Declares a kind of job. Jobs are stored as `{kind, args}`, so that any instance can take one over. */
export function defineJob<args>({
  kind,
  event,
  args,
  queue,
  bounds,
  command,
  leftovers,
  answer,
  result,
}: JobKind<args>): AnyJobKind {
  return {
    kind,
    event,
    queue: (stored) => queue(args.parse(stored)),
    bounds,
    async prepare(stored, host, job) {
      const prepared = await command(args.parse(stored), host, job)
      return 'command' in prepared ? prepared : { command: prepared }
    },
    async leftovers(stored, host, of) {
      const found = await leftovers?.(args.parse(stored), host, of)
      return Array.isArray(found) ? { lines: found } : found
    },
    answer: async (stored, question) => answer?.(args.parse(stored), question),
    async result(stored, ended) {
      const found = (await result?.(args.parse(stored), ended)) ?? []
      return Array.isArray(found) ? { statements: found } : found
    },
  }
}
