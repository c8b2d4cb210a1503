import { useSignal } from '@preact/signals'
import { Eye, EyeOff } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../client/index.ts'
import { Action, useAct } from '../parts/action.tsx'
import { useCountdown } from '../parts/countdown.ts'
import { Field, focusWrong } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Problem } from '../parts/problem.tsx'
import { show } from '../preferences.ts'
import { asksMore, ending, panel } from '../wire/panel.ts'
import { language, words } from '../words/words.ts'
import { chosen, enter } from './sign-in/enter.ts'

/** Most sign-ins take a password alone. */
const SignInSteps = lazy(async () => (await import('./sign-in/steps.tsx')).SignInSteps)
const OtherWays = lazy(async () => (await import('./sign-in/other-ways.tsx')).OtherWays)

/** Signs in with host credentials, then returns to the page that was asked for. */
export function SignInPage() {
  const { signIn: say, shell } = words()
  const username = useSignal('')
  const password = useSignal('')
  const [tried, setTried] = useState(false)
  const [seen, setSeen] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const why = ending.value
  const other = language() === 'fr' ? 'en' : 'fr'
  const act = useAct(async () => {
    setTried(true)
    if (!username.value || !password.value) return focusWrong(form.current)
    await enter(() => panel.signIn(username.value, password.value))
    password.value = ''
    setTried(false)
  })
  const error = act.error.value
  const wait = useCountdown(error instanceof ApiError ? (error.retryAfter ?? 0) : 0, error)
  useEffect(() => {
    document.title = shell.titleOf(say.title, shell.product)
  }, [say.title])
  return (
    <div class="sign-in">
      <h1>{shell.product}</h1>
      <p class="dim">{say.with}</p>
      {why && !asksMore.value && (
        <p class="notice" role="status">
          {say[why]}
        </p>
      )}
      {asksMore.value ? (
        <SignInSteps />
      ) : (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            if (wait === 0) void act.run()
          }}
        >
          <Field
            label={say.username}
            name="username"
            value={username}
            autoComplete="username"
            autoFocus={!username.peek()}
            required
            error={tried && !username.value ? say.usernameMissing : undefined}
          />
          <Field
            label={say.password}
            name="password"
            type={seen ? 'text' : 'password'}
            value={password}
            autoComplete="current-password"
            autoFocus={username.peek() !== ''}
            required
            error={tried && !password.value ? say.passwordMissing : undefined}
          >
            <button
              type="button"
              class="button plain"
              aria-pressed={seen}
              aria-label={say.showPassword}
              onClick={() => setSeen(!seen)}
            >
              <Icon of={seen ? EyeOff : Eye} />
            </button>
          </Field>
          <Problem error={error} />
          {wait > 0 && <p class="dim num">{say.again(wait)}</p>}
          <Action act={act} type="submit" class="primary">
            {say.submit}
          </Action>
        </form>
      )}
      {!asksMore.value && <OtherWays />}
      <button
        type="button"
        class="button plain"
        lang={other}
        onClick={() => {
          chosen.value = other
          void show({ lang: other })
        }}
      >
        {shell.otherLanguage}
      </button>
    </div>
  )
}
