import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from './client.ts'
import { type Follower, type Frame, follow } from './follower.ts'

/** A subscriber that comes back where it was, whenever its connection breaks, until the job has ended. */
export interface Resuming {
  /** What has arrived so far, over all of its connections. */
  output(): string
  /** How many connections it has had. */
  connections(): number
  /** Settles with the final event; rejects when a byte was missing or came twice, or when it takes too long. */
  ended: Promise<Frame>
}

/** A service that is killed is back within seconds. */
const BACK_MS = 60_000
const AGAIN_MS = 25
/** The connection broke, the service is stopping or cannot read what is stored, or this subscriber was too slow. */
const COMES_BACK = new Set([1006, 1001, 1011, 1013])

export function followOn({ service, token }: Caller, jobId: string): Resuming {
  const text: string[] = []
  let at = 0
  let connections = 0
  let current: Follower | undefined

  const take = ({ frames }: Follower): Frame | undefined => {
    for (const frame of frames) {
      const chunk = frame.type === 'update_output' ? frame.data.chunk : ''
      const start = frame.seq - Buffer.byteLength(chunk)
      if (start !== at) throw new Error(`${jobId}: what begins at byte ${start} came at byte ${at}: ${chunk}`)
      at = frame.seq
      text.push(chunk)
    }
    return frames.findLast(({ type }) => type !== 'update_output')
  }

  const connect = async (): Promise<Follower> => {
    for (const since = performance.now(); ; ) {
      try {
        return await follow(service, jobId, { token, from: at, withinMs: 300_000 })
      } catch (error) {
        if (performance.now() - since > BACK_MS) throw error
        await pause(AGAIN_MS)
      }
    }
  }

  const toItsEnd = async (): Promise<Frame> => {
    for (;;) {
      const one = await connect()
      connections += 1
      current = one
      const code = await one.closed
      current = undefined
      const final = take(one)
      if (code === 1000 && final) return final
      if (!COMES_BACK.has(code)) throw new Error(`${jobId}: the service closed with ${code}`)
    }
  }

  const ended = toItsEnd()
  ended.catch(() => {})
  return {
    output: () => text.join('') + (current?.output() ?? ''),
    connections: () => connections,
    ended,
  }
}
