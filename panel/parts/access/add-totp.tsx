import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ApiError } from '../../../client/index.ts'
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
  const { totp: say, question } = accessWords()
  const code = useSignal('')
  const tried = useSignal(false)
  /** Whether an earlier code was shown, which perhaps is in the app already. */
  const isAnother = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const load = useLoad(async (signal) => {
    const { factors } = await api('GET /api/auth/factors', { signal })
    const name = freeName(say.name, new Set(factors.map((factor) => factor.name)))
    return api('POST /api/auth/factors/totp', { body: { name }, signal })
  })
  const empty = () => {
    code.value = ''
    tried.value = false
    form.current?.querySelector('input')?.focus()
  }
  const act = useAct(async () => {
    tried.value = true
    const challenge = load.data.value?.challenge
    if (!code.value.trim() || challenge === undefined) return focusWrong(form.current)
    const body = { challenge, code: code.value }
    const { recovery_codes } = await api('POST /api/auth/factors/totp/confirm', { body }).catch((error: unknown) => {
      // A wrong code is wrong for good.
      if (error instanceof ApiError && error.code === 'factor_wrong') empty()
      throw error
    })
    added(recovery_codes)
  })
  const error = act.error.value
  const isOver = error instanceof ApiError && error.code === 'challenge_over'
  const again = () => {
    act.forget()
    empty()
    isAnother.value = true
    void load.reload()
  }
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
            <p>{isAnother.value ? say.scanAnother : say.scan}</p>
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
      <FactorProblem error={error} wrong={say.wrong} />
      <div class="buttons">
        <button type="button" class="button" onClick={cancel}>
          {say.cancel}
        </button>
        {isOver ? (
          <button type="button" class="button primary" onClick={again}>
            {question.again}
          </button>
        ) : (
          <Action act={act} type="submit" class="primary">
            {say.add}
          </Action>
        )}
      </div>
    </form>
  )
}

/** A name that none of the user's factors has, so that the list tells two apps apart. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let n = 2; taken.has(free); n += 1) free = `${name} ${n}`
  return free
}
