import { type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export interface Act<given extends readonly unknown[]> {
  /** Does nothing while it is already running. Never rejects: see `error`. */
  run(...given: given): Promise<void>
  busy: ReadonlySignal<boolean>
  /** The error of the last run; cleared when the next run starts. */
  error: ReadonlySignal<unknown>
  /** Clears the error. */
  forget(): void
}

/** Wraps a user action: one run at a time, with its error kept for display. */
export function createAct<given extends readonly unknown[]>(does: (...given: given) => Promise<unknown>): Act<given> {
  const busy = signal(false)
  const error = signal<unknown>()
  return {
    busy,
    error,
    forget() {
      error.value = undefined
    },
    async run(...given) {
      if (busy.value) return
      busy.value = true
      error.value = undefined
      try {
        await does(...given)
      } catch (reason) {
        error.value = reason
      } finally {
        busy.value = false
      }
    },
  }
}

export function useAct<given extends readonly unknown[]>(does: (...given: given) => Promise<unknown>): Act<given> {
  const newest = useRef(does)
  newest.current = does
  const kept = useRef<Act<given>>(undefined)
  kept.current ??= createAct((...given) => newest.current(...given))
  return kept.current
}

interface ActionProps {
  act: Act<[]>
  /** Also `primary`, `danger`, `small`, `plain`. */
  class?: string
  label?: string
  title?: string | undefined
  /** The reason why it is disabled; the button shows it as a title. */
  blocked?: string | undefined
  type?: 'button' | 'submit'
  children: ComponentChildren
}

/** A button that runs `act`. It keeps the focus while the action runs. */
export function Action({ act, class: kind = '', label, title, blocked, type = 'button', children }: ActionProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-label={label}
      title={blocked ?? title}
      aria-busy={act.busy.value}
      aria-disabled={act.busy.value || blocked !== undefined}
      onClick={type === 'button' ? () => blocked === undefined && void act.run() : undefined}
    >
      {children}
    </button>
  )
}
