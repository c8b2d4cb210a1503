import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import * as z from 'zod'
import type { Address } from './service.ts'

const Envelope = { topic: z.string(), seq: z.number().int() }
const Frame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('update_output'), ...Envelope, data: z.strictObject({ chunk: z.string() }) }),
  z.strictObject({ type: z.literal('update_phase'), ...Envelope, data: z.strictObject({ phase: z.string() }) }),
  z.strictObject({ type: z.literal('update_error'), ...Envelope, data: z.strictObject({ error: z.string() }) }),
  z.strictObject({ type: z.literal('update_done'), ...Envelope, data: z.strictObject({ job_id: z.string() }) }),
])

export type Frame = z.infer<typeof Frame>

/** One subscriber of a job's topic. */
export interface Follower {
  /** The frames so far, each with its time of arrival (ms since the start of this process). */
  frames: readonly (Frame & { at: number })[]
  /** Returns the joined chunks so far. */
  output(): string
  /** The subprotocol that the service selected. */
  protocol(): string
  /** Settles when the condition is true; rejects when the socket closes before. */
  until(condition: (follower: Follower) => boolean): Promise<void>
  /** Settles with the code that the service closed the socket with; rejects when it stays open for too long. */
  closed: Promise<number>
}

interface Options {
  /** A subscriber without a token is anonymous. */
  token?: string
  from?: number
  /** The longest time until the service closes the socket. */
  withinMs?: number
}

/** Subscribes to a job as a browser does: the token travels as a subprotocol. Settles when the socket is open. */
export async function follow(
  { url }: Address,
  jobId: string,
  { token, from, withinMs = 90_000 }: Options = {},
): Promise<Follower> {
  const address = `${url.replace('http', 'ws')}/ws/updates/${jobId}${from === undefined ? '' : `?from=${from}`}`
  const socket = new WebSocket(address, ['panel.v1', ...(token === undefined ? [] : [`bearer.${token}`])])
  const frames: (Frame & { at: number })[] = []
  const problems: unknown[] = []
  socket.on('message', (bytes) => {
    try {
      frames.push({ ...Frame.parse(JSON.parse(String(bytes))), at: performance.now() })
    } catch (error) {
      problems.push(error)
    }
  })
  const closed = new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the socket of ${jobId} is still open after ${withinMs} ms: ${JSON.stringify(frames.at(-1))}`))
      socket.terminate()
    }, withinMs)
    socket.on('close', (code) => {
      clearTimeout(timer)
      if (problems.length > 0) reject(problems[0])
      else resolve(code)
    })
  })
  closed.catch(() => {})
  const follower: Follower = {
    frames,
    output: () => frames.map((frame) => (frame.type === 'update_output' ? frame.data.chunk : '')).join(''),
    protocol: () => socket.protocol,
    async until(condition) {
      while (!condition(follower)) {
        if (socket.readyState === socket.CLOSED) throw new Error(`the socket closed too early: ${follower.output()}`)
        await pause(5)
      }
    },
    closed,
  }
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => resolve())
    socket.on('error', reject)
  })
  return follower
}
