import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Action, useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { KeyLine } from '../../parts/service-key/key-line.tsx'
import { serviceKeyWords } from '../../parts/service-key/words.ts'
import { Status } from '../../parts/status.tsx'
import { api } from '../../wire/panel.ts'
import { fromService } from '../../words/words.ts'
import type { Settings } from './agreement.tsx'

interface ServiceKeyProps {
  known: Settings
  onSaved(): Promise<void>
}

/** How the service account signs in on the host: its key, a change of it up to the host's consent, and keys left behind. */
export function ServiceKey({ known, onSaved }: ServiceKeyProps) {
  const say = serviceKeyWords()
  const { ssh_key_set, ssh_key_next_set, ssh_password_set } = known
  const drops = useSignal(false)
  const told = useSignal('')
  const isForgotten = useSignal(false)
  const result = useRef<HTMLParagraphElement>(null)
  const rotate = useAct(async (confirmed: boolean) => {
    told.value = ''
    isForgotten.value = false
    try {
      const body = { ...(confirmed && { confirmed }), ...(drops.peek() && { drop_password: true }) }
      const { state, message } = await api('POST /api/settings/ssh-key/rotate', { body })
      told.value = message
      if (state === 'rotated') {
        isForgotten.value = body.drop_password === true && ssh_password_set
        drops.value = false
      }
    } finally {
      // A failure may have left a waiting key, too.
      await onSaved()
    }
  })
  // The button that was pressed may be gone.
  useLayoutEffect(() => {
    if (told.value !== '') result.current?.focus()
  }, [told.value])
  const start = { ...rotate, run: () => rotate.run(false) }
  const confirm = { ...rotate, run: () => rotate.run(true) }
  const retired = known.ssh_key_retired.split('\n').filter((key) => key !== '')
  return (
    <section class="service-key" aria-label={say.title}>
      <h2>{say.title}</h2>
      <p class="dim">{say.note}</p>
      <dl class="facts">
        <dt>{say.by}</dt>
        <dd>{ssh_key_set ? (ssh_password_set ? say.byBoth : say.byKey) : say.byPassword}</dd>
      </dl>
      {ssh_key_set && (
        <>
          <KeyLine label={say.publicKey} text={known.ssh_public_key} />
          <KeyLine label={say.line} text={known.ssh_authorized_key} />
          <p class="hint dim">{say.lineKept}</p>
        </>
      )}
      {ssh_key_next_set && (
        <div>
          <h3>
            <Status is="warn" hidden /> {say.waiting}
          </h3>
          <p class="dim">{say.waitingText}</p>
          <KeyLine label={say.line} text={known.ssh_next_authorized_key} />
        </div>
      )}
      {retired.length > 0 && (
        <div>
          <h3>
            <Status is="warn" hidden /> {say.retired}
          </h3>
          <p class="dim">{say.retiredText}</p>
          {retired.map((key) => (
            <KeyLine key={key} label={say.publicKey} text={key} />
          ))}
        </div>
      )}
      <p class="told" role="status" ref={result} tabIndex={-1}>
        {fromService(told.value)} {isForgotten.value && say.forgotten}
      </p>
      {ssh_password_set && (
        <>
          <label class="drop">
            <input
              type="checkbox"
              checked={drops.value}
              onChange={({ currentTarget }) => {
                drops.value = currentTarget.checked
              }}
            />
            {say.drop}
          </label>
          <p class="hint dim">{say.dropHint}</p>
        </>
      )}
      <Problem error={rotate.error.value} />
      <div class="buttons">
        {ssh_key_next_set && (
          <Action act={confirm} class="primary">
            {say.confirm}
          </Action>
        )}
        <Action act={start}>{ssh_key_next_set ? say.again : ssh_key_set ? say.rotate : say.make}</Action>
      </div>
    </section>
  )
}
