import type { Database } from '../db/client.ts'
import { admitHit } from '../db/rate-hits.ts'
import type { Clock } from './clock.ts'
import { createRecent } from './recent.ts'

/** At most `limit` requests in any `seconds`, counted for an address or for a user. */
export interface RateLimit {
  limit: number
  seconds: number
  by: 'address' | 'user'
  /** Count in the database, across instances and restarts; otherwise in memory. */
  shared?: boolean
}

export interface Limiter {
  /** Milliseconds until the next request is admitted; 0 when this one was. A refused request is not counted. */
  admit(bucket: string, who: string, limit: RateLimit): number | Promise<number>
  /** The same of a limit that is kept in memory, without counting one. */
  wait(bucket: string, who: string, limit: RateLimit): number
}

/** A flood of addresses cannot grow memory past twice this. */
const REMEMBERED = 50_000

/** Sliding windows: exact, without a burst at the turn of a minute. */
export function createLimiter(db: Database, clock: Clock): Limiter {
  const windows = createRecent<Window>(REMEMBERED)
  let longestMs = 0
  let turnedMs = clock().getTime()
  /** What lies further back than any window is of no use, and all that it holds neither. */
  const forget = (nowMs: number, windowMs: number) => {
    longestMs = Math.max(longestMs, windowMs)
    if (Math.abs(nowMs - turnedMs) <= longestMs) return
    windows.turn()
    turnedMs = nowMs
  }
  return {
    wait(bucket, who, { limit, seconds }) {
      const window = windows.get(`${bucket} ${who}`)
      if (!window || window.hits.length < limit) return 0
      const [nowMs, windowMs] = [clock().getTime(), seconds * 1000]
      const wait = (window.hits[window.next] ?? 0) + windowMs - nowMs
      return wait > windowMs ? 0 : Math.max(0, wait)
    },
    admit(bucket, who, { limit, seconds, shared }) {
      const nowMs = clock().getTime()
      const windowMs = seconds * 1000
      if (shared) return admitHit(db, bucket, who, { limit, windowMs, nowMs })
      forget(nowMs, windowMs)
      const key = `${bucket} ${who}`
      const known = windows.get(key)
      const window = known ?? { hits: [], next: 0 }
      if (!known) windows.set(key, window)
      return admit(window, limit, windowMs, nowMs)
    },
  }
}

/** The moments of the newest hits, a ring once `limit` of them are held; `next` is then the oldest. */
interface Window {
  hits: number[]
  next: number
}

function admit(window: Window, limit: number, windowMs: number, nowMs: number): number {
  if (window.hits.length < limit) {
    window.hits.push(nowMs)
    return 0
  }
  const wait = (window.hits[window.next] ?? 0) + windowMs - nowMs
  // Longer than the window: the clock has been set back, and what was counted lies in the future.
  if (wait > windowMs) window.hits.fill(nowMs - windowMs)
  else if (wait > 0) return wait
  window.hits[window.next] = nowMs
  window.next = (window.next + 1) % limit
  return 0
}
