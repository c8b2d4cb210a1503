import { signal } from '@preact/signals'

/** The pause between two attempts to reach the service. */
const RETRY_MS = 2_000
/** The longest useful wait for an answer here. */
const ANSWER_MS = 10_000

/** Whether the service answered the last request. */
export const connected = signal(true)
/** Counts reconnects. */
export const reconnects = signal(0)
/** Counts the times at which failed requests are worth another try: after a reconnect, and when the host is back. */
export const repeats = signal(0)
/** The time since which the service has not answered, in ms since 1970; undefined while it answers. */
export const awaySince = signal<number>()

let timer: ReturnType<typeof setTimeout> | undefined
/** The time before which no request reconnects, by `performance.now()`. */
let restsUntil = 0

/**
 * Records whether a request got an answer from the service. A proxy may refuse some requests and pass on others: after a
 * reconnect, the next one waits for the pause, because each repeats what has failed.
 */
export function recordAnswer(answered: boolean): void {
  if (answered === connected.value || (answered && performance.now() < restsUntil)) return
  connected.value = answered
  awaySince.value = answered ? undefined : Date.now()
  clearTimeout(timer)
  if (answered) {
    restsUntil = performance.now() + RETRY_MS
    reconnects.value += 1
    repeatFailed()
  } else timer = setTimeout(ask, RETRY_MS)
}

/** Repeats the requests that have failed. */
export function repeatFailed(): void {
  repeats.value += 1
}

async function ask(): Promise<void> {
  try {
    const answer = await fetch('/api/health', { signal: AbortSignal.timeout(ANSWER_MS) })
    // Only the service sets this header; a proxy in front of it answers too while it is away.
    if (answer.headers.has('x-request-id')) recordAnswer(true)
  } catch {
    // The service is still away.
  }
  if (!connected.value) timer = setTimeout(ask, RETRY_MS)
}

// The browser knows at once when the network is back.
addEventListener('online', () => {
  if (connected.value) return
  clearTimeout(timer)
  void ask()
})
