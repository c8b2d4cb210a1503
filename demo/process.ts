import { setTimeout } from 'node:timers/promises'
import type { User } from './account.ts'
import type { Jobs } from './jobs.ts'
import type { Place } from './place.ts'
import type { Stdin } from './stdin.ts'

/** What an imitated program sees of the world. */
export interface Process {
  user: User
  place: Place
  env: Readonly<Record<string, string>>
  stdin: Stdin
  /** Settles when the reader has room for more. */
  stdout(data: string | Uint8Array): Promise<void>
  stderr(data: string | Uint8Array): Promise<void>
  /** Of a job: writes a line of its notes. */
  note?(line: string): void
  /** The size of its terminal, if it has one. */
  terminal: { cols: number; rows: number } | undefined
  /** Aborted when the program is to end: its channel closed, or its host stops. */
  signal: AbortSignal
  machine: Machine
}

/** Answers for a program instead of its imitation; undefined leaves it to that. */
export type Override = (words: readonly string[], process: Process) => Promise<number> | undefined

/** The imitated host behind all its connections. */
export interface Machine {
  name: string
  users: ReadonlyMap<string, User>
  host: Place
  containers: readonly Place[]
  jobs: Jobs
  /** How long an upgrade takes for a line of its output. */
  lineMs: number
  /** What every upgrade prints, instead of apt's words; the lists stay as they are. */
  upgradeOutput: ((place: string) => AsyncIterable<string | Uint8Array>) | undefined
  override: Override | undefined
}

/** Exit code of an imitated program; undefined when there is no such program. */
export type Exit = Promise<number | undefined>

/** An imitated program or script. */
export type Program = (args: readonly string[], process: Process) => Promise<number>

/** Says why on stderr and gives the exit code back. */
export async function fail(process: Process, text: string, code: number): Promise<number> {
  await process.stderr(text)
  return code
}

/** Waits; rejects at once when the program is to end. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, { signal })
  else signal.throwIfAborted()
}
