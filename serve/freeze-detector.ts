import type { Clock } from '../platform/clock.ts'

/** Notices when the process was frozen: suspended by its host, as function hosts do between requests. */
export interface FreezeDetector {
  /** Settles at once, or after a freeze when `thawed` is done. */
  check(): Promise<void>
  stop(): void
}

const CHECK_MS = 1_000
/** Hosts that drop silent connections, and leases, wait longer than this. */
const FREEZE_MS = 5_000

/** `thawed` is called once after each freeze, by the wall clock: monotonic clocks may freeze with the process. It never rejects. */
export function createFreezeDetector(clock: Clock, thawed: () => Promise<void>): FreezeDetector {
  let last = clock().getTime()
  let thawing = Promise.resolve()
  // Whatever runs first after a freeze notices it: the timer, or a request.
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
