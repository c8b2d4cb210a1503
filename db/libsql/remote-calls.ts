import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from './text.ts'

/** A server that says nothing for so long is taken for dead. */
export const TIMEOUT_MS = 10_000
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
