import { setTimeout as pause } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { WebSocket } from 'ws'
import { isTransient } from '../../client/api-error.ts'
import { createPanel } from '../../client/index.ts'
import type { Follower } from './follower.ts'
import { createReceived, type ReceivedOutput } from './received.ts'

const RETRY_MS = 500

/** Follows a job with the published client, in the session of the follower; undefined when it gave up. */
export async function followByClient(
  { world, address, cookie, given }: Follower,
  id: string,
): Promise<ReceivedOutput | undefined> {
  const dispatcher = new Agent({ connections: 1 })
  const forwarded = { 'x-forwarded-for': address }
  const panel = createPanel({
    url: world.url,
    fetch: (url, { headers, credentials: _, ...init }) => {
      const own = url.endsWith('/auth/refresh') ? { cookie: cookie() } : {}
      return fetch(url, { ...init, headers: { ...headers, ...forwarded, ...own }, dispatcher })
    },
    WebSocket: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, { headers: forwarded, perMessageDeflate: false })
      }
    },
  })
  const received = createReceived()
  try {
    for (let signedIn = false; !signedIn && !given.aborted; ) {
      signedIn = await panel.resume().catch((error: unknown) => {
        if (!isTransient(error)) throw error
        return pause(RETRY_MS, false)
      })
    }
    for await (const event of panel.follow(`update:${id}`, { signal: given })) {
      if (event.type === 'update_output') received.take(event.data.chunk, event.seq)
      else received.finish(event.seq)
    }
    return received.result()
  } catch (error) {
    if (!given.aborted) world.findings.add('unexpected', `the client, following ${id}: ${error}`)
    return undefined
  } finally {
    await dispatcher.destroy()
  }
}
