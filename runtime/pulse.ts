import type { Clock } from './clock.ts'

/** Notices when the process has stood still. */
export interface Pulse {
  /** Settles at once, or when what a standstill calls for is done. */
  feel(): Promise<void>
  stop(): void
}

const BEAT_MS = 1_000
/** Hosts that drop what is silent, and leases, have more patience than this. */
const STANDSTILL_MS = 5_000

/** `awake` is called once after each standstill, by the clock on the wall: others stand still with the process. It never rejects. */
export function createPulse(clock: Clock, awake: () => Promise<void>): Pulse {
  let last = clock().getTime()
  let waking = Promise.resolve()
  // Whatever runs first when the process goes on notices it: a timer, or a request.
  const feel = (): Promise<void> => {
    const now = clock().getTime()
    if (Math.abs(now - last) > STANDSTILL_MS) waking = awake()
    last = now
    return waking
  }
  const timer = setInterval(() => void feel(), BEAT_MS)
  timer.unref()
  return { feel, stop: () => clearInterval(timer) }
}
