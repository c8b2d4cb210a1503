import { signal, useSignal } from '@preact/signals'
import { X } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { onSignOut } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { Field } from './field.tsx'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: ComponentChildren
  /** Called when Escape or the content closes it. */
  onClose(): void
  class?: string
  /** The id of the text that screen readers read out as it opens. */
  described?: string | undefined
  children: ComponentChildren
}

/** A modal dialog. It takes the focus (`data-first`, else its first control), keeps it, and returns it. */
export function Dialog({ title, onClose, class: kind = '', described, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const id = useId()
  // Before the next paint, so that the next key goes to the dialog.
  useLayoutEffect(() => {
    const opened = dialog.current
    const before = document.activeElement
    opened?.showModal()
    opened?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      isGone.current = true
      // An open modal dialog would block the focus change.
      opened?.close()
      // The previously focused element may be gone.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else document.querySelector<HTMLElement>('h1')?.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-labelledby={id}
      aria-describedby={described}
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
  title: ComponentChildren
  /** The consequence, and the affected targets. */
  text?: ComponentChildren
  /** The verb on the confirming button. */
  verb: string
  danger?: boolean
  /** The label of the refusing button, where “Cancel” would be ambiguous. */
  keep?: string
  /** A name that the user must type first. */
  typed?: string
}

interface Asked {
  question: Question
  /** Whether the user must also enter their password. */
  proof: boolean
  /** The typed password, or an empty text when none is asked for; undefined when the user declines. */
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

/** Asks before an action that interrupts services or cannot be undone. */
export async function confirm(question: Question): Promise<boolean> {
  return (await ask(question, false)) !== undefined
}

/** The same, with the user's password: a stolen session alone must not be enough. Undefined when the user declines. */
export function askProof(question: Question): Promise<string | undefined> {
  return ask(question, true)
}

// An open question must not reach the next user.
onSignOut(() => asked.value?.answer(undefined))

/** Renders the open question; used once in the page. */
export function Questions() {
  const open = asked.value
  return open ? <Confirm key={open.question} {...open} /> : null
}

function Confirm({ question: { title, text, verb, danger = false, keep, typed }, proof, answer }: Asked) {
  const name = useSignal('')
  const password = useSignal('')
  const { shell } = words()
  const told = useId()
  const isTyped = !typed || name.value.trim() === typed
  const ready = isTyped && (!proof || password.value !== '')
  /** Not before it differs: the beginning of the name is right so far. */
  const differs = typed && !typed.startsWith(name.value.trim()) ? shell.typedDiffers(typed) : undefined
  /** The reason why the button does nothing yet. */
  const blocked = ready ? undefined : typed && !isTyped ? (differs ?? shell.typeToConfirm(typed)) : shell.ownPassword
  return (
    <Dialog title={title} onClose={() => answer(undefined)} class="question" described={text ? told : undefined}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) answer(password.value)
        }}
      >
        {text && (
          <div class="text" id={told}>
            {text}
          </div>
        )}
        {typed && <Field label={shell.typeToConfirm(typed)} name="confirmed" value={name} hint={differs} />}
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
          <button
            type="button"
            class="button"
            data-first={typed || proof ? undefined : true}
            onClick={() => answer(undefined)}
          >
            {keep ?? shell.cancel}
          </button>
          <button
            type="submit"
            class={danger ? 'button danger' : 'button primary'}
            aria-disabled={!ready}
            title={blocked}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The cross in the corner of a sheet. */
export function CloseButton({ close }: { close(): void }) {
  return (
    <button type="button" class="button plain small close" aria-label={words().shell.close} onClick={close}>
      <Icon of={X} />
    </button>
  )
}
