import { useSignal } from '@preact/signals'
import { FACTOR_DIALOG, KeepButtons, LastingDialog } from '../../parts/access/shown-once.tsx'
import { TokenRow } from '../../parts/access/token-row.tsx'
import { accessWords } from '../../parts/access/words.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { TokenForm } from './token-form.tsx'

/** The user's API tokens. */
export function Tokens() {
  const say = accessWords().tokens
  const load = useLoad((signal) => api('GET /api/auth/tokens', { signal }))
  const isMaking = useSignal(false)
  const made = useSignal<string>()
  const close = () => {
    isMaking.value = false
    made.value = undefined
  }
  return (
    <section aria-label={say.title}>
      <h2>{say.title}</h2>
      <p class="dim">{say.means}</p>
      <Loaded of={load} rows={2}>
        {(found) =>
          found.length === 0 ? (
            <p class="dim">{say.none}</p>
          ) : (
            <ul class="list tokens">
              {found.map((token) => (
                <TokenRow key={token.id} token={token} reload={load.reload} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <p class="below">
        <button
          type="button"
          class="button"
          onClick={() => {
            isMaking.value = true
          }}
        >
          {say.make}
        </button>
      </p>
      {isMaking.value && !made.value && (
        <Dialog title={say.make} onClose={close} class={FACTOR_DIALOG}>
          <TokenForm
            cancel={close}
            made={(token) => {
              made.value = token
              void load.reload()
            }}
          />
        </Dialog>
      )}
      {made.value && (
        <LastingDialog title={say.made}>
          <p>{say.madeText}</p>
          <p class="secret token mono">{made.value}</p>
          <KeepButtons text={made.value} />
          <div class="buttons">
            <button type="button" class="button primary" onClick={close}>
              {say.done}
            </button>
          </div>
        </LastingDialog>
      )}
    </section>
  )
}
