import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { createReceived, type Received, type ReceivedOutput } from './received.ts'
import type { Line, World } from './traffic.ts'

/** A follower of a job to its end. */
export interface Follower {
  world: World
  line: Line
  address: string
  token(): string
  cookie(): string
  /** Aborted when the run stops waiting: a job that has not ended by then is stuck. */
  given: AbortSignal
}

const Frame = z.union([
  z.object({ type: z.literal('update_output'), seq: z.number(), data: z.object({ chunk: z.string() }) }),
  z.object({ type: z.literal('update_done'), seq: z.number(), data: z.object({ job_id: z.string() }) }),
  z.object({ type: z.literal('update_error'), seq: z.number(), data: z.object({ error: z.string().nullable() }) }),
])

/** The waits of a client before it reconnects; the service may be starting. */
const RETRY_MS = [200, 500, 1_000, 2_000] as const
const CLOSED_WITHOUT_FAULT = [1000, 1001, 1005, 1006, 1013]

/** Follows a job by socket, and resumes with `from` after every cut; undefined when it gave up. */
export async function followBySocket(follower: Follower, id: string): Promise<ReceivedOutput | undefined> {
  const received = createReceived()
  for (let tries = 0; received.result().finals === 0; tries += 1) {
    if (follower.given.aborted) return undefined
    const before = received.at()
    await listen(follower, id, received)
    if (received.at() > before) tries = 0
    if (received.result().finals === 0) await wait(tries, follower.given)
  }
  return received.result()
}

/** Reads one connection until it closes. */
function listen({ world, address, token, given }: Follower, id: string, received: Received): Promise<void> {
  const from = Date.now()
  const url = `${world.url.replace('http', 'ws')}/ws/updates/${id}?from=${received.at()}`
  const socket = new WebSocket(url, ['panel.v1', `bearer.${token()}`], {
    headers: { 'x-forwarded-for': address },
    perMessageDeflate: false,
  })
  const giveUp = () => socket.terminate()
  given.addEventListener('abort', giveUp)
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      const frame = Frame.safeParse(parsed(String(data)))
      if (!frame.success) return world.findings.add('undeclared', `socket of ${id}: ${String(data).slice(0, 200)}`)
      const { seq } = frame.data
      if (frame.data.type === 'update_output') received.take(frame.data.data.chunk, seq)
      else received.finish(seq)
    })
    // A lost connection; a `close` follows.
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => {
      world.findings.add('unexpected', `socket of ${id}: refused by ${response.statusCode}`)
      socket.terminate()
    })
    socket.on('close', (code, reason) => {
      given.removeEventListener('abort', giveUp)
      world.count(`socket closed with ${code}`)
      const excused = code === 1011 && world.weather.met(['lock'], from, Date.now())
      if (!CLOSED_WITHOUT_FAULT.includes(code) && !excused)
        world.findings.add('unexpected', `socket of ${id}: closed with ${code} ${reason}`)
      if (code === 1000 && received.result().finals === 0)
        world.findings.add('finals', `socket of ${id}: closed with 1000 before the final event`)
      resolve()
    })
  })
}

const Part = z.object({ chunk: z.string(), offset: z.number(), next_offset: z.number(), ended: z.boolean() })
const POLL_MS = 700

/** Follows a job by polling; undefined when it gave up. */
export async function followByPolling(follower: Follower, id: string): Promise<ReceivedOutput | undefined> {
  const received = createReceived()
  while (!follower.given.aborted) {
    const path = `/api/updates/jobs/${id}/output?offset=${received.at()}`
    const answer = await follower.line.ask({ method: 'GET', path, token: follower.token() })
    if (answer?.status === 200) {
      const { chunk, offset, next_offset, ended } = Part.parse(answer.body)
      received.take(chunk, next_offset)
      if (offset + Buffer.byteLength(chunk) !== next_offset)
        follower.world.findings.add('undeclared', `output of ${id}: ${offset} to ${next_offset} is another length`)
      if (ended) {
        received.finish(next_offset)
        return received.result()
      }
    }
    await pause(POLL_MS, undefined, { signal: follower.given }).catch(() => {})
  }
  return undefined
}

async function wait(tries: number, signal: AbortSignal): Promise<void> {
  await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)], undefined, { signal }).catch(() => {})
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
