import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { deviceOf } from '../nouns/device.ts'
import { FactorProblem } from '../parts/access/factor-problem.tsx'
import { RecoveryCodes } from '../parts/access/shown-once.tsx'
import { accessWords } from '../parts/access/words.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Field, focusWrong } from '../parts/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useLoad } from '../wire/load.ts'
import { api } from '../wire/panel.ts'
import { hasPasskeys, makePasskey } from '../wire/passkeys.ts'
import { words } from '../words/words.ts'

/** Reads the code from the address that the console printed, and removes it from the address bar. */
function codeOfAddress(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? ''
  if (code) history.replaceState(null, '', location.pathname)
  return code
}

/** Creates a passkey with a link from the console, for people whom the host knows without a password. */
export function EnrolPage() {
  const { shell } = words()
  const { link: say, once } = accessWords()
  const showsCodes = useSignal(false)
  const title = showsCodes.value ? once.codes : say.title
  const code = useMemo(codeOfAddress, [])
  useEffect(() => {
    document.title = shell.titleOf(title, shell.product)
  }, [title])
  return (
    <div class="sign-in enrol">
      <h1 tabIndex={-1}>{title}</h1>
      {code === '' ? (
        <p>{say.missing}</p>
      ) : hasPasskeys() ? (
        <Creation code={code} showsCodes={showsCodes} />
      ) : (
        <p>{say.noPasskeys}</p>
      )}
      <p>
        <a href="/sign-in">{say.toSignIn}</a>
      </p>
    </div>
  )
}

function Creation({ code, showsCodes }: { code: string; showsCodes: Signal<boolean> }) {
  const { link: say, passkey } = accessWords()
  const { browser, system } = deviceOf(navigator.userAgent)
  const name = useSignal([system, browser].filter(Boolean).join(', '))
  const tried = useSignal(false)
  const made = useSignal<{ username: string; codes: readonly string[] | undefined }>()
  const form = useRef<HTMLFormElement>(null)
  const load = useLoad((signal) => api('POST /api/auth/enrol/options', { body: { code }, signal }))
  const act = useAct(async () => {
    tried.value = true
    const options = load.data.value?.options
    if (!name.value.trim() || !options) return focusWrong(form.current)
    const response = await makePasskey(options)
    const body = { code, name: name.value.trim(), response }
    const { username, recovery_codes } = await api('POST /api/auth/enrol', { body })
    made.value = { username, codes: recovery_codes }
    showsCodes.value = recovery_codes !== undefined
  })
  if (made.value?.codes)
    return (
      <RecoveryCodes
        codes={made.value.codes}
        done={() => {
          if (made.value) made.value = { ...made.value, codes: undefined }
          showsCodes.value = false
        }}
      />
    )
  if (made.value) return <p role="status">{say.done(made.value.username)}</p>
  return (
    <Loaded of={load} rows={2}>
      {({ username }) => (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void act.run()
          }}
        >
          <p>{say.forWhom(username)}</p>
          <Field
            label={passkey.name}
            name="name"
            value={name}
            hint={passkey.nameHint}
            autoFocus
            required
            error={tried.value && !name.value.trim() ? passkey.missing : undefined}
          />
          <FactorProblem error={act.error.value} />
          <Action act={act} type="submit" class="primary">
            {passkey.add}
          </Action>
        </form>
      )}
    </Loaded>
  )
}
