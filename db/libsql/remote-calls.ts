import { retry } from '../../platform/retry.ts'
import { isBusy } from './text.ts'

/** A server that does not answer for this long counts as dead. */
export const TIMEOUT_MS = 10_000
/** The number of concurrent calls, the same as libSQL's own limit. */
const MOST = 20
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 200

/**
 * Makes calls to a server, at most `most` at a time and in their order. A call without an answer in time rejects. A
 * call whose time is over before its turn is never made, because its caller already has an error.
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
        // Other calls that time out at this moment are given up before the next one starts.
        setImmediate(leave)
      }, timeoutMs)
      waiting.add(begin)
      if (underWay < most) begin()
    })
}

/**
 * Makes changes one at a time, and retries a change that meets one of another instance. Two changes at a time are
 * hardly faster, and eight, from all instances together, make a libSQL server of version 0.24 hang.
 */
export function remoteChanges(): ReturnType<typeof remoteCalls> {
  const oneAtATime = remoteCalls({ most: 1 })
  return (work) => {
    const until = performance.now() + TIMEOUT_MS
    const pauseAfter = (error: unknown, failures: number) => {
      const wait = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
      return isBusy(error) && performance.now() + wait <= until ? wait : undefined
    }
    return oneAtATime(() => retry(work, pauseAfter))
  }
}
