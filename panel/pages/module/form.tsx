import { useRef, useState } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { localeOf } from '../../nouns/format.ts'
import { begun, type Fault, filled, removalOf } from '../../nouns/module-form.ts'
import { valueAt } from '../../nouns/module-values.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { focusWrong } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useLoad } from '../../wire/load.ts'
import { callModule, type Section } from '../../wire/module-page.ts'
import { fromService, language } from '../../words/words.ts'
import { ModuleField } from './field.tsx'
import { messageOf, Told } from './told.tsx'
import { moduleWords, said } from './words.ts'

type Form = Extract<Section, { kind: 'form' }>

interface FormSectionProps {
  of: Form
  changes: number
  changed(): void
}

/** A form of a module. It begins with the present values, where the module tells them. */
export function FormSection({ of: form, changes, changed }: FormSectionProps) {
  const { title, from } = form
  const load = useLoad(async (signal) => (from === null ? {} : callModule(from, { signal })), [from, changes])
  return (
    <section aria-label={title ? said(title) : undefined}>
      {title && <h2>{said(title)}</h2>}
      <Loaded of={load} rows={form.fields.length}>
        {(present) => <Fields form={form} present={present} changed={changed} />}
      </Loaded>
    </section>
  )
}

function Fields({ form, present, changed }: { form: Form; present: unknown; changed(): void }) {
  const { call, fields, submit } = form
  const say = moduleWords()
  const element = useRef<HTMLFormElement>(null)
  const before = begun(fields, present)
  /** The fields that the user has changed; the others follow the present values. */
  const [typed, type] = useState<Readonly<Record<string, string>>>({})
  const [wrong, setWrong] = useState<Readonly<Record<string, Fault>>>({})
  const [told, tell] = useState<string>()
  const act = useAct(async () => {
    tell(undefined)
    const found = filled(fields, { ...before, ...typed }, before)
    setWrong('wrong' in found ? found.wrong : {})
    if ('wrong' in found) return focusWrong(element.current)
    try {
      const answer = await callModule(call, { body: found.body })
      tell(messageOf(answer) ?? say.done(submit ? said(submit) : say.submit))
    } catch (error) {
      focusWrong(element.current)
      throw error
    }
    // Text that was typed during the request stays.
    type((now) => Object.fromEntries(Object.entries(now).filter(([name, text]) => text !== typed[name])))
    changed()
  })
  const refused = fieldErrors(act.error.value)
  const errorOf = (name: string): string | undefined => {
    const fault = wrong[name]
    if (fault) return saidFault(fault)
    const message = refused[name]
    return message === undefined ? undefined : fromService(message)
  }
  return (
    <form
      ref={element}
      noValidate
      class="module-form"
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      {fields.map((field) => (
        <ModuleField
          key={field.name}
          field={field}
          value={typed[field.name] ?? before[field.name] ?? ''}
          isStored={valueAt(present, `${field.name}_set`) === true}
          isRemoved={typed[removalOf(field.name)] === 'true'}
          error={errorOf(field.name)}
          change={(text) => type((now) => ({ ...now, [field.name]: text }))}
          remove={(text) => type((now) => ({ ...now, [field.name]: '', [removalOf(field.name)]: text }))}
        />
      ))}
      <Problem error={act.error.value} />
      <div class="module-acts">
        <Action act={act} type="submit" class="primary">
          {submit ? said(submit) : say.submit}
        </Action>
        <Told text={told} />
      </div>
    </form>
  )
}

function saidFault(fault: Fault): string {
  const say = moduleWords().fault
  return 'limit' in fault ? say[fault.fault](fault.limit.toLocaleString(localeOf(language()))) : say[fault.fault]
}
