import { signal } from '@preact/signals'

/** Between two questions whether the service is back. */
const AGAIN_MS = 2_000
/** Longer than an answer takes that is worth waiting for here. */
const ANSWER_MS = 10_000

/** Whether the service has answered what was asked last. */
export const connected = signal(true)
/** Counts how often the service has come back: what failed meanwhile is asked for again. */
export const returns = signal(0)

let timer: ReturnType<typeof setTimeout> | undefined

/** What a request has met: an answer of the service, or none. */
export function heard(answered: boolean): void {
  if (answered === connected.value) return
  connected.value = answered
  clearTimeout(timer)
  if (answered) returns.value += 1
  else timer = setTimeout(ask, AGAIN_MS)
}

async function ask(): Promise<void> {
  try {
    const answer = await fetch('/api/health', { signal: AbortSignal.timeout(ANSWER_MS) })
    // A proxy answers in the place of a service that is away, but not with this.
    if (answer.headers.has('x-request-id')) return heard(true)
  } catch {
    // Still away.
  }
  timer = setTimeout(ask, AGAIN_MS)
}

// Browsers know at once when there is a network again.
addEventListener('online', () => {
  if (connected.value) return
  clearTimeout(timer)
  void ask()
})
