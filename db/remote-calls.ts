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
