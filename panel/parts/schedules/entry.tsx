import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect } from 'preact/hooks'
import { Said } from '../field.tsx'

interface Labelled {
  name: string
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  value: string
}

interface EntryProps extends Labelled {
  type?: 'text' | 'time' | 'password'
  mono?: boolean
  /** The id of a list of suggestions. */
  list?: string
  /** Whether it takes the focus as it appears. */
  focused?: boolean
  typed(next: string): void
}

/** A field whose value belongs to a draft. */
export function Entry({
  name,
  label,
  hint,
  error,
  value,
  type = 'text',
  mono = false,
  list,
  focused = false,
  typed,
}: EntryProps) {
  const id = useId()
  // Before the paint: a later focus would take letters that the user types elsewhere by then.
  useLayoutEffect(() => {
    if (focused) document.getElementById(id)?.focus()
  }, [])
  const attributes = {
    id,
    name,
    class: mono ? 'mono' : '',
    value,
    autoComplete: type === 'password' ? 'new-password' : 'off',
    spellcheck: false,
    ...said(id, hint, error),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => typed(currentTarget.value),
  }
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {type === 'time' ? (
        <input {...attributes} type="time" />
      ) : type === 'password' ? (
        <input {...attributes} type="password" />
      ) : (
        <input {...attributes} type="text" {...(list !== undefined && { list })} autoCapitalize="none" />
      )}
      <Said id={id} hint={hint} error={error} />
    </div>
  )
}

interface SelectProps extends Labelled {
  /** Values with their words. */
  of: readonly (readonly [value: string, word: string])[]
  choose(next: string): void
}

/** A choice among many. */
export function Select({ name, label, hint, error, value, of, choose }: SelectProps) {
  const id = useId()
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        {...said(id, hint, error)}
        value={value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {of.map(([each, word]) => (
          <option key={each} value={each}>
            {word}
          </option>
        ))}
      </select>
      <Said id={id} hint={hint} error={error} />
    </div>
  )
}

/** The attributes that name what is said below a field. */
function said(id: string, hint: ComponentChildren, error: string | undefined) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return { 'aria-invalid': Boolean(error), ...(described !== '' && { 'aria-describedby': described }) }
}

/** Time zones take a while to list, and do not change. */
const ZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]

/** A time zone: typed, with a list of those that the browser knows. */
export function ZoneEntry(props: Omit<EntryProps, 'type' | 'list' | 'mono' | 'focused'>) {
  const list = useId()
  return (
    <>
      <Entry {...props} list={list} />
      <datalist id={list}>
        {ZONES.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  )
}
