import type { Storage } from '../db/storage.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'

/** Asks questions at the terminal, or reads lines when the input is not a terminal. */
export interface Prompt {
  /** Whether the input is a terminal, so that a question can be repeated. */
  interactive: boolean
  ask(question: string): Promise<string>
  /** Asks without echoing the input. */
  askSecret(question: string): Promise<string>
  /** Writes a line. */
  say(text: string): void
  /**
   * Writes a line after a wrong answer and discards input that was typed or pasted ahead, which was meant for other
   * questions.
   */
  startOver(text: string): void
  close(): void
}

/** The context of every command, whether or not a service runs. */
export interface BareContext {
  config: Config
  clock: Clock
  log: Log
  prompt: Prompt
  /** The operating system account that runs the command, for the audit log. */
  operator: string
}

/** The context of a command that needs the service's data. */
export interface CommandContext extends BareContext, Storage {}

/** The data that a command needs. `existing`: that of a service. `made`: the same, created if missing. */
export type DataNeed = 'existing' | 'made' | 'none'

/** The arguments and flags of a command. */
export interface CommandInput {
  /** The declared arguments; optional ones may be missing. */
  args: readonly string[]
  flags: ReadonlySet<string>
}

/** One command of the command line: `ops-panel <name> <arg>… [--flag …]`. */
export interface CommandDefinition<need extends DataNeed> {
  /** One or two words. */
  name: string
  /** One line for `--help`. */
  summary: string
  /** Default `existing`. */
  data?: need
  /** Names of the arguments, as `--help` shows them. A name that ends in `?` is optional. */
  args?: readonly string[]
  /** The flags, without dashes, each with one line for `--help`. */
  flags?: Readonly<Record<string, string>>
  /** Returns the final output and whether all is well. The message of a CommandError is shown unchanged. */
  run(input: CommandInput, context: need extends 'none' ? BareContext : CommandContext): Promise<string | Report>
}

/** The output of a command. The exit code is 1 unless `ok`. */
export interface Report {
  text: string
  ok: boolean
}

/** A command whose declared data the runtime provides. */
export interface CliCommand extends Omit<CommandDefinition<DataNeed>, 'run'> {
  run(input: CommandInput, context: never): Promise<string | Report>
}

/** Declares a command. */
export function defineCommand<const need extends DataNeed = 'existing'>(command: CommandDefinition<need>): CliCommand {
  return command
}

/** The command line is invalid. The message is for the person at the terminal. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command failed for a known reason. The message is for the person at the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
