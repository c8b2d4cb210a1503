import { signal } from '@preact/signals'

/** Whether the user is asked to confirm who they are. All requests that wait for it share the question. */
export const isAskedToConfirm = signal(false)

/** The waiting requests: each goes on, or fails, when the question is answered or declined. */
const waiting = new Set<(isConfirmed: boolean) => void>()

/**
 * Asks the user to confirm who they are. False when they decline. An aborted request does not wait any more, and the
 * last one takes the question with it.
 */
export function confirmIdentity(aborted: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isConfirmed: boolean) => {
      aborted?.removeEventListener('abort', leave)
      waiting.delete(settle)
      resolve(isConfirmed)
    }
    const leave = () => {
      settle(false)
      isAskedToConfirm.value = waiting.size > 0
    }
    if (aborted?.aborted) return resolve(false)
    aborted?.addEventListener('abort', leave)
    waiting.add(settle)
    isAskedToConfirm.value = true
  })
}

/** Closes the question, and lets the waiting requests go on or fail. */
export function endConfirmation(isConfirmed: boolean): void {
  isAskedToConfirm.value = false
  for (const settle of [...waiting]) settle(isConfirmed)
}
