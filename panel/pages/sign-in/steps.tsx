import { type FactorAnswer, FactorQuestion } from '../../parts/access/factor-question.tsx'
import { PromptsQuestion } from '../../parts/access/prompts-question.tsx'
import { accessWords } from '../../parts/access/words.ts'
import { api, asksMore } from '../../wire/panel.ts'
import { enter } from './enter.ts'

/** The questions of the host or of the panel after the password. */
export function SignInSteps() {
  const say = accessWords().steps
  const asked = asksMore.value
  if (asked?.challenge === undefined) return null
  const { challenge, prompts, factors = [], passkey } = asked
  const cancel = () => {
    asksMore.value = undefined
  }
  const send = (given: { answers: string[] } | FactorAnswer) =>
    enter(() => api('POST /api/auth/login/answers', { body: { challenge, ...given } }))
  return (
    <section aria-label={prompts ? say.host : say.factor}>
      <h2>{prompts ? say.host : say.factor}</h2>
      {prompts ? (
        <PromptsQuestion key={asked} prompts={prompts} answer={(answers) => send({ answers })} cancel={cancel} />
      ) : (
        <FactorQuestion
          key={challenge}
          factors={factors}
          passkey={passkey}
          verb={say.submit}
          answer={send}
          cancel={cancel}
        />
      )}
    </section>
  )
}
