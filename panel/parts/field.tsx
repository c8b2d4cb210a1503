import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect } from 'preact/hooks'

interface FieldProps {
  label: string
  name: string
  value: Signal<string>
  type?: keyof typeof INPUTS
  hint?: ComponentChildren
  /** The reason why the value is rejected. */
  error?: string | undefined
  required?: boolean
  placeholder?: string
  autoComplete?: string
  inputMode?: 'numeric' | 'text'
  autoFocus?: boolean
  mono?: boolean
  /** An element beside the input, such as a button. */
  children?: ComponentChildren
}

type Attributes = Omit<JSX.IntrinsicElements['input'], 'type' | 'list' | 'role'>

/** Preact's types accept one input type at a time. */
const INPUTS = {
  text: (attributes: Attributes) => <input {...attributes} type="text" />,
  password: (attributes: Attributes) => <input {...attributes} type="password" />,
  search: (attributes: Attributes) => <input {...attributes} type="search" />,
  url: (attributes: Attributes) => <input {...attributes} type="url" />,
}

/** An input with its label, hint and error. */
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
  inputMode,
  autoFocus = false,
  mono = false,
  children,
}: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const Input = INPUTS[type]
  // Before the paint: a later focus would take letters that the user types elsewhere by then.
  useLayoutEffect(() => {
    // The browser applies the autofocus attribute only when a page loads.
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
          inputMode={inputMode}
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
      <Said id={id} hint={hint} error={error} />
    </div>
  )
}

/** Focuses the first invalid field once the page shows it. */
export function focusWrong(form: HTMLElement | null): void {
  // After the render, but before a next frame: a later focus would take letters that the user types elsewhere by then.
  setTimeout(() => form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
}

/** The hint of a field and its error, under the ids that the field names. */
export function Said({ id, hint, error }: { id: string; hint: ComponentChildren; error: string | undefined }) {
  return (
    <>
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
    </>
  )
}
