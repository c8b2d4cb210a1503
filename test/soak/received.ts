import { createHash } from 'node:crypto'

/** The bytes of a job's output that one follower received. */
export interface Received {
  /** The offset at which to resume after a cut. */
  at(): number
  /** Adds a piece of the output and its end offset. */
  take(chunk: string, end: number): void
  /** Adds the final event, and its offset. */
  finish(end: number): void
  result(): ReceivedOutput
}

export interface ReceivedOutput {
  size: number
  /** A hash of all bytes in order; repeated bytes count once. */
  sha256: string
  /** Number of skipped bytes. */
  lost: number
  /** Number of repeated bytes. */
  repeated: number
  /** Number of final events. */
  finals: number
}

export function createReceived(): Received {
  const hash = createHash('sha256')
  let size = 0
  let lost = 0
  let repeated = 0
  let finals = 0
  return {
    at: () => size,
    take(chunk, end) {
      const bytes = Buffer.from(chunk)
      const start = end - bytes.length
      lost += Math.max(0, start - size)
      const known = Math.min(bytes.length, Math.max(0, size - start))
      repeated += known
      hash.update(bytes.subarray(known))
      size = Math.max(size, end)
    },
    finish(end) {
      finals += 1
      lost += Math.max(0, end - size)
      size = Math.max(size, end)
    },
    result: () => ({ size, sha256: hash.copy().digest('hex'), lost, repeated, finals }),
  }
}
