import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { useAct } from '../../parts/action.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/words.ts'
import { type Settings, storeAgreed } from './agreement.tsx'
import { Section } from './section.tsx'

const SECRETS = { ssh_password: 'ssh_password_set', hypervisor_token: 'hypervisor_token_set' } as const
type Secret = keyof typeof SECRETS
type Plain = 'ssh_host' | 'ssh_username' | 'hypervisor_url' | 'hypervisor_fingerprint'
type Name = Plain | Secret

interface SettingsFormProps {
  title: string
  note: string
  known: Settings
  fields: readonly Name[]
  /** Called when the section gets or loses unsaved changes. */
  mark(isUnsaved: boolean): void
  onSaved(): Promise<void>
}

/** A section of the settings. Saving stores its changed fields, all or none. An empty secret keeps its stored value. */
export function SettingsForm({ title, note, known, fields, mark, onSaved }: SettingsFormProps) {
  const say = words().settings
  const form = useRef<HTMLFormElement>(null)
  const values = useMemo(() => fields.map((name) => ({ name, value: signal(storedOf(known, name)) })), [])
  const shown = useRef(known)
  useEffect(() => {
    // When another section was saved, the values typed here stay.
    for (const { name, value } of values)
      if (value.peek() === storedOf(shown.current, name)) value.value = storedOf(known, name)
    shown.current = known
  }, [known])
  const changed = values.filter(({ name, value }) => value.value !== storedOf(known, name))
  const save = useAct(async () => {
    if (changed.length === 0) return toast(say.unchanged)
    const body = Object.fromEntries(changed.map(({ name, value }) => [name, value.value]))
    try {
      if (!(await storeAgreed(known, body))) return
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    for (const { name, value } of changed) {
      if (isSecret(name) && value.value === body[name]) value.value = ''
      // A value typed before the settings are read again is kept, also the one from before this change.
      if (!isSecret(name)) shown.current = { ...shown.current, [name]: body[name] ?? '' }
    }
    toast(say.saved)
    await onSaved()
  })
  const wrong = fieldErrors(save.error.value)
  return (
    <Section title={title} note={note} form={form} save={save} isUnsaved={changed.length > 0} mark={mark}>
      {values.map(({ name, value }) => (
        <Field
          key={name}
          name={name}
          label={say[name]}
          value={value}
          type={isSecret(name) ? 'password' : 'text'}
          autoComplete={isSecret(name) ? 'new-password' : 'off'}
          mono={name === 'hypervisor_fingerprint'}
          hint={hintOf(name, known)}
          error={wrong[name] && say.wrong[name]}
        />
      ))}
    </Section>
  )
}

function isSecret(name: Name): name is Secret {
  return name in SECRETS
}

function storedOf(known: Settings, name: Name): string {
  return isSecret(name) ? '' : known[name]
}

function hintOf(name: Name, known: Settings): string | undefined {
  const say = words().settings
  if (isSecret(name)) {
    const stored = known[SECRETS[name]] ? say.secretSet : say.secretUnset
    return name === 'hypervisor_token' ? `${say.hypervisor_token_hint} ${stored}` : stored
  }
  if (name === 'ssh_username') return undefined
  return say[`${name}_hint`]
}
