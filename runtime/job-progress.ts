import { setTimeout as pause } from 'node:timers/promises'
import type { JobOutput } from './job-output.ts'

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

/** What a host has put out comes without a pause of this length, unless its network is very slow. */
const QUIET_MS = 150
/** Of a job that never pauses, this much at a time. */
const ENOUGH_MS = 1_000
/** Signing in to the host and asking for the output takes a second on a slow one; a person waits for the answer. */
const REACH_MS = 5_000
const LOOK_MS = 10

export function createJobProgress(clock: () => number = () => performance.now()): JobProgress {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let waiting = false
  let heard: { output: JobOutput; since: number; last: number } | undefined

  /** What has arrived since `asked`, if that is all for now. */
  const arrived = (asked: number): JobOutput | undefined => {
    const now = clock()
    if (!heard) return undefined
    const isQuiet = now - Math.max(heard.last, asked) >= QUIET_MS
    return isQuiet || now - Math.max(heard.since, asked) >= ENOUGH_MS ? heard.output : undefined
  }

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
      const now = clock()
      heard = { output, since: heard?.output === output ? heard.since : now, last: now }
    },
    hearsNothing() {
      heard = undefined
    },
    async caughtUp(done) {
      let over = false
      const end = done.then(
        () => (over = true),
        () => (over = true),
      )
      const asked = clock()
      while (!over && clock() - asked < REACH_MS) {
        if (waiting && clock() - asked >= QUIET_MS) return
        const output = arrived(asked)
        // What could not be stored is read again from the host.
        if (output) return output.flush().catch(() => {})
        await Promise.race([end, pause(LOOK_MS)])
      }
    },
  }
}
