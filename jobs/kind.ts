import type * as z from 'zod'
import type { JobBounds, JobPart, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import type { Command, Host } from '../ssh/ssh.ts'

/** What to run on the host, and what it does one after another, where that is more than one thing. */
export interface Prepared {
  command: Command
  parts?: readonly JobPart[]
}

/** A kind of job: how its arguments become a command. Its events are told on topic `<event>:<job id>`. */
export interface JobKind<args = unknown> {
  kind: string
  event: string
  args: z.ZodType<args>
  /** Jobs of one queue run one after another; `a/*` is in the way of every `a/…`. Empty for one that waits for nothing. */
  queue(args: args): string
  /** How many of them may be running or wait at once. */
  bounds?: JobBounds
  /** What to run on the host. A Failure ends the job with its sentence. */
  command(args: args, host: Host): Promise<Command | Prepared>
  /** What a job that was cancelled left behind: French lines for the end of its output. */
  leftovers?(args: args, host: Host): Promise<string[]>
  /**
   * What its end changes beside its record, made of what it has put out: in one transaction with the end. Another instance may
   * make the same statements again, so they change nothing twice, and nothing while the job is running (see `db/checks.ts`).
   */
  result?(args: args, ended: EndedJob): Promise<Statement[]>
}

/** A job that is about to end. */
export interface EndedJob {
  db: Database
  row: JobRow
  /** Whether somebody wanted it to end. */
  cancelled: boolean
}

/** A kind whose arguments the runtime checks but does not know. */
export interface AnyJobKind {
  kind: string
  event: string
  queue(args: unknown): string
  bounds?: JobBounds | undefined
  prepare(args: unknown, host: Host): Promise<Prepared>
  leftovers(args: unknown, host: Host): Promise<string[]>
  result(args: unknown, ended: EndedJob): Promise<Statement[]>
}

/** Declares a kind of job. Jobs are stored as `{kind, args}`, so that any instance can take one up. */
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
    result: async (stored, ended) => (await result?.(args.parse(stored), ended)) ?? [],
  }
}
