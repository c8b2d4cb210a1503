import { setTimeout as pause } from 'node:timers/promises'
import type { JobOutput } from './output.ts'

/** How far an instance has come with a job, for who runs only while somebody waits for its answer. */
export interface JobProgress {
  /** Settles when the host has begun the job, or it waits for another one. */
  begun: Promise<void>
  waits(): void
  hasTurn(): void
  launched(): void
  /** The host tells of the job, into that output; to be called with each piece. */
  hears(output: JobOutput): void
  /** The host tells of it no more: it has ended, or is to be reached again. */
  hearsNothing(): void
  /**
   * Settles when all that the host has put out until now is most likely stored, or `done` settles. A job whose end the host has
   * told is waited for until that is recorded.
   */
  caughtUp(done: Promise<void>): Promise<void>
}

/** Between two looks; what has arrived meanwhile is taken in. */
const LOOK_MS = 10
/** In looks, all three: while the process stands still, or is busy, nothing can arrive. What is there comes without such a pause. */
const QUIET = 15
/** Of a job that never pauses, a second's output at a time. */
const ENOUGH = 100
/** Signing in to the host and asking for the output takes a second on a slow one; a person waits for the answer. */
const REACH = 500

export function createJobProgress(): JobProgress {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let waiting = false
  let heard: JobOutput | undefined
  let pieces = 0

  return {
    begun,
    waits() {
      waiting = true
      begin()
    },
    hasTurn() {
      waiting = false
    },
    launched: begin,
    hears(output) {
      heard = output
      pieces += 1
    },
    hearsNothing() {
      heard = undefined
    },
    async caughtUp(done) {
      let over = false
      const leave = () => {
        over = true
      }
      const end = done.then(leave, leave)
      let [seen, quiet, hearing] = [pieces, 0, 0]
      for (let looks = 0; looks < REACH && !over; looks += 1) {
        if (waiting && looks >= QUIET) return
        quiet = heard && pieces === seen ? quiet + 1 : 0
        hearing = heard ? hearing + 1 : 0
        seen = pieces
        // What cannot be stored is read again from the host.
        if (heard && (quiet > QUIET || hearing > ENOUGH)) return heard.flush().catch(() => {})
        await Promise.race([end, pause(LOOK_MS)])
      }
    },
  }
}
