import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { toast } from '../../parts/toast.tsx'
import { readChecks } from '../../wire/checks.ts'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import type { Settings } from './agreement.tsx'
import { Section } from './section.tsx'

interface ChecksFormProps {
  known: Settings
  /** Called when the section gets or loses unsaved changes. */
  mark(isUnsaved: boolean): void
  onSaved(): Promise<void>
}

/** Whether checks start by themselves, and how many targets are checked at a time. */
export function ChecksForm({ known, mark, onSaved }: ChecksFormProps) {
  const say = words().settings
  const form = useRef<HTMLFormElement>(null)
  const automatic = useSignal(automaticOf(known))
  const parallel = useSignal(known.checks_parallel)
  const shown = useRef(known)
  useEffect(() => {
    // When another section was saved, the values chosen here stay.
    if (automatic.peek() === automaticOf(shown.current)) automatic.value = automaticOf(known)
    if (parallel.peek() === shown.current.checks_parallel) parallel.value = known.checks_parallel
    shown.current = known
  }, [known])
  const body = {
    ...(automatic.value !== automaticOf(known) && { checks_automatic: automatic.value }),
    ...(parallel.value !== known.checks_parallel && { checks_parallel: parallel.value.trim() }),
  }
  const isUnsaved = Object.keys(body).length > 0
  const save = useAct(async () => {
    if (!isUnsaved) return toast(say.unchanged)
    try {
      await api('PATCH /api/settings', { body })
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    // The service stores the number without the spaces around it.
    if (body.checks_parallel !== undefined) parallel.value = body.checks_parallel
    shown.current = { ...shown.current, ...body }
    toast(say.checksSaved)
    // The panel learns at once whether it may start checks by itself.
    await Promise.all([onSaved(), readChecks()])
  })
  const wrong = fieldErrors(save.error.value)
  return (
    <Section title={say.checks} note={say.checksNote} form={form} save={save} isUnsaved={isUnsaved} mark={mark}>
      <div class="field">
        <Choice
          label={say.checks_automatic}
          value={automatic.value}
          of={{ on: say.on, off: say.off }}
          choose={(next) => {
            automatic.value = next
          }}
        />
        <p class="hint dim">{say.checks_automatic_hint}</p>
      </div>
      <Field
        name="checks_parallel"
        label={say.checks_parallel}
        value={parallel}
        hint={say.checks_parallel_hint}
        error={wrong.checks_parallel && say.wrong.checks_parallel}
      />
    </Section>
  )
}

function automaticOf({ checks_automatic }: Settings): 'on' | 'off' {
  return checks_automatic === 'off' ? 'off' : 'on'
}
