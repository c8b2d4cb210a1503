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

interface Asked {
  question: Question
  /** Whether one's own password is asked for as well. */
  proof: boolean
  /** What was typed there, empty where nothing is; undefined for no. */
  answer(password: string | undefined): void
}

const asked = signal<Asked>()

function ask(question: Question, proof: boolean): Promise<string | undefined> {
  asked.value?.answer(undefined)
  return new Promise((resolve) => {
    asked.value = {
      question,
      proof,
      answer(password) {
        asked.value = undefined
        resolve(password)
      },
    }
  })
}

/** Asks before something that cuts people off, or cannot be taken back. */
export async function confirm(question: Question): Promise<boolean> {
  return (await ask(question, false)) !== undefined
}

/** The same, and for one's own password: what a session that somebody else holds must not do alone. Undefined for no. */
export function askProof(question: Question): Promise<string | undefined> {
  return ask(question, true)
}

// Whoever signs in next was not asked.
atSignOut(() => asked.value?.answer(undefined))

/** Where questions are shown: once in the page. */
export function Questions() {
  const open = asked.value
  return open ? <Confirm key={open.question} {...open} /> : null
}

function Confirm({ question: { title, text, verb, danger = false, keep, typed }, proof, answer }: Asked) {
  const name = useSignal('')
  const password = useSignal('')
  const { shell } = words()
  const ready = (!typed || name.value.trim() === typed) && (!proof || password.value !== '')
  return (
    <Dialog title={title} onClose={() => answer(undefined)} class="question">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) answer(password.value)
        }}
      >
        {text && <div class="text">{text}</div>}
        {typed && <Field label={shell.typeToConfirm(typed)} name="confirmed" value={name} />}
        {proof && (
          <Field
            label={shell.ownPassword}
            name="current_password"
            value={password}
            type="password"
            autoComplete="current-password"
          />
        )}
        <div class="buttons">
          <button type="button" class="button" data-first onClick={() => answer(undefined)}>
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
