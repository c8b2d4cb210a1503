import { signal } from '@preact/signals'
import type { ApplicationOf } from '../../wire/applications.ts'
import { onSignOut } from '../../wire/panel.ts'

/** The sheet of an application that is open. */
interface Opened extends ApplicationOf {
  /** Closes the sheet; with the id of the job that it has started. */
  answer(started: string | undefined): void
}

/** The open sheet; at most one is open. */
export const openedApplication = signal<Opened>()

/**
 * Shows what an update of an application would run, for people to read, to agree to and to start. Resolves with the id of the started job, or
 * undefined when the sheet was closed.
 */
export function reviewApplication(of: ApplicationOf): Promise<string | undefined> {
  openedApplication.value?.answer(undefined)
  return new Promise((resolve) => {
    openedApplication.value = {
      ...of,
      answer(started) {
        openedApplication.value = undefined
        resolve(started)
      },
    }
  })
}

// An open sheet must not reach the next user.
onSignOut(() => openedApplication.value?.answer(undefined))
