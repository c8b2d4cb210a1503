import type { Signal } from '@preact/signals'
import type { Answer } from '../../../client/index.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { KeyLine } from '../../parts/service-key/key-line.tsx'
import { serviceKeyWords } from '../../parts/service-key/words.ts'
import { api } from '../../wire/panel.ts'
import { fromService } from '../../words/words.ts'

export type ShownKey = Answer<'POST /api/install/key'>

interface AccountKeyProps {
  setupToken: Signal<string>
  username: Signal<string>
  shown: Signal<ShownKey | undefined>
  /** Whether the host was to be checked before the line was shown. */
  isMissed: boolean
  /** Called with an error of the service. */
  failed(error: unknown): void
}

/** The key that the service makes for its account: the line to add on the host, with the meaning of its options. */
export function AccountKey({ setupToken, username, shown, isMissed, failed }: AccountKeyProps) {
  const words = serviceKeyWords()
  const say = words.wizard
  const make = useAct(async () => {
    try {
      shown.value = await api('POST /api/install/key', { body: { setup_token: setupToken.value.trim() } })
    } catch (error) {
      failed(error)
      throw error
    }
  })
  return (
    <section class="by-key" aria-label={say.key}>
      <p class="dim">{say.note}</p>
      {shown.value ? (
        <>
          <p>{say.where(username.value.trim())}</p>
          <KeyLine label={words.line} text={shown.value.authorized_key} />
          <h3>{say.parts}</h3>
          <dl class="key-parts">
            {shown.value.parts.map(({ text, message, optional }) => (
              <div key={text}>
                <dt>
                  <code class="mono">{fromService(text)}</code>
                  {optional && <span class="dim"> ({say.optional})</span>}
                </dt>
                <dd class="dim">{fromService(message)}</dd>
              </div>
            ))}
          </dl>
        </>
      ) : (
        <>
          {isMissed && (
            <p class="wrong" role="alert">
              {say.makeFirst}
            </p>
          )}
          <Problem error={make.error.value} />
          <p>
            <Action act={make} class="make-key">
              {say.make}
            </Action>
          </p>
        </>
      )}
    </section>
  )
}
