import { useSignal } from '@preact/signals'
import { Fingerprint, Smartphone } from 'lucide'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { hasPasskeys } from '../../wire/passkeys.ts'
import { Icon } from '../icon.tsx'
import { AddPasskey } from './add-passkey.tsx'
import { AddTotp } from './add-totp.tsx'
import { RecoveryCodes } from './shown-once.tsx'
import { accessWords } from './words.ts'

interface EnrolmentProps {
  /** The kind that was chosen before; otherwise it is asked for. */
  kind?: 'totp' | 'passkey'
  done(): void
  /** Called instead of going back to the choice of a kind. */
  cancel?(): void
  /** Called as soon as the service has stored the factor; whether recovery codes are now shown, which are not kept yet. */
  stored?(showsCodes: boolean): void
}

/** Adds a factor, and shows the recovery codes that come with the first one. */
export function Enrolment({ kind, done, cancel, stored }: EnrolmentProps) {
  const say = accessWords().enrol
  const chosen = useSignal<'totp' | 'passkey' | undefined>(kind)
  const codes = useSignal<readonly string[]>()
  const left = useRef<'totp' | 'passkey' | undefined>(undefined)
  const kinds = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    // The form that was cancelled is gone, and the focus with it.
    if (!chosen.value && left.current) kinds.current?.querySelector<HTMLElement>(`.${left.current}`)?.focus()
  }, [chosen.value])
  const added = (given: readonly string[] | undefined) => {
    stored?.(given !== undefined)
    if (!given) return done()
    codes.value = given
  }
  const back =
    cancel ??
    (() => {
      left.current = chosen.peek()
      chosen.value = undefined
    })
  if (codes.value) return <RecoveryCodes codes={codes.value} done={done} />
  if (chosen.value === 'totp') return <AddTotp added={added} cancel={back} />
  if (chosen.value === 'passkey') return <AddPasskey added={added} cancel={back} />
  const canPasskey = hasPasskeys()
  return (
    <ul class="kinds" ref={kinds}>
      <li>
        <button
          type="button"
          class="button totp"
          onClick={() => {
            chosen.value = 'totp'
          }}
        >
          <Icon of={Smartphone} />
          {say.totp}
        </button>
        <p class="dim">{say.totpMeans}</p>
      </li>
      <li>
        <button
          type="button"
          class="button passkey"
          aria-disabled={!canPasskey}
          title={canPasskey ? undefined : say.noPasskeys}
          onClick={() => {
            if (canPasskey) chosen.value = 'passkey'
          }}
        >
          <Icon of={Fingerprint} />
          {say.passkey}
        </button>
        <p class="dim">{canPasskey ? say.passkeyMeans : say.noPasskeys}</p>
      </li>
    </ul>
  )
}
