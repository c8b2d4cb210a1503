import { signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { ApiError } from '../../client/index.ts'
import { fieldErrors } from '../nouns/failure.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Choice } from '../parts/choice.tsx'
import { Field, focusWrong } from '../parts/field.tsx'
import { addLaterStyle } from '../parts/later-style.ts'
import { Problem } from '../parts/problem.tsx'
import { serviceKeyWords } from '../parts/service-key/words.ts'
import { toast } from '../parts/toast.tsx'
import { show } from '../preferences.ts'
import { go } from '../router.ts'
import { api } from '../wire/panel.ts'
import { language, words } from '../words/words.ts'
import { AccountKey, type ShownKey } from './setup/account-key.tsx'
import { Findings, type Found } from './setup/findings.tsx'
import { setupWords } from './setup/words.ts'
import css from '../style/later/setup.css' with { type: 'text' }

addLaterStyle(css)

const FIELDS = ['setup_token', 'ssh_host', 'ssh_username', 'ssh_password'] as const

const STEPS = 2

/** Reads the setup token from the address that the service printed, and removes it from the address bar. */
function tokenOfAddress(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (token) history.replaceState(null, '', location.pathname)
  return token
}

/** The panel was set up in the meantime, so nothing is left to do here. */
function leaveIfInstalled(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'already_installed') return
  toast(setupWords().already)
  go('/sign-in', { replace: true })
}

/** Sets the panel up: the connection, the host key, done. Typed values survive every error. */
export function SetupPage() {
  const say = setupWords()
  const { settings, errors } = words()
  const form = useRef<HTMLFormElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const given = useMemo(tokenOfAddress, [])
  const values = useMemo(
    () => ({
      setup_token: signal(given),
      ssh_host: signal(''),
      ssh_username: signal('root'),
      ssh_password: signal(''),
    }),
    [],
  )
  const hypervisor = useMemo(() => ({ hypervisor_url: signal(''), hypervisor_token: signal('') }), [])
  const by = useSignal<'password' | 'key'>('password')
  const key = useSignal<ShownKey>()
  const tried = useSignal(false)
  const found = useSignal<Found>()
  const typed = () => ({
    setup_token: values.setup_token.value.trim(),
    ssh_host: values.ssh_host.value.trim(),
    ssh_username: values.ssh_username.value.trim(),
    ssh_password: values.ssh_password.value,
    auth: by.value,
  })
  const isMissing = (name: (typeof FIELDS)[number]) =>
    !typed()[name] && !(name === 'ssh_password' && by.value === 'key')
  const check = useAct(async () => {
    tried.value = true
    if (FIELDS.some(isMissing)) return focusWrong(form.current)
    if (by.value === 'key' && !key.value) return form.current?.querySelector<HTMLElement>('.make-key')?.focus()
    try {
      found.value = await api('POST /api/install/check', { body: typed() })
    } catch (error) {
      focusWrong(form.current)
      leaveIfInstalled(error)
      throw error
    }
  })
  const install = useAct(async () => {
    const { hypervisor_url, hypervisor_token } = hypervisor
    const body = {
      ...typed(),
      ssh_host_key: found.value?.ssh_host_key ?? '',
      ...(hypervisor_url.value && { hypervisor_url: hypervisor_url.value.trim() }),
      ...(hypervisor_token.value && { hypervisor_token: hypervisor_token.value.trim() }),
    }
    try {
      await api('POST /api/install', { body })
    } catch (error) {
      leaveIfInstalled(error)
      throw error
    }
    toast(say.done)
    go('/sign-in', { replace: true })
  })
  const wrong = fieldErrors(check.error.value)
  const errorOf = (name: (typeof FIELDS)[number]) => {
    if (tried.value && isMissing(name)) return say.missing[name]
    if (!wrong[name]) return undefined
    return name === 'setup_token' ? errors.setup_token_wrong : settings.wrong[name]
  }
  const { wizard: byKey } = serviceKeyWords()
  const passwordHint = by.value === 'key' ? byKey.password_hint : undefined
  const field = (name: (typeof FIELDS)[number]) => (
    <Field
      name={name}
      label={say[name]}
      value={values[name]}
      type={name === 'ssh_password' ? 'password' : 'text'}
      mono={name === 'setup_token'}
      autoFocus={name === (given ? 'ssh_host' : 'setup_token')}
      hint={name === 'ssh_password' ? passwordHint : hintOf(name, given)}
      error={errorOf(name)}
    />
  )
  const at = found.value ? 2 : 1
  useEffect(() => {
    document.title = `${say.title} · ops-panel`
  }, [say.title])
  useLayoutEffect(() => {
    if (at === 2) heading.current?.focus()
  }, [at])
  const other = language() === 'fr' ? 'en' : 'fr'
  return (
    <div class="setup">
      <h1>{say.title}</h1>
      <p class="dim">{say.intro}</p>
      <h2 ref={heading} tabIndex={-1}>
        {say.step(at, STEPS, at === 1 ? say.stepHost : say.stepKey)}
      </h2>
      {found.value ? (
        <Findings
          found={found.value}
          hypervisor={hypervisor}
          install={install}
          back={() => {
            found.value = undefined
            install.forget()
          }}
        />
      ) : (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void check.run()
          }}
        >
          {field('setup_token')}
          {field('ssh_host')}
          {field('ssh_username')}
          <div class="field">
            <Choice
              label={byKey.by}
              value={by.value}
              of={{ password: byKey.password, key: byKey.key }}
              choose={(next) => {
                by.value = next
              }}
            />
          </div>
          {field('ssh_password')}
          {by.value === 'key' && (
            <AccountKey
              setupToken={values.setup_token}
              username={values.ssh_username}
              shown={key}
              isMissed={tried.value && !key.value}
              failed={leaveIfInstalled}
            />
          )}
          <Problem error={check.error.value} />
          <Action act={check} type="submit" class="primary">
            {say.check}
          </Action>
        </form>
      )}
      <button type="button" class="button plain other" lang={other} onClick={() => void show({ lang: other })}>
        {say.language}
      </button>
    </div>
  )
}

function hintOf(name: 'setup_token' | 'ssh_host' | 'ssh_username', given: string): string {
  const say = setupWords()
  return name === 'setup_token' && given ? say.tokenGiven : say[`${name}_hint`]
}
