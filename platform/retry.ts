import { setTimeout as pause } from 'node:timers/promises'

/**
 * Repeats work until it succeeds. `pauseAfter` receives the error and the number of failures before it, and returns the
 * milliseconds until the next try, or undefined to reject with this error. Rejects when `signal` aborts during a pause.
 */
export async function retry<result>(
  work: () => Promise<result>,
  pauseAfter: (error: unknown, failures: number) => number | undefined,
  signal?: AbortSignal,
): Promise<result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      const wait = pauseAfter(error, failures)
      if (wait === undefined) throw error
      await pause(wait, undefined, { signal })
    }
  }
}
