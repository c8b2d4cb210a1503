import { setTimeout } from 'node:timers/promises'
import type { User } from './account.ts'
import type { Jobs } from './jobs.ts'
import type { Place } from './place.ts'
import type { Choice, Plan } from './plan.ts'
import type { Stdin } from './stdin.ts'

/** The environment, streams and signals of an imitated program. */
export interface Process {
  user: User
  place: Place
  env: Readonly<Record<string, string>>
  stdin: Stdin
  /** Settles when the reader has room for more. */
  stdout(data: string | Uint8Array): Promise<void>
  stderr(data: string | Uint8Array): Promise<void>
  /** Only in a job: writes a line of its notes. */
  note?(line: string): void
  /** Only in a job: settles with what the service answers to a question; undefined when it says nothing in that time. */
  asked?(question: string, ms: number): Promise<readonly string[] | undefined>
  /** Only in a job that has one: its program. */
  program?: { file: string; text: string }
  /** Only in the run of a plan: what its upgrade takes, and its hook. */
  transaction?: Transaction
  /** The size of its terminal, if it has one. */
  terminal: { cols: number; rows: number } | undefined
  /** Aborted when the program must end: its channel closed, or its host stops. */
  signal: AbortSignal
  machine: Machine
}

/** The settings with which the run of a plan calls apt-get. */
export interface Transaction {
  choice: Choice
  /** apt asks it before anything is unpacked, as `DPkg::Pre-Install-Pkgs`; false ends apt. */
  agrees(plan: Plan): Promise<boolean>
}

/** Overrides the imitation of a program; undefined runs the imitation. */
export type Override = (words: readonly string[], process: Process) => Promise<number> | undefined

/** The imitated host behind all its connections. */
export interface Machine {
  name: string
  /** The id of the present boot: a reboot changes it. */
  boot: string
  /** The time of the last reboot, in ms since 1970; undefined before the first. */
  bootedAt?: number
  /** Reboots it in a moment. */
  reboot(): void
  users: ReadonlyMap<string, User>
  host: Place
  containers: readonly Place[]
  jobs: Jobs
  /** The time between two lines of an upgrade's output. */
  lineMs: number
  /** The time that each `pct exec` takes before its command starts. */
  delayMs: number
  /** The output of every upgrade instead of apt's own; the package lists stay unchanged. */
  upgradeOutput: ((place: string) => AsyncIterable<string | Uint8Array>) | undefined
  override: Override | undefined
}

/** Exit code of an imitated program; undefined when there is no such program. */
export type Exit = Promise<number | undefined>

/** An imitated program or script. */
export type Program = (args: readonly string[], process: Process) => Promise<number>

/** Writes the reason to stderr and returns the exit code. */
export async function fail(process: Process, text: string, code: number): Promise<number> {
  await process.stderr(text)
  return code
}

/** Waits; rejects at once when the program must end. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, { signal })
  else signal.throwIfAborted()
}
