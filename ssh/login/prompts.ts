import type { KeyboardInteractiveCallback, Prompt as AskedPrompt } from 'ssh2'
import { escapeControlLines } from '../../platform/escape-control.ts'

/** A question of the host to the person who signs in. The text is the host’s own, with control characters escaped. */
export interface Prompt {
  text: string
  /** Whether the answer may be shown while it is typed. */
  echo: boolean
}

/** Asks the person, and returns one answer for each prompt. */
export type Ask = (prompts: readonly Prompt[]) => Promise<readonly string[]>

/** Limits of a sign-in: PAM asks one or two questions a round, and five rounds for a code and a new password. */
const MOST_ROUNDS = 10
const MOST_PROMPTS = 10
const MOST_TEXT = 1_000

/** Questions for something else than the password, as common PAM modules ask them: `Verification code: `, `OTP: `. */
const NOT_THE_PASSWORD =
  /code|token|\botp\b|oath|one[- ]?time|\bpin\b|factor|yubi|fido|challenge|response|jeton|usage unique|einmal/i

/**
 * Answers the prompts of keyboard-interactive. The first hidden prompt that does not ask for something else gets the
 * password, which is sent once; the person is asked for the rest. `onAnswer` is called before any answer is sent, and
 * `giveUp` instead of an answer.
 */
export function promptAnswers(
  password: string,
  { ask, onAnswer, giveUp }: { ask: Ask; onAnswer(): void; giveUp(error: unknown): void },
) {
  let rounds = 0
  let isSent = false
  const send = (finish: KeyboardInteractiveCallback, answers: string[]) => {
    onAnswer()
    finish(answers)
  }
  return (name: string, instruction: string, _: string, asked: AskedPrompt[], finish: KeyboardInteractiveCallback) => {
    rounds += 1
    if (rounds > MOST_ROUNDS || asked.length > MOST_PROMPTS) return giveUp(new Error('l’hôte pose trop de questions'))
    const answers = asked.map(({ prompt, echo }) => {
      if (echo || isSent || NOT_THE_PASSWORD.test(prompt)) return undefined
      isSent = true
      return password
    })
    const open = asked.filter((_each, at) => answers[at] === undefined)
    if (open.length === 0) return send(finish, answers.map(String))
    const shown = open.map(({ prompt, echo = false }, at) => ({
      text: shownText(at === 0 ? [name, instruction, prompt] : [prompt]),
      echo,
    }))
    ask(shown).then((given) => {
      let next = 0
      send(
        finish,
        answers.map((answer) => answer ?? given[next++] ?? ''),
      )
    }, giveUp)
  }
}

function shownText(parts: readonly string[]): string {
  const text = parts.map((part) => part.slice(0, MOST_TEXT).replace(/\r\n?/g, '\n').trim())
  return escapeControlLines(text.filter(Boolean).join('\n'))
    .slice(0, MOST_TEXT)
    .replace(/[\uD800-\uDBFF]$/, '')
}
