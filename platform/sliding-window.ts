/** The times of the newest hits: a ring buffer once it holds `limit` of them, with the oldest at `next`. */
export interface SlidingWindow {
  hits: number[]
  next: number
}

/** Counts a hit and returns 0, or returns the milliseconds until the next one is admitted. */
export function admitNow(window: SlidingWindow, limit: number, windowMs: number, nowMs: number): number {
  if (window.hits.length < limit) {
    window.hits.push(nowMs)
    return 0
  }
  const wait = (window.hits[window.next] ?? 0) + windowMs - nowMs
  // A wait longer than the window means that the clock was set back and the hits lie in the future.
  if (wait > windowMs) window.hits.fill(nowMs - windowMs)
  else if (wait > 0) return wait
  window.hits[window.next] = nowMs
  window.next = (window.next + 1) % limit
  return 0
}

/** Returns the same wait without counting a hit. */
export function waitOf({ hits, next }: SlidingWindow, limit: number, windowMs: number, nowMs: number): number {
  if (hits.length < limit) return 0
  const wait = (hits[next] ?? 0) + windowMs - nowMs
  return wait > windowMs ? 0 : Math.max(0, wait)
}
