import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { Action, useAct } from '../action.tsx'
import { Field, focusWrong } from '../field.tsx'
import { Loaded } from '../loaded.tsx'
import { FactorProblem } from './factor-problem.tsx'
import { Qr } from './qr.tsx'
import { KeepButtons } from './shown-once.tsx'
import { accessWords } from './words.ts'

interface AddProps {
  /** Called with the recovery codes that come with the first factor. */
  added(codes: readonly string[] | undefined): void
  cancel(): void
}

/** Adds an authenticator app: its secret as a QR code and in letters, then a code of it. */
export function AddTotp({ added, cancel }: AddProps) {
  const say = accessWords().totp
  const code = useSignal('')
  const tried = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const load = useLoad((signal) => api('POST /api/auth/factors/totp', { body: { name: say.name }, signal }))
  const act = useAct(async () => {
    tried.value = true
    const challenge = load.data.value?.challenge
    if (!code.value.trim() || challenge === undefined) return focusWrong(form.current)
    const { recovery_codes } = await api('POST /api/auth/factors/totp/confirm', {
      body: { challenge, code: code.value },
    })
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
      <Loaded of={load} rows={4}>
        {({ secret, uri }) => (
          <>
            <p>{say.scan}</p>
            <Qr text={uri} />
            <details>
              <summary>{say.byHand}</summary>
              <p class="secret mono">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</p>
              <KeepButtons text={secret} />
              <p>
                <a href={uri}>{say.here}</a>
              </p>
            </details>
            <Field
              label={say.code}
              name="code"
              value={code}
              autoComplete="one-time-code"
              inputMode="numeric"
              autoFocus
              required
              mono
              error={tried.value && !code.value.trim() ? say.missing : undefined}
            />
          </>
        )}
      </Loaded>
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
