import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { answer } from './child.ts'

/** The pause between an answer and the next request: a stall of 10 ms is seen several times. */
const PAUSE_MS = 1

let longest = 0
let asks = false

async function ask(url: string): Promise<void> {
  for (;;) {
    const began = performance.now()
    const response = await fetch(`${url}/api/health`)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`GET /api/health: ${response.status}`)
    longest = Math.max(longest, performance.now() - began)
    await pause(PAUSE_MS)
  }
}

/** Asks for the health of a service without end; each question returns the longest delay since the previous one. */
answer(z.object({ url: z.string() }), async ({ url }) => {
  if (!asks) void ask(url)
  asks = true
  // A request that waits when the question comes belongs to the time before it.
  await pause(50)
  const delay = longest
  longest = 0
  return delay
})
