import type { Panel } from '../../client/index.ts'
import { connected } from './connection.ts'
import { panel } from './panel.ts'

type Socket = Awaited<ReturnType<Panel['open']>>

/** The pause before a new attempt: this much at first, twice as much after each failure. */
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 60_000
/** How often data is read while no socket tells of its changes. */
const POLL_MS = 30_000
/** The service closes a socket with this code when its token has expired. */
const UNAUTHENTICATED = 4401

interface Followed {
  path: `/ws/${string}`
  /** Called for each frame of the socket, at the start, and in place of frames while there is no socket. */
  changed(): void
  /** Whether the last reading failed: it is then repeated without a frame. */
  hasFailed(): boolean
}

/**
 * Follows a socket whose frames say that data has changed, until the returned function is called. It reconnects with growing pauses. A hidden
 * page has no socket and reads nothing; once it is visible again, it reads at once.
 */
export function followChanges({ path, changed, hasFailed }: Followed): () => void {
  /** Each attempt has its own number: late events of earlier ones have no effect. */
  let attempt = 0
  let failures = 0
  let isLive = false
  let socket: Socket | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  const drop = () => {
    attempt += 1
    isLive = false
    clearTimeout(retryTimer)
    socket?.close()
    socket = undefined
  }
  const retry = () => {
    drop()
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
    failures += 1
    // Pages that lost their sockets together come back one after another.
    retryTimer = setTimeout(() => void open(), (pause * (1 + Math.random())) / 2)
  }
  const open = async () => {
    drop()
    const mine = attempt
    try {
      const opened = await panel.open(path)
      if (attempt !== mine) return opened.close()
      socket = opened
      opened.addEventListener('message', () => {
        if (attempt !== mine) return
        isLive = true
        failures = 0
        changed()
      })
      opened.addEventListener('close', ({ code }) => {
        if (attempt !== mine) return
        if (code === UNAUTHENTICATED) void panel.renew().catch(() => {})
        retry()
      })
    } catch {
      if (attempt === mine) retry()
    }
  }
  const settle = () => {
    // The service cannot be reached: `connected` tells when it can.
    if (document.hidden || !connected.peek()) return drop()
    changed()
    failures = 0
    void open()
  }

  document.addEventListener('visibilitychange', settle)
  const unsubscribe = connected.subscribe(settle)
  const poll = setInterval(() => {
    if (!document.hidden && (!isLive || hasFailed())) changed()
  }, POLL_MS)
  return () => {
    document.removeEventListener('visibilitychange', settle)
    unsubscribe()
    clearInterval(poll)
    drop()
  }
}
