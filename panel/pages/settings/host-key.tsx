import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/words.ts'
import { type Settings, storeProven } from './agreement.tsx'

interface HostKeyProps {
  known: Settings
  /** Called when the section gets or loses unsaved changes. */
  mark(isUnsaved: boolean): void
  onSaved(): Promise<void>
}

/** The accepted key of the host, which keeps other machines out. Changing it needs the host's name and the user's password. */
export function HostKey({ known, mark, onSaved }: HostKeyProps) {
  const say = words().settings
  const form = useRef<HTMLFormElement>(null)
  const next = useSignal('')
  const tried = useSignal(false)
  const { ssh_host, ssh_host_key } = known
  const isTyped = next.value !== ''
  useEffect(() => {
    mark(isTyped)
  }, [isTyped])
  const change = useAct(async () => {
    const key = next.value.trim()
    tried.value = true
    if (!key) return focusWrong(form.current)
    const asked = {
      title: say.keyTitle,
      text: say.keyText(ssh_host_key, key),
      verb: say.keyChange,
      danger: true,
      typed: ssh_host,
    }
    try {
      if (!(await storeProven(known, { ssh_host_key: key }, asked))) return
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    next.value = ''
    tried.value = false
    toast(say.keyChanged)
    await onSaved()
  })
  const wrong = fieldErrors(change.error.value).ssh_host_key || (tried.value && !isTyped)
  return (
    <section aria-label={say.key}>
      <h2>{say.key}</h2>
      <p class="dim">{say.keyNote}</p>
      <p class="mono key">{ssh_host_key || say.keyNone}</p>
      {ssh_host_key && (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void change.run()
          }}
        >
          <Field
            name="ssh_host_key"
            label={say.keyNew}
            value={next}
            hint={say.keyNewHint}
            placeholder="SHA256:…"
            mono
            error={wrong ? say.wrong.ssh_host_key : undefined}
          />
          <Problem error={change.error.value} />
          <Action act={change} type="submit">
            {say.keyChange}
          </Action>
        </form>
      )}
    </section>
  )
}
