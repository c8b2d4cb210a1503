import { useId } from 'preact/hooks'
import { Said } from '../../parts/field.tsx'
import type { Section } from '../../wire/module-page.ts'
import { moduleWords, said } from './words.ts'

export type Field = Extract<Section, { kind: 'form' }>['fields'][number]

interface ModuleFieldProps {
  field: Field
  value: string
  /** Whether the service has a secret for it. */
  isStored: boolean
  /** Whether that secret is to be removed. */
  isRemoved: boolean
  error: string | undefined
  change(text: string): void
  remove(text: string): void
}

/** A field of a module's form. */
export function ModuleField({ field, value, isStored, isRemoved, error, change, remove }: ModuleFieldProps) {
  const { name, label, help, as, required, nullable, choices } = field
  const say = moduleWords()
  const id = useId()
  const hint = [help && said(help), as === 'password' && isStored && say.secretSet].filter(Boolean).join(' ')
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const common = {
    id,
    name,
    required,
    'aria-invalid': error !== undefined,
    'aria-describedby': described || undefined,
  }
  const input = { ...common, value, autoCapitalize: 'none', spellcheck: false } as const
  if (as === 'checkbox')
    return (
      <div class="field">
        <label class="check" htmlFor={id}>
          <input
            {...common}
            type="checkbox"
            required={false}
            checked={value === 'true'}
            onChange={({ currentTarget }) => change(currentTarget.checked ? 'true' : '')}
          />
          {said(label)}
        </label>
        <Said id={id} hint={hint} error={error} />
      </div>
    )
  const typing = ({ currentTarget }: { currentTarget: { value: string } }) => change(currentTarget.value)
  return (
    <div class="field">
      <label htmlFor={id}>{said(label)}</label>
      <div class="control">
        {as === 'choice' && (
          <select {...common} value={value} onChange={typing}>
            {(!required || value === '') && <option value="">{say.choose}</option>}
            {choices.map((each) => (
              <option key={each} value={String(each)}>
                {String(each)}
              </option>
            ))}
          </select>
        )}
        {as === 'textarea' && <textarea {...input} rows={5} onInput={typing} />}
        {as === 'password' && (
          <input {...input} type="password" autoComplete="new-password" disabled={isRemoved} onInput={typing} />
        )}
        {as === 'number' && (
          <input {...input} type="text" inputMode="decimal" autoComplete="off" class="module-number" onInput={typing} />
        )}
        {as === 'text' && <input {...input} type="text" autoComplete="off" onInput={typing} />}
      </div>
      <Said id={id} hint={hint} error={error} />
      {as === 'password' && isStored && nullable && (
        <label class="check">
          <input
            type="checkbox"
            checked={isRemoved}
            onChange={({ currentTarget }) => remove(currentTarget.checked ? 'true' : '')}
          />
          {say.secretRemove(said(label))}
        </label>
      )}
    </div>
  )
}
