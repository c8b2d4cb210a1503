import type { Clock } from '../platform/clock.ts'

/** Detects that the process was frozen, as function hosts do between requests. */
export interface FreezeDetector {
  /** Settles at once; after a freeze, when `thawed` is done. */
  check(): Promise<void>
  stop(): void
}

const CHECK_MS = 1_000
/** Shorter than leases, and than the time after which hosts drop idle connections. */
const FREEZE_MS = 5_000

/**
 * Calls `thawed`, which must not reject, once after each freeze. Measures by the wall clock, because monotonic clocks
 * may freeze with the process.
 */
export function createFreezeDetector(clock: Clock, thawed: () => Promise<void>): FreezeDetector {
  let last = clock().getTime()
  let thawing = Promise.resolve()
  // After a freeze either the timer or a request runs first.
  const check = (): Promise<void> => {
    const now = clock().getTime()
    if (Math.abs(now - last) > FREEZE_MS) thawing = thawed()
    last = now
    return thawing
  }
  const timer = setInterval(() => void check(), CHECK_MS)
  timer.unref()
  return { check, stop: () => clearInterval(timer) }
}
