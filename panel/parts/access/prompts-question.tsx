import { type Signal, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { ApiError, type Prompt } from '../../../client/index.ts'
import { FactorProblem } from './factor-problem.tsx'
import { accessWords } from './words.ts'
import { Action, useAct } from '../action.tsx'
import { useCountdown } from '../countdown.ts'
import { Field } from '../field.tsx'

/** The host closes a connection on which nobody has signed in by then. */
const HOST_SECONDS = 100

interface PromptsQuestionProps {
  prompts: readonly Prompt[]
  answer(given: string[]): Promise<void>
  cancel(): void
}

/** One round of the host's own questions, in its words. */
export function PromptsQuestion({ prompts, answer, cancel }: PromptsQuestionProps) {
  const say = accessWords().steps
  const values = useMemo<Signal<string>[]>(() => prompts.map(() => signal('')), [prompts])
  const left = useCountdown(HOST_SECONDS, prompts)
  const act = useAct(() => answer(values.map(({ value }) => value)))
  const error = act.error.value
  // Otherwise the host has ended the conversation.
  const isOpen = !(error instanceof ApiError) || error.status === 429 || error.code === 'answers_miscounted'
  const blocked = left > 0 && isOpen ? undefined : say.tooLate
  return (
    <form
      class="factor-question"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (blocked === undefined) void act.run()
      }}
    >
      <p class="dim">{prompts.length === 0 ? say.onlyContinue : say.hostAsks}</p>
      {values.map((value, n) => (
        <Field
          key={n}
          label={prompts[n]?.text.trim() || say.unnamed(n + 1)}
          name={`answer-${n + 1}`}
          type={prompts[n]?.echo ? 'text' : 'password'}
          value={value}
          autoComplete={prompts[n]?.echo ? 'one-time-code' : 'off'}
          autoFocus={n === 0}
        />
      ))}
      <FactorProblem error={error} />
      {isOpen && <p class="dim num">{left > 0 ? say.left(left) : say.tooLate}</p>}
      <Action act={act} type="submit" class="primary" blocked={blocked}>
        {say.submit}
      </Action>
      <div class="others">
        <button type="button" class="button plain" onClick={cancel}>
          {say.again}
        </button>
      </div>
    </form>
  )
}
