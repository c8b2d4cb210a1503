import { signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { toast } from '../../parts/toast.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { type Settings, storeAgreed, trustsForge } from './agreement.tsx'
import { type ForgeReport, ForgeResults } from './forge-report.tsx'
import { forgeWords } from './forge-words.ts'
import { Section } from './section.tsx'

const FIELDS = ['forge_url', 'forge_org', 'forge_token', 'forge_fingerprint'] as const
type Name = (typeof FIELDS)[number]

interface ForgeFormProps {
  known: Settings
  /** Called when the section gets or loses unsaved changes. */
  mark(isUnsaved: boolean): void
  onSaved(): Promise<void>
}

/** The forge that offers modules: its settings, and a test of them that needs no saving first. */
export function ForgeForm({ known, mark, onSaved }: ForgeFormProps) {
  const say = forgeWords()
  const { settings } = words()
  const form = useRef<HTMLFormElement>(null)
  const values = useMemo(() => FIELDS.map((name) => ({ name, value: signal(storedOf(known, name)) })), [])
  const shown = useRef(known)
  const tested = useSignal<{ report: ForgeReport; of: string } | undefined>(undefined)
  useEffect(() => {
    // When another section was saved, the values typed here stay.
    for (const { name, value } of values)
      if (value.peek() === storedOf(shown.current, name)) value.value = storedOf(known, name)
    shown.current = known
  }, [known])
  const changed = values.filter(({ name, value }) => value.value.trim() !== storedOf(known, name))
  const body = Object.fromEntries(changed.map(({ name, value }) => [name, value.value.trim()]))
  const typed = values.map(({ value }) => value.value).join('\n')

  const store = async (change: Readonly<Record<string, string>>): Promise<boolean> => {
    if (!(await storeAgreed(known, change))) return false
    for (const { name, value } of values) {
      const stored = change[name]
      if (stored === undefined) continue
      // A value typed before the settings are read again is kept.
      if (value.value.trim() === stored) value.value = name === 'forge_token' ? '' : stored
      if (name !== 'forge_token') shown.current = { ...shown.current, [name]: stored }
    }
    toast(say.saved)
    await onSaved()
    return true
  }
  const save = useAct(async () => {
    if (changed.length === 0) return toast(settings.unchanged)
    try {
      await store(body)
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
  })
  const test = useAct(async () => {
    tested.value = undefined
    try {
      tested.value = { report: await api('POST /api/settings/forge/test', { body }), of: typed }
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
  })
  const accept = useAct(async () => {
    const forge_fingerprint = tested.peek()?.report.fingerprint
    if (!forge_fingerprint) return
    const question = { title: say.acceptTitle, text: say.acceptText, verb: say.accept }
    const change = { ...body, forge_fingerprint }
    if (!trustsForge(known, change) && !(await confirm(question))) return
    const field = values.find(({ name }) => name === 'forge_fingerprint')
    if (!(await store(change))) return
    if (field) field.value.value = forge_fingerprint
    const report = await api('POST /api/settings/forge/test', { body: {} })
    tested.value = { report, of: values.map(({ value }) => value.value).join('\n') }
  })
  const wrong = { ...fieldErrors(test.error.value), ...fieldErrors(save.error.value) }
  const report = tested.value?.of === typed ? tested.value.report : undefined
  const { forge_environment: given } = known
  return (
    <Section
      title={say.title}
      note={say.note}
      form={form}
      save={save}
      isUnsaved={changed.length > 0}
      mark={mark}
      beside={<Action act={test}>{say.test}</Action>}
    >
      {given && <p class="dim">{say.environment(given.url, given.org)}</p>}
      {values.map(({ name, value }) => (
        <Field
          key={name}
          name={name}
          label={say[name]}
          value={value}
          type={name === 'forge_token' ? 'password' : 'text'}
          autoComplete={name === 'forge_token' ? 'new-password' : 'off'}
          mono={name === 'forge_fingerprint'}
          placeholder={placeholderOf(known, name)}
          hint={hintOf(known, name)}
          error={wrong[name] && say.wrong[name]}
        />
      ))}
      <div role="status">
        {report && <ForgeResults report={report} isUnsaved={changed.length > 0} accept={accept} />}
      </div>
      <Problem error={test.error.value} />
    </Section>
  )
}

function storedOf(known: Settings, name: Name): string {
  return name === 'forge_token' ? '' : known[name]
}

/** The value of the environment, which counts while the field is empty. */
function placeholderOf({ forge_environment: given }: Settings, name: Name): string {
  if (name === 'forge_url') return given?.url ?? ''
  return name === 'forge_org' ? (given?.org ?? '') : ''
}

function hintOf(known: Settings, name: Name): string {
  const say = forgeWords()
  const { settings } = words()
  if (name === 'forge_fingerprint') return settings.hypervisor_fingerprint_hint
  if (name !== 'forge_token') return say[`${name}_hint`]
  return `${say.forge_token_hint} ${known.forge_token_set ? settings.secretSet : settings.secretUnset}`
}
