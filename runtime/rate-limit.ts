import type { Database } from '../db/libsql/database.ts'
import { admitHit } from '../db/rate-hits.ts'
import type { Clock } from '../platform/clock.ts'
import { createRecentCache } from '../platform/recent-cache.ts'
import { admitNow, type SlidingWindow, waitOf } from '../platform/sliding-window.ts'

/** At most `limit` requests in any period of `seconds`, counted per address or per user. */
export interface RateLimit {
  limit: number
  seconds: number
  by: 'address' | 'user'
  /** Counts in the database, across instances and restarts; otherwise in memory. */
  shared?: boolean
}

export interface Limiter {
  /**
   * Counts a request. Returns 0 when it is admitted, otherwise the milliseconds until the next one will be. Refused
   * requests are not counted.
   */
  admit(bucket: string, caller: string, limit: RateLimit): number | Promise<number>
  /** Returns the same wait for a limit in memory, without counting a request. */
  wait(bucket: string, caller: string, limit: RateLimit): number
}

/** Keys in memory: a flood of addresses cannot exceed twice this number. */
const REMEMBERED = 50_000

/** Creates a limiter with exact sliding windows, which allow no double burst at the boundary of two periods. */
export function createLimiter(db: Database, clock: Clock): Limiter {
  const windows = createRecentCache<SlidingWindow>(REMEMBERED)
  let longestMs = 0
  let generationMs = clock().getTime()
  /** Drops windows that are older than the longest period: all their hits have expired. */
  const dropExpired = (nowMs: number, windowMs: number) => {
    longestMs = Math.max(longestMs, windowMs)
    if (Math.abs(nowMs - generationMs) <= longestMs) return
    windows.startGeneration()
    generationMs = nowMs
  }
  return {
    wait(bucket, caller, { limit, seconds }) {
      const window = windows.get(`${bucket} ${caller}`)
      return window ? waitOf(window, limit, seconds * 1000, clock().getTime()) : 0
    },
    admit(bucket, caller, { limit, seconds, shared }) {
      const nowMs = clock().getTime()
      const windowMs = seconds * 1000
      if (shared) return admitHit(db, bucket, caller, { limit, windowMs, nowMs })
      dropExpired(nowMs, windowMs)
      const key = `${bucket} ${caller}`
      const known = windows.get(key)
      const window = known ?? { hits: [], next: 0 }
      if (!known) windows.set(key, window)
      return admitNow(window, limit, windowMs, nowMs)
    },
  }
}
