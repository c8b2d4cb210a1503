import { createHash } from 'node:crypto'

/** What one follower got of a job's output, by the byte. */
export interface Received {
  /** How far it has come: where to go on after a cut. */
  at(): number
  /** A piece of the output and where it ends. */
  take(chunk: string, end: number): void
  /** The event that says that nothing more comes, and where. */
  finish(end: number): void
  result(): ReceivedOutput
}

export interface ReceivedOutput {
  size: number
  /** Of all bytes in order; what came twice counts once. */
  sha256: string
  /** Bytes that were passed over. */
  lost: number
  /** Bytes that came again. */
  repeated: number
  /** How often the end was told. */
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
