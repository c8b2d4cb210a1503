/** Pauses after the first failed attempts; every later one is twice the former, up to the longest. */
const PAUSES_MS = [10_000, 30_000, 90_000, 300_000]
const LONGEST_MS = 3_600_000
/** How long a delivery is attempted. */
const TRIED_MS = 24 * 3_600_000

/** The furthest times ahead: of the next attempt, and of the end of quiet hours, which last a day at most. */
export const AHEAD = { waitingAheadMs: LONGEST_MS + 60_000, quietAheadMs: 26 * 3_600_000 }

/** The pause after `attempts` failed attempts, the first of which counts 1. */
export function pauseAfter(attempts: number): number {
  const fixed = PAUSES_MS[attempts - 1]
  if (fixed !== undefined) return fixed
  const doublings = Math.min(attempts - PAUSES_MS.length, 10)
  return Math.min(300_000 * 2 ** doublings, LONGEST_MS)
}

/** When a failed delivery is attempted again; null when that has been done for a day. */
export function nextAttempt(
  { attempts, first_ms }: { attempts: number; first_ms: number },
  nowMs: number,
): number | null {
  return nowMs - first_ms >= TRIED_MS ? null : nowMs + pauseAfter(attempts)
}
