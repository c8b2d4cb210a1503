import { useSignal } from '@preact/signals'
import { Fingerprint, Smartphone } from 'lucide'
import type { Answer } from '../../../client/index.ts'
import { Enrolment } from '../../parts/access/enrolment.tsx'
import { FACTOR_DIALOG, LastingDialog, RecoveryCodes, stayOpen } from '../../parts/access/shown-once.tsx'
import { accessWords } from '../../parts/access/words.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm, Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { type Load, useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { hasPasskeys } from '../../wire/passkeys.ts'

type Factors = Answer<'GET /api/auth/factors'>
type Factor = Factors['factors'][number]

/** The user's second factors and recovery codes. */
export function SecondFactors() {
  const { factors: say, once } = accessWords()
  const load = useLoad((signal) => api('GET /api/auth/factors', { signal }))
  const adding = useSignal<'totp' | 'passkey'>()
  /** Whether the new factor is there, and its recovery codes are shown. */
  const showsCodes = useSignal(false)
  const close = () => {
    adding.value = undefined
    showsCodes.value = false
  }
  const stored = (withCodes: boolean) => {
    showsCodes.value = withCodes && adding.peek() !== undefined
    void load.reload()
  }
  return (
    <section aria-label={say.title} class="factors">
      <h2>{say.title}</h2>
      <p class="dim">{say.means}</p>
      <Loaded of={load} rows={2}>
        {(found) => (
          <>
            {found.factors.length === 0 ? (
              <p>
                <Status is="warn" hidden /> {say.none}
              </p>
            ) : (
              <ul class="list">
                {found.factors.map((factor) => (
                  <FactorRow key={factor.id} factor={factor} of={found} load={load} />
                ))}
              </ul>
            )}
            {found.factors.length > 0 && <Recovery left={found.recovery_codes_left} load={load} />}
          </>
        )}
      </Loaded>
      <div class="below deeds">
        <button
          type="button"
          class="button"
          onClick={() => {
            adding.value = 'totp'
          }}
        >
          <Icon of={Smartphone} />
          {say.addTotp}
        </button>
        {hasPasskeys() && (
          <button
            type="button"
            class="button"
            onClick={() => {
              adding.value = 'passkey'
            }}
          >
            <Icon of={Fingerprint} />
            {say.addPasskey}
          </button>
        )}
      </div>
      {adding.value && (
        <Dialog
          title={showsCodes.value ? once.codes : adding.value === 'totp' ? say.addTotp : say.addPasskey}
          onClose={() => (showsCodes.peek() ? stayOpen() : close())}
          class={FACTOR_DIALOG}
        >
          <Enrolment kind={adding.value} stored={stored} done={close} cancel={close} />
        </Dialog>
      )}
    </section>
  )
}

interface FactorRowProps {
  factor: Factor
  of: Factors
  load: Load<Factors>
}

function FactorRow({
  factor: { id, kind, name, created_at, last_used_at },
  of: { factors, required },
  load,
}: FactorRowProps) {
  const { factors: say, enrol } = accessWords()
  const told = enrol[kind]
  const isLast = factors.length === 1
  const remove = useAct(async () => {
    const text = isLast ? say.removeLastText : say.removeText
    if (!(await confirm({ title: say.removeTitle(name), text, verb: say.remove, danger: true }))) return
    await api('DELETE /api/auth/factors/{id}', { params: { id } })
    // The focused button disappears with the factor.
    document.querySelector<HTMLElement>('h1')?.focus()
    await load.reload()
  })
  return (
    <li>
      <Icon of={kind === 'totp' ? Smartphone : Fingerprint} />
      <div class="grow">
        <p class="cut-two" title={name}>
          {name}
        </p>
        <p class="dim">
          {!name.toLowerCase().startsWith(told.toLowerCase()) && <span>{told}. </span>}
          <Ago at={created_at} say={say.added} />,{' '}
          {last_used_at ? <Ago at={last_used_at} say={say.used} /> : say.neverUsed}
        </p>
        <Problem error={remove.error.value} />
      </div>
      <Action
        act={remove}
        class="small"
        label={say.removeOf(name)}
        blocked={isLast && required ? say.lastNeeded : undefined}
      >
        {say.remove}
      </Action>
    </li>
  )
}

function Recovery({ left, load }: { left: number; load: Load<Factors> }) {
  const say = accessWords().factors
  const codes = useSignal<readonly string[]>()
  const make = useAct(async () => {
    if (!(await confirm({ title: say.newCodesTitle, text: say.newCodesText, verb: say.makeCodes }))) return
    const { recovery_codes } = await api('POST /api/auth/factors/recovery')
    codes.value = recovery_codes
    void load.reload()
  })
  const done = () => {
    codes.value = undefined
  }
  return (
    <div class="recovery-left">
      <p class="grow">
        <Status is={left > 2 ? 'ok' : 'warn'} hidden /> {say.codesLeft(left)}
      </p>
      <Action act={make} class="small">
        {say.newCodes}
      </Action>
      <Problem error={make.error.value} />
      {codes.value && (
        <LastingDialog title={say.newCodesMade}>
          <RecoveryCodes codes={codes.value} done={done} />
        </LastingDialog>
      )}
    </div>
  )
}
