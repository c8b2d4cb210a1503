import { parseCommandLine, runCommand } from '../../cli/command-line.ts'
import { PromptClosed } from '../../cli/prompt.ts'
import { commands } from '../../functions/index.ts'
import type { CommandContext, Prompt, Report } from '../../runtime/command.ts'

/** The account that runs the commands of the tests. */
export const OPERATOR = 'operator'

/** A prompt with these answers, one for each question, that records the questions. */
export function answering(...answers: string[]) {
  const asked: { question: string; secret: boolean }[] = []
  const next = async (question: string, secret: boolean) => {
    asked.push({ question, secret })
    const answer = answers.shift()
    if (answer === undefined) throw new PromptClosed()
    return answer
  }
  const prompt: Prompt = {
    interactive: false,
    ask: (question) => next(question, false),
    askSecret: (question) => next(question, true),
    say() {},
    startOver() {},
    close() {},
  }
  return { prompt, asked }
}

type Needed = Pick<CommandContext, 'db' | 'secrets' | 'config' | 'clock' | 'log'>

/** Runs a command, next to a service or not; a question without a prompt has no answer. */
export function typeCommand(
  { db, secrets, config, clock, log }: Needed,
  words: readonly string[],
  { prompt } = answering(),
): Promise<Report> {
  const { command, typed } = parseCommandLine(commands, words)
  return runCommand(command, typed, { db, secrets, config, clock, log, prompt, operator: OPERATOR })
}
