import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { deviceOf } from '../../nouns/device.ts'
import { api } from '../../wire/panel.ts'
import { makePasskey } from '../../wire/passkeys.ts'
import { Action, useAct } from '../action.tsx'
import { Field, focusWrong } from '../field.tsx'
import { FactorProblem } from './factor-problem.tsx'
import { accessWords } from './words.ts'

interface AddProps {
  /** Called with the recovery codes that come with the first factor. */
  added(codes: readonly string[] | undefined): void
  cancel(): void
}

/** Adds a passkey under a name that its owner knows it by. */
export function AddPasskey({ added, cancel }: AddProps) {
  const say = accessWords().passkey
  const { browser, system } = deviceOf(navigator.userAgent)
  const name = useSignal([system, browser].filter(Boolean).join(', '))
  const tried = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const left = useRef(new AbortController())
  useEffect(() => () => left.current.abort(), [])
  const act = useAct(async () => {
    tried.value = true
    if (!name.value.trim()) return focusWrong(form.current)
    const { challenge, options } = await api('POST /api/auth/factors/passkeys/options')
    const response = await makePasskey(options, left.current.signal)
    const body = { challenge, name: name.value.trim(), response }
    const { recovery_codes } = await api('POST /api/auth/factors/passkeys', { body })
    added(recovery_codes)
  })
  return (
    <form
      ref={form}
      class="add-factor"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      <p>{say.explain}</p>
      <Field
        label={say.name}
        name="name"
        value={name}
        hint={say.nameHint}
        autoFocus
        required
        error={tried.value && !name.value.trim() ? say.missing : undefined}
      />
      <FactorProblem error={act.error.value} />
      <div class="buttons">
        <button type="button" class="button" onClick={cancel}>
          {say.cancel}
        </button>
        <Action act={act} type="submit" class="primary">
          {say.add}
        </Action>
      </div>
    </form>
  )
}
