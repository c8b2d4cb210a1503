import { useSignal } from '@preact/signals'
import { Eye, EyeOff } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../client/index.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Field, focusWrong } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { prefer, show, shown } from '../preferences.ts'
import { ending, signIn } from '../wire/panel.ts'
import { language, words } from '../words/words.ts'

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
  /** The language that the user chose on this page. */
  const chosen = useRef<'fr' | 'en'>(undefined)
  const act = useAct(async () => {
    setTried(true)
    if (!username.value || !password.value) return focusWrong(form.current)
    await signIn(username.value, password.value, shown())
    if (chosen.current) await prefer({ lang: chosen.current })
  })
  const wait = useCountdown(act.error.value)
  useEffect(() => {
    document.title = shell.titleOf(say.title, shell.product)
  }, [say.title])
  return (
    <div class="sign-in">
      <h1>{shell.product}</h1>
      <p class="dim">{say.with}</p>
      {why && (
        <p class="notice" role="status">
          {say[why]}
        </p>
      )}
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
          autoFocus
          required
          error={tried && !username.value ? say.usernameMissing : undefined}
        />
        <Field
          label={say.password}
          name="password"
          type={seen ? 'text' : 'password'}
          value={password}
          autoComplete="current-password"
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
        <Problem error={act.error.value} />
        {wait > 0 && <p class="dim num">{say.again(wait)}</p>}
        <Action act={act} type="submit" class="primary">
          {say.submit}
        </Action>
      </form>
      <button
        type="button"
        class="button plain"
        lang={other}
        onClick={() => {
          chosen.current = other
          void show({ lang: other })
        }}
      >
        {shell.otherLanguage}
      </button>
    </div>
  )
}

/** Counts down the seconds until the next attempt is allowed. */
function useCountdown(error: unknown): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const seconds = error instanceof ApiError ? (error.retryAfter ?? 0) : 0
    setLeft(seconds)
    if (seconds === 0) return
    const until = performance.now() + seconds * 1000
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((until - performance.now()) / 1000))
      setLeft(rest)
      if (rest === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [error])
  return left
}
