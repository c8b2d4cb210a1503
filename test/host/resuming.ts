import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from './client.ts'
import { type Follower, type Frame, follow } from './follower.ts'

/** A subscriber that resumes at its last byte whenever its connection breaks, until the job has ended. */
export interface Resuming {
  /** Returns the output so far, over all of its connections. */
  output(): string
  /** Returns the phases that it was told of so far. */
  phases(): string[]
  /** Returns its number of connections so far. */
  connections(): number
  /** Settles with the final event; rejects when a byte is missing or repeated, or when it takes too long. */
  ended: Promise<Frame>
}

/** A killed service is back within seconds; this leaves room for a busy machine. */
const RETURN_MS = 60_000
const RETRY_MS = 25
/** A broken connection, a stopping service, a database that cannot be read, a subscriber that is too slow. */
const RESUMABLE_CODES = new Set([1006, 1001, 1011, 1013])

/** Follows a job to its end, over as many connections as it takes. */
export function followOn({ service, token }: Caller, jobId: string): Resuming {
  const text: string[] = []
  const phases: string[] = []
  let at = 0
  let connections = 0
  let current: Follower | undefined

  const take = ({ frames }: Follower): Frame | undefined => {
    for (const frame of frames) {
      if (frame.type === 'update_phase') phases.push(frame.data.phase)
      const chunk = frame.type === 'update_output' ? frame.data.chunk : ''
      const start = frame.seq - Buffer.byteLength(chunk)
      if (start !== at) throw new Error(`${jobId}: expected byte ${at}, got byte ${start}: ${chunk}`)
      at = frame.seq
      text.push(chunk)
    }
    return frames.findLast(({ type }) => type === 'update_done' || type === 'update_error')
  }

  const connect = async (): Promise<Follower> => {
    for (const since = performance.now(); ; ) {
      try {
        return await follow(service, jobId, { token, from: at, withinMs: 300_000 })
      } catch (error) {
        if (performance.now() - since > RETURN_MS) throw error
        await pause(RETRY_MS)
      }
    }
  }

  const followToEnd = async (): Promise<Frame> => {
    for (;;) {
      const one = await connect()
      connections += 1
      current = one
      const code = await one.closed
      current = undefined
      const final = take(one)
      if (code === 1000 && final) return final
      if (!RESUMABLE_CODES.has(code)) throw new Error(`${jobId}: the service closed with ${code}`)
    }
  }

  const ended = followToEnd()
  ended.catch(() => {})
  return {
    output: () => text.join('') + (current?.output() ?? ''),
    phases: () => [...phases],
    connections: () => connections,
    ended,
  }
}
