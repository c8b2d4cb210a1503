import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../../../client/index.ts'
import { fieldErrors } from '../../nouns/failure.ts'
import { type Act, Action } from '../../parts/action.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { fromService, words } from '../../words/words.ts'
import { setupWords } from './words.ts'

export type Found = Answer<'POST /api/install/check'>

/** The checks that must pass; the others can be fixed later. */
const NEEDED = new Set(['reachable', 'authenticated'])

interface FindingsProps {
  found: Found
  hypervisor: { hypervisor_url: Signal<string>; hypervisor_token: Signal<string> }
  install: Act<[]>
  back(): void
}

/** The results of the host check: its key, which the user must compare, and the rights of the account. */
export function Findings({ found: { ssh_host_key: key, checks }, hypervisor, install, back }: FindingsProps) {
  const say = setupWords()
  const { settings } = words()
  const optional = useRef<HTMLDetailsElement>(null)
  const isMine = useSignal(false)
  const tried = useSignal(false)
  const wrong = fieldErrors(install.error.value)
  useEffect(() => {
    if (!optional.current || !(wrong.hypervisor_url || wrong.hypervisor_token)) return
    optional.current.open = true
    focusWrong(optional.current)
  }, [install.error.value])
  const canInstall = key !== '' && checks.every(({ id, ok }) => ok || !NEEDED.has(id))
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        tried.value = true
        if (isMine.value) void install.run()
      }}
    >
      {key ? (
        <section class="key" aria-label={say.question}>
          <h3>{say.question}</h3>
          <p class="mono fingerprint">{key}</p>
          <p class="dim">{say.compare}</p>
          <pre>for k in /etc/ssh/ssh_host_*_key.pub; do ssh-keygen -lf "$k"; done</pre>
          {canInstall && (
            <label class="mine">
              <input
                type="checkbox"
                checked={isMine.value}
                aria-invalid={tried.value && !isMine.value}
                onChange={({ currentTarget }) => {
                  isMine.value = currentTarget.checked
                }}
              />
              {say.mine}
            </label>
          )}
          {tried.value && !isMine.value && (
            <p class="wrong" role="alert">
              {say.confirmFirst}
            </p>
          )}
        </section>
      ) : (
        <p role="alert">{say.noKey}</p>
      )}
      <section aria-label={say.checks}>
        <h3>{say.checks}</h3>
        <ul class="list">
          {checks.map(({ id, ok, message }, n) => (
            <li key={id}>
              {checks.slice(0, n).some((before) => !before.ok && NEEDED.has(before.id)) ? (
                <Status is="unknown" hidden>
                  {say.skipped}
                </Status>
              ) : (
                <Status is={ok ? 'ok' : NEEDED.has(id) ? 'err' : 'warn'} hidden>
                  {ok ? say.passed : say.failed}
                </Status>
              )}
              <div class="grow">
                <p>{say[`check_${id}`]}</p>
                <p class="dim">{fromService(message)}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>
      {canInstall && (
        <details ref={optional}>
          <summary>{say.hypervisor}</summary>
          <p class="dim">{say.hypervisor_note}</p>
          <Field
            name="hypervisor_url"
            label={say.hypervisor_url}
            value={hypervisor.hypervisor_url}
            error={wrong.hypervisor_url && settings.wrong.hypervisor_url}
          />
          <Field
            name="hypervisor_token"
            label={say.hypervisor_token}
            value={hypervisor.hypervisor_token}
            type="password"
            error={wrong.hypervisor_token && settings.wrong.hypervisor_token}
          />
        </details>
      )}
      <Problem error={install.error.value} />
      <div class="buttons">
        <button type="button" class="button" onClick={back}>
          {say.back}
        </button>
        {canInstall && (
          <Action act={install} type="submit" class="primary">
            {say.install}
          </Action>
        )}
      </div>
    </form>
  )
}
