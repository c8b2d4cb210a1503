import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId } from 'preact/hooks'

interface FieldProps {
  label: string
  name: string
  value: Signal<string>
  type?: keyof typeof INPUTS
  hint?: ComponentChildren
  /** Why what is in it will not do. */
  error?: string | undefined
  required?: boolean
  placeholder?: string
  autoComplete?: string
  autoFocus?: boolean
  mono?: boolean
  /** Beside the input: a button, say. */
  children?: ComponentChildren
}

type Attributes = Omit<JSX.IntrinsicElements['input'], 'type' | 'list' | 'role'>

/** The types of Preact know of one kind at a time. */
const INPUTS = {
  text: (attributes: Attributes) => <input {...attributes} type="text" />,
  password: (attributes: Attributes) => <input {...attributes} type="password" />,
  search: (attributes: Attributes) => <input {...attributes} type="search" />,
  url: (attributes: Attributes) => <input {...attributes} type="url" />,
}

/** An input with its label, what to know before, and what is wrong with it. */
export function Field({
  label,
  name,
  value,
  type = 'text',
  hint,
  error,
  required = false,
  placeholder,
  autoComplete = 'off',
  autoFocus = false,
  mono = false,
  children,
}: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const Input = INPUTS[type]
  useEffect(() => {
    // The attribute counts where a page is loaded alone.
    if (autoFocus) document.getElementById(id)?.focus()
  }, [])
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <div class="control">
        <Input
          id={id}
          name={name}
          class={mono ? 'mono' : undefined}
          value={value.value}
          required={required}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoCapitalize="none"
          spellcheck={false}
          aria-invalid={error !== undefined}
          aria-describedby={described || undefined}
          onInput={({ currentTarget }) => {
            value.value = currentTarget.value
          }}
        />
        {children}
      </div>
      {hint && (
        <p class="hint dim" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="wrong" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

/** Puts the focus on the first field of a form that is wrong, once the page shows it. */
export function focusWrong(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
}
