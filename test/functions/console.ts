import { parseCommandLine, runCommand } from '../../cli/command-line.ts'
import { PromptClosed } from '../../cli/prompt.ts'
import { commands } from '../../functions/index.ts'
import type { CommandContext, Prompt, Report } from '../../runtime/command.ts'

/** Who types the commands of the tests. */
export const OPERATOR = 'operator'

/** A person who has these answers, one for each question, and what was asked. */
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

/** Types a command, beside a service or not; whoever is asked has no answer unless there is a prompt. */
export function typeCommand(
  { db, secrets, config, clock, log }: Needed,
  words: readonly string[],
  { prompt } = answering(),
): Promise<Report> {
  const { command, typed } = parseCommandLine(commands, words)
  return runCommand(command, typed, { db, secrets, config, clock, log, prompt, operator: OPERATOR })
}
