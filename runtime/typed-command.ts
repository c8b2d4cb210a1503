import { userInfo } from 'node:os'
import type { Clock } from './clock.ts'
import { type CliCommand, parseCommandLine, type Report, runCommand, type Typed, UsageError } from './command-line.ts'
import { readConfig } from './config.ts'
import { createLog } from './log.ts'
import { createPrompt, type Prompt } from './prompt.ts'
import { openExisting, openStorage } from './storage.ts'
import { complain, explain, print } from './terminal.ts'
import { visibleLines } from './visible.ts'

interface Surroundings {
  environment: Record<string, string | undefined>
  clock: Clock
}

/** Runs the command that was typed, and ends the process with its exit code: 1 for a failure, 2 for what is no command. */
export async function typeCommand(
  commands: readonly CliCommand[],
  args: readonly string[],
  surroundings: Surroundings,
): Promise<void> {
  try {
    const { command, typed } = parseCommandLine(commands, args)
    try {
      const { text, ok } = await runTyped(command, typed, surroundings)
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

async function runTyped(command: CliCommand, typed: Typed, { environment, clock }: Surroundings): Promise<Report> {
  const config = readConfig(environment)
  const { log } = createLog({ level: 'warn', pretty: true, write: (line) => void process.stderr.write(line) })
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
  let made: Prompt | undefined
  const prompt = () => (made ??= createPrompt(process.stdin, process.stderr))
  return {
    interactive: process.stdin.isTTY === true,
    ask: (question) => prompt().ask(visibleLines(question)),
    askSecret: (question) => prompt().askSecret(visibleLines(question)),
    say: (text) => prompt().say(visibleLines(text)),
    startOver: (text) => prompt().startOver(visibleLines(text)),
    close: () => made?.close(),
  }
}

/** Who types; an account without an entry in passwd by its number. */
function operator(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`
  }
}
