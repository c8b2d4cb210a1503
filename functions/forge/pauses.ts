import { setTimeout as sleep } from 'node:timers/promises'

/** The bounds in seconds of a pause that a forge asks for; a longer one is asked for again. */
const LEAST = 1
const MOST = 60
/** Origins that are kept; one is forgotten at its first good answer. */
const KEPT = 100

type Answered = Pick<Headers, 'get'>

interface Pause {
  /** The end, on the clock of `now`. */
  until: number
  /** The length in seconds of the last pause whose length the forge did not say. */
  seconds: number
}

/** The time of the pauses. Tests set their own. */
export interface PauseTime {
  /** Milliseconds of a clock that is never set back. */
  now(): number
  /** Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

const REAL: PauseTime = { now: () => performance.now(), wait: (ms, signal) => sleep(ms, undefined, { signal }) }

/**
 * The pauses of forges that limit requests, one an origin. A forge counts the requests of this machine, not of one
 * caller, so all requests to it wait together.
 */
export function createPauses({ now, wait }: PauseTime = REAL) {
  const pauses = new Map<string, Pause>()
  const leftMs = (origin: string) => Math.max(0, (pauses.get(origin)?.until ?? 0) - now())

  return {
    /** Resolves at the end of the origin's pause, at once without one. Rejects when the signal aborts. */
    async over(origin: string, signal: AbortSignal): Promise<void> {
      // Another request may have met a longer pause meanwhile.
      for (let left = leftMs(origin); left > 0; left = leftMs(origin)) await wait(left, signal)
    },
    /** The rest of the pause in whole seconds; 0 without one. */
    secondsLeft: (origin: string) => Math.ceil(leftMs(origin) / 1000),
    /** Begins a pause, or lengthens it, after an answer that limits requests. Without a length, each is twice as long. */
    begin(origin: string, headers: Answered): void {
      const before = pauses.get(origin) ?? { until: 0, seconds: 0 }
      const said = secondsOf(headers)
      // Answers to requests that went out together are one refusal.
      if (said === undefined && before.until > now()) return
      const seconds = said ?? Math.min(MOST, Math.max(LEAST, 2 * before.seconds))
      pauses.delete(origin)
      const [oldest] = pauses.keys()
      if (oldest !== undefined && pauses.size >= KEPT) pauses.delete(oldest)
      pauses.set(origin, {
        until: Math.max(before.until, now() + seconds * 1000),
        seconds: said === undefined ? seconds : before.seconds,
      })
    },
    /** Notes a good answer: the next pause is short again. */
    end(origin: string): void {
      if (leftMs(origin) === 0) pauses.delete(origin)
    },
  }
}

export type Pauses = ReturnType<typeof createPauses>

/** The pauses of this process. */
export const PAUSES = createPauses()

/** Whether an answer limits requests. A 503 without a time is a forge that does not work. */
export function isLimit({ status, headers }: { status: number; headers: Answered }): boolean {
  return status === 429 || (status === 503 && secondsOf(headers) !== undefined)
}

/**
 * Reads `Retry-After`, a number of seconds or a date on the clock of the forge, within the bounds; undefined when it is
 * neither.
 */
function secondsOf(headers: Answered): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  const now = Date.parse(headers.get('date') ?? '')
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(MOST, Math.max(LEAST, Math.ceil(seconds)))
}
