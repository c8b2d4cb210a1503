import type { Clock } from './clock.ts'

/** A cache of recently used keys: at least the newest `size` keys and at most twice as many. */
export interface RecentCache<value> {
  get(key: string): value | undefined
  set(key: string, value: value): void
  delete(key: string): void
  /** Starts a new generation. Keys that are not used before the next call are dropped. */
  startGeneration(): void
}

/**
 * Keeps two generations. A full young generation becomes the old one, whose keys are dropped unless they are read
 * again. A Map whose oldest key is deleted each time would slow down with the number of deleted keys.
 */
export function createRecentCache<value>(size: number): RecentCache<value> {
  let young = new Map<string, value>()
  let old = new Map<string, value>()
  const startGeneration = () => {
    old = young
    young = new Map()
  }
  const set = (key: string, value: value) => {
    if (young.size >= size && !young.has(key)) startGeneration()
    young.set(key, value)
  }
  return {
    set,
    startGeneration,
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const earlier = old.get(key)
      if (earlier !== undefined) set(key, earlier)
      return earlier
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}

/** The first hundred repeats are recorded, then only powers of two, so that a flood cannot fill the log. */
const ALL_UP_TO = 100
/** The count restarts after this long without a repeat. */
const QUIET_MS = 60_000
const REMEMBERED = 10_000

/** Counts repetitions and decides which of them to record. */
export interface RepeatCounter {
  /**
   * Counts one repetition of `what`. Returns the count when it should be recorded (by default 1 to 100, 128, 256 …),
   * otherwise undefined.
   */
  count(what: string): number | undefined
}

export function createRepeatCounter(clock: Clock, { allUpTo = ALL_UP_TO, quietMs = QUIET_MS } = {}): RepeatCounter {
  const counts = createRecentCache<{ times: number; at: number }>(REMEMBERED)
  return {
    count(what) {
      const now = clock().getTime()
      const before = counts.get(what)
      const times = before && now - before.at < quietMs ? before.times + 1 : 1
      counts.set(what, { times, at: now })
      return times <= allUpTo || Number.isInteger(Math.log2(times)) ? times : undefined
    },
  }
}
