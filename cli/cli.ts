/*
 * The command line: finds the command that was typed, opens the data that it needs, runs it and prints what it returns.
 * Texts from outside are escaped before a terminal shows them. Commands do not parse words, open databases or end the
 * process themselves. The room must not know any single command.
 */

import { userInfo } from 'node:os'
import { openExisting, openStorage } from '../db/storage.ts'
import type { Clock } from '../platform/clock.ts'
import { readConfig } from '../platform/config.ts'
import { escapeControlLines } from '../platform/escape-control.ts'
import { createLog, terminalFormat } from '../platform/log.ts'
import { type CliCommand, type CommandInput, type Prompt, type Report, UsageError } from '../runtime/command.ts'
import { parseCommandLine, runCommand } from './command-line.ts'
import { createPrompt } from './prompt.ts'
import { complain, explain, print } from './terminal.ts'

export { describeCommands, helpFor } from './command-line.ts'
export { complain, explain, print } from './terminal.ts'

interface Origin {
  environment: Record<string, string | undefined>
  clock: Clock
}

/** Runs the command that was typed and sets the exit code: 1 after a failure, 2 for words that are no command. */
export async function runCommandLine(
  commands: readonly CliCommand[],
  args: readonly string[],
  origin: Origin,
): Promise<void> {
  try {
    const { command, typed } = parseCommandLine(commands, args)
    try {
      const { text, ok } = await runTyped(command, typed, origin)
      print(`${text}\n`)
      if (!ok) process.exitCode = 1
    } catch (error) {
      complain(1, explain(error, `« ${command.name} » a échoué`))
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    complain(2, `${error.message} Voir ops-panel --help.`)
  }
}

async function runTyped(command: CliCommand, typed: CommandInput, { environment, clock }: Origin): Promise<Report> {
  const config = readConfig(environment)
  const format = await terminalFormat()
  const { log } = createLog({ level: 'warn', format, write: (line) => void process.stderr.write(line) })
  const prompt = lazyPrompt()
  const { data = 'existing' } = command
  const storage =
    data === 'none' ? undefined : await (data === 'made' ? openStorage(config, clock) : openExisting(config))
  try {
    return await runCommand(command, typed, { config, clock, log, prompt, operator: operator(), ...storage })
  } finally {
    prompt.close()
    await storage?.db.close()
  }
}

/** Reads nothing from the terminal until a command asks. */
function lazyPrompt(): Prompt {
  let opened: Prompt | undefined
  const prompt = () => (opened ??= createPrompt(process.stdin, process.stderr))
  return {
    interactive: process.stdin.isTTY === true,
    ask: (question) => prompt().ask(escapeControlLines(question)),
    askSecret: (question) => prompt().askSecret(escapeControlLines(question)),
    say: (text) => prompt().say(escapeControlLines(text)),
    startOver: (text) => prompt().startOver(escapeControlLines(text)),
    close: () => opened?.close(),
  }
}

/** Returns the name of the account that runs the command, or its uid if it has no entry in passwd. */
function operator(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`
  }
}
