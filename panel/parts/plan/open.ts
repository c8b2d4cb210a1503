import { signal } from '@preact/signals'
import type { Selection } from '../../nouns/plan.ts'
import { onSignOut } from '../../wire/panel.ts'

/** A sheet that is open. */
interface Opened {
  targets: readonly string[]
  chosen: Partial<Selection>
  /** Whether it reviews several targets, of which one may be left. */
  isRun: boolean
  /** Closes the sheet; with the id of what it has started. */
  answer(started: string | undefined): void
}

/** The open sheet; at most one is open. */
export const opened = signal<Opened>()

function open(targets: readonly string[], chosen: Partial<Selection>, isRun: boolean): Promise<string | undefined> {
  opened.value?.answer(undefined)
  return new Promise((resolve) => {
    opened.value = {
      targets,
      chosen,
      isRun,
      answer(started) {
        opened.value = undefined
        resolve(started)
      },
    }
  })
}

/**
 * Shows exactly what an upgrade of the target changes. Resolves with the id of the job that the user has started there
 * (the upgrade or a remedy), or undefined when the sheet was closed.
 */
export function reviewPlan(target: string, chosen: Partial<Selection> = {}): Promise<string | undefined> {
  return open([target], chosen, false)
}

/** The same for several targets; resolves with the id of the run. */
export function reviewPlans(targets: readonly string[], chosen: Partial<Selection> = {}): Promise<string | undefined> {
  return open(targets, chosen, true)
}

// An open sheet must not reach the next user.
onSignOut(() => opened.value?.answer(undefined))
