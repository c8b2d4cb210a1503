import { signal } from '@preact/signals'

/** The pause between two attempts to reach the service. */
const RETRY_MS = 2_000
/** The longest useful wait for an answer here. */
const ANSWER_MS = 10_000

/** Whether the service answered the last request. */
export const connected = signal(true)
/** Counts reconnects: failed requests are repeated after each one. */
export const reconnects = signal(0)

let timer: ReturnType<typeof setTimeout> | undefined

/** Records whether a request got an answer from the service. */
export function recordAnswer(answered: boolean): void {
  if (answered === connected.value) return
  connected.value = answered
  clearTimeout(timer)
  if (answered) reconnects.value += 1
  else timer = setTimeout(ask, RETRY_MS)
}

async function ask(): Promise<void> {
  try {
    const answer = await fetch('/api/health', { signal: AbortSignal.timeout(ANSWER_MS) })
    // Only the service sets this header; a proxy in front of it answers too while it is away.
    if (answer.headers.has('x-request-id')) return recordAnswer(true)
  } catch {
    // The service is still away.
  }
  timer = setTimeout(ask, RETRY_MS)
}

// The browser knows at once when the network is back.
addEventListener('online', () => {
  if (connected.value) return
  clearTimeout(timer)
  void ask()
})
