import { setTimeout as pause } from 'node:timers/promises'
import type { JobOutput } from './output.ts'

/**
 * The progress of an instance with a job. A function host, which runs only during requests, awaits it before it
 * answers.
 */
export interface JobProgress {
  /** Settles when the host has started the job, or when the job waits for another one. */
  startedOrWaiting: Promise<void>
  waits(): void
  hasTurn(): void
  launched(): void
  /** The host sends the job's output, which goes into `output`; to be called with each piece. */
  receives(output: JobOutput): void
  /** The stream of the output has ended: the job has ended, or the connection is lost. */
  disconnected(): void
  /**
   * Settles when all output that the host has until now is most likely stored, or when `done` settles. If the host has
   * reported the job's end, waits until that is recorded.
   */
  caughtUp(done: Promise<void>): Promise<void>
}

/** Pause between two polls, in which output can arrive. */
const POLL_MS = 10
// The limits count polls, not time: a frozen or busy process polls as little as it receives.
/** Output that the host already has arrives without a pause of so many polls. */
const QUIET_POLLS = 15
/** A job that never pauses is followed for a second at a time. */
const RECEIVING_POLLS = 100
/** Connecting and asking for the output takes a second with a slow host; a person waits for the answer. */
const ALL_POLLS = 500

export function createJobProgress(): JobProgress {
  let settle = () => {}
  const startedOrWaiting = new Promise<void>((resolve) => {
    settle = resolve
  })
  let waiting = false
  let receiving: JobOutput | undefined
  let pieces = 0

  return {
    startedOrWaiting,
    waits() {
      waiting = true
      settle()
    },
    hasTurn() {
      waiting = false
    },
    launched: settle,
    receives(output) {
      receiving = output
      pieces += 1
    },
    disconnected() {
      receiving = undefined
    },
    async caughtUp(done) {
      let over = false
      const leave = () => {
        over = true
      }
      const end = done.then(leave, leave)
      let [seen, quiet, connected] = [pieces, 0, 0]
      for (let polls = 0; polls < ALL_POLLS && !over; polls += 1) {
        if (waiting && polls >= QUIET_POLLS) return
        quiet = receiving && pieces === seen ? quiet + 1 : 0
        connected = receiving ? connected + 1 : 0
        seen = pieces
        // The follower reads output again from the host if it cannot be stored.
        if (receiving && (quiet > QUIET_POLLS || connected > RECEIVING_POLLS)) return receiving.flush().catch(() => {})
        await Promise.race([end, pause(POLL_MS)])
      }
    },
  }
}
