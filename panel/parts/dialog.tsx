import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { atSignOut } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { Field } from './field.tsx'

interface DialogProps {
  title: string
  /** It was closed by Escape, or by what is in it. */
  onClose(): void
  class?: string
  children: ComponentChildren
}

/** A window above the page. The focus goes into it, stays there, and goes back to where it was. */
export function Dialog({ title, onClose, class: kind = '', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const id = useId()
  // Before it is painted: what is typed next is for it.
  useLayoutEffect(() => {
    const opened = dialog.current
    const before = document.activeElement
    opened?.showModal()
    opened?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      isGone.current = true
      // While it is open nothing else takes the focus.
      opened?.close()
      // What had the focus may be gone with what the dialog did.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else document.querySelector<HTMLElement>('h1')?.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        if (!isGone.current) onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

interface Question {
  title: string
  /** What will happen, to whom. */
  text?: ComponentChildren
  /** The button's verb. */
  verb: string
  danger?: boolean
  /** What no means, where “cancel” would be taken for yes. */
  keep?: string
  /** A name that has to be typed first. */
  typed?: string
}

const asked = signal<{ question: Question; answer(yes: boolean): void }>()

/** Asks before something that cuts people off, or cannot be taken back. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer(yes) {
        asked.value = undefined
        resolve(yes)
      },
    }
  })
}

// Whoever signs in next was not asked.
atSignOut(() => asked.value?.answer(false))

/** Where questions are shown: once in the page. */
export function Questions() {
  const open = asked.value
  return open ? <Confirm key={open.question} {...open} /> : null
}

function Confirm({
  question: { title, text, verb, danger = false, keep, typed },
  answer,
}: NonNullable<typeof asked.value>) {
  const name = useSignal('')
  const { shell } = words()
  const ready = !typed || name.value.trim() === typed
  return (
    <Dialog title={title} onClose={() => answer(false)} class="question">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) answer(true)
        }}
      >
        {text && <div class="text">{text}</div>}
        {typed && <Field label={shell.typeToConfirm(typed)} name="confirmed" value={name} />}
        <div class="buttons">
          <button type="button" class="button" data-first onClick={() => answer(false)}>
            {keep ?? shell.cancel}
          </button>
          <button type="submit" class={danger ? 'button danger' : 'button primary'} disabled={!ready}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
