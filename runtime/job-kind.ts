import type * as z from 'zod'
import type { Command } from './command.ts'
import type { Host } from './host.ts'

/** A kind of job: how its arguments become a command. Its events are told on topic `<event>:<job id>`. */
export interface JobKind<args = unknown> {
  kind: string
  event: string
  args: z.ZodType<args>
  /** What to run on the host. A Failure ends the job with its sentence. */
  command(args: args, host: Host): Promise<Command>
}

/** A kind whose arguments the runtime checks but does not know. */
export interface AnyJobKind {
  kind: string
  event: string
  prepare(args: unknown, host: Host): Promise<Command>
}

/** Declares a kind of job. Jobs are stored as `{kind, args}`, so that any instance can take one up. */
export function defineJob<args>({ kind, event, args, command }: JobKind<args>): AnyJobKind {
  return { kind, event, prepare: async (stored, host) => command(args.parse(stored), host) }
}
