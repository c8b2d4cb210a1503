import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ApiError } from '../../../client/index.ts'
import { useLoad } from '../../wire/load.ts'
import { api, confirmBy } from '../../wire/panel.ts'
import { endConfirmation } from '../../wire/step-up.ts'
import { words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { Dialog } from '../dialog.tsx'
import { Field, focusWrong } from '../field.tsx'
import { Loaded } from '../loaded.tsx'
import { type FactorAnswer, FactorQuestion } from './factor-question.tsx'
import { FactorProblem } from './factor-problem.tsx'
import { PromptsQuestion } from './prompts-question.tsx'
import { accessWords } from './words.ts'

type Proof = { password?: string } | { answers: string[] } | FactorAnswer

/** Asks who the user is, over whatever they were doing; what waits for it then goes on, and what they have typed stays. */
export function StepUp() {
  const say = accessWords().stepUp
  /** The question of the service: for a factor, or the host’s own besides the password. */
  const asked = useSignal<ApiError>()
  const prove = (proof: Proof) => {
    const body = { challenge: asked.peek()?.challenge ?? '', ...proof }
    return confirmBy(() => api('POST /api/auth/step-up', { body })).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.challenge === undefined) throw error
      asked.value = error
    })
  }
  const load = useLoad(async (signal) => {
    const { factors } = await api('GET /api/auth/factors', { signal })
    // Without a proof, the service asks for a factor of the user.
    if (factors.length > 0) await prove({})
    return factors.length === 0
  })
  const cancel = () => endConfirmation(false)
  const again = () => {
    asked.value = undefined
    void load.reload()
  }
  const { prompts, factors = [], passkey } = asked.value ?? {}
  return (
    <Dialog title={say.title} onClose={cancel} class="question step-up">
      <p class="text">{say.why}</p>
      {asked.value === undefined ? (
        <Loaded of={load} rows={2}>
          {(isByPassword) => isByPassword && <PasswordQuestion prove={prove} cancel={cancel} />}
        </Loaded>
      ) : prompts ? (
        <PromptsQuestion key={asked.value} prompts={prompts} answer={(answers) => prove({ answers })} cancel={again} />
      ) : (
        <FactorQuestion
          key={asked.value}
          factors={factors}
          passkey={passkey}
          verb={say.confirm}
          answer={prove}
          cancel={cancel}
          again={again}
        />
      )}
    </Dialog>
  )
}

interface PasswordQuestionProps {
  prove(proof: Proof): Promise<void>
  cancel(): void
}

/** The answers to people who have signed in by a provider, and have no password on the host. */
const NO_PASSWORD: ReadonlySet<string> = new Set(['proof_wrong', 'passwords_not_taken'])

function PasswordQuestion({ prove, cancel }: PasswordQuestionProps) {
  const { shell } = words()
  const { stepUp: say } = accessWords()
  const password = useSignal('')
  const tried = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const act = useAct(async () => {
    tried.value = true
    if (!password.value) return focusWrong(form.current)
    await prove({ password: password.value })
  })
  const error = act.error.value
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      <Field
        label={shell.ownPassword}
        name="password"
        type="password"
        value={password}
        autoComplete="current-password"
        autoFocus
        required
        error={tried.value && !password.value ? say.passwordMissing : undefined}
      />
      <FactorProblem error={error} />
      {error instanceof ApiError && NO_PASSWORD.has(error.code) && <p class="hint dim">{say.noPassword}</p>}
      <div class="buttons">
        <button type="button" class="button" onClick={cancel}>
          {shell.cancel}
        </button>
        <Action act={act} type="submit" class="primary">
          {say.confirm}
        </Action>
      </div>
    </form>
  )
}
