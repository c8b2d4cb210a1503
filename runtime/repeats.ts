import type { Clock } from './clock.ts'
import { createRecent } from './recent.ts'

/** Each of the first hundred is told, then only each doubling: a flood leaves a trace, not a flood of traces. */
const ALL_UP_TO = 100
/** After so long without any it is told anew. */
const QUIET_MS = 60_000
const REMEMBERED = 10_000

/** Counts what is repeated, and says of which repeat a record is worth its place. */
export interface Repeats {
  /** The count when it is to be told: by default 1 to 100, 128, 256 …; else undefined. */
  tell(what: string): number | undefined
}

export function createRepeats(clock: Clock, { allUpTo = ALL_UP_TO, quietMs = QUIET_MS } = {}): Repeats {
  const counts = createRecent<{ count: number; at: number }>(REMEMBERED)
  return {
    tell(what) {
      const now = clock().getTime()
      const before = counts.get(what)
      const count = before && now - before.at < quietMs ? before.count + 1 : 1
      counts.set(what, { count, at: now })
      return count <= allUpTo || Number.isInteger(Math.log2(count)) ? count : undefined
    },
  }
}
