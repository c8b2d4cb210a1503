import type * as z from 'zod'
import type { JobBounds } from '../db/job-start.ts'
import type { JobPart, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import type { Command, Host } from '../ssh/ssh.ts'

/** A command for the host, with the parts of the job in their order if it has several. */
export interface Prepared {
  command: Command
  parts?: readonly JobPart[]
}

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
  /** Returns the command for the host. A thrown Failure ends the job with its sentence. */
  command(args: args, host: Host): Promise<Command | Prepared>
  /** Returns French lines for the end of the output that say what a cancelled job left unfinished. */
  leftovers?(args: args, host: Host): Promise<string[]>
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
}

/** A kind with unknown arguments, which its own schema parses. */
export interface AnyJobKind {
  kind: string
  event: string
  queue(args: unknown): string
  bounds?: JobBounds | undefined
  prepare(args: unknown, host: Host): Promise<Prepared>
  leftovers(args: unknown, host: Host): Promise<string[]>
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
  result,
}: JobKind<args>): AnyJobKind {
  return {
    kind,
    event,
    queue: (stored) => queue(args.parse(stored)),
    bounds,
    async prepare(stored, host) {
      const prepared = await command(args.parse(stored), host)
      return 'command' in prepared ? prepared : { command: prepared }
    },
    leftovers: async (stored, host) => (await leftovers?.(args.parse(stored), host)) ?? [],
    async result(stored, ended) {
      const found = (await result?.(args.parse(stored), ended)) ?? []
      return Array.isArray(found) ? { statements: found } : found
    },
  }
}
