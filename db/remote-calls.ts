import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@libsql/client/web'

/** A server that says nothing for so long is taken for dead. */
const TIMEOUT_MS = 10_000
/** As many are under way at a time as in libSQL's own limit. */
const MOST = 20

/**
 * Makes calls to a server, some at a time and the others in the order in which they came. One that is not answered in time
 * rejects; one whose time is over before its turn is never made, because whoever asked has been told that it failed.
 */
export function remoteCalls({
  most = MOST,
  timeoutMs = TIMEOUT_MS,
} = {}): <result>(work: () => Promise<result>) => Promise<result> {
  const waiting = new Set<() => void>()
  let underWay = 0
  return (work) =>
    new Promise((resolve, reject) => {
      let begun = false
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(begin)
        if (!begun) return
        begun = false
        underWay -= 1
        const [next] = waiting
        next?.()
      }
      const begin = () => {
        waiting.delete(begin)
        begun = true
        underWay += 1
        void work().then(resolve, reject).finally(leave)
      }
      const timer = setTimeout(() => {
        reject(new Error(`no answer within ${timeoutMs} ms`))
        waiting.delete(begin)
        // Those that have waited for as long are given up first.
        setImmediate(leave)
      }, timeoutMs)
      waiting.add(begin)
      if (underWay < most) begin()
    })
}

/**
 * Makes changes one at a time, each again while it meets one of another instance. Two at a time are hardly faster, and eight at a
 * time, of all instances together, have a libSQL server of version 0.24 answer nobody any more.
 */
export function remoteChanges(): ReturnType<typeof remoteCalls> {
  const inTurn = remoteCalls({ most: 1 })
  return (work) => {
    const until = performance.now() + TIMEOUT_MS
    return inTurn(async () => {
      for (let wait = 5; ; wait = Math.min(wait * 2, 200)) {
        try {
          return await work()
        } catch (error) {
          if (!isBusy(error) || performance.now() + wait > until) throw error
          await pause(wait)
        }
      }
    })
  }
}

/** Another one's change is under way: this one has not been made. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}

/** A client whose calls are to be made by `remoteCalls`. It is loaded where it is used alone: the others need none of it. */
export async function connectRemote(url: string, authToken: string | undefined): Promise<Client> {
  const { createClient } = await import('@libsql/client/web')
  return createClient({ url, ...(authToken && { authToken }), concurrency: UNLIMITED, fetch: fetchInTime })
}

/** Of the client's own limit, whose queue would make calls that were given up long before. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Gives its connection up in time as well: one to a server that is gone without a word would be waited for for minutes. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
}
