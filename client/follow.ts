import { ApiError, isTransient } from './api-error.ts'
import type { Session } from './session.ts'
import { CLOSE, connect, type SocketConstructor } from './socket.ts'
import { type Event, isLast, type Source } from './topics.ts'

/** `live`: events arrive as they happen. `polling`: the client polls for them. `waiting`: the connection is down; nothing is lost. */
export type FollowState = 'connecting' | 'live' | 'polling' | 'waiting'

/** Goes with `waiting` and `polling`: the close reason of the socket, or the error code of a refused request. */
export type FollowTrouble = string

export interface FollowOptions {
  /** The `seq` of the last event that the caller already has. */
  from?: number
  signal?: AbortSignal
  /** Also called when only the trouble changes. */
  onState?(state: FollowState, trouble?: FollowTrouble): void
}

interface Means {
  url: string
  session: Session
  WebSocket: SocketConstructor | undefined
}

/** After this many sockets in a row without an event, the client polls the topic. */
const FAILURES = 3
const FIRST_WAIT_MS = 500
/** The longest wait, so that the client notices within this time that the service is back. */
const LONGEST_WAIT_MS = 5_000
/** Time between attempts to open a socket while polling. Where sockets do not work, each attempt delays the polling until it times out. */
const SOCKET_AGAIN_MS = 15_000
/** After the service closed a socket because of its own fault, the next socket counts as live once it has stayed open this long. */
const SETTLED_MS = 1_500
/** The pause between two polls; the second one applies when the first poll returned something. */
const POLL_MS = 1_000
const POLL_ON_MS = 250

/**
 * Yields the events of a topic up to the last one, each exactly once, across reconnects. Throws errors that a retry cannot fix. Leaves no
 * connection open when the caller stops early or aborts.
 */
export async function* follow(
  topic: string,
  source: Source,
  { url, session, WebSocket }: Means,
  { from = 0, signal, onState }: FollowOptions,
): AsyncGenerator<Event, void, undefined> {
  let state: FollowState | undefined
  let trouble: FollowTrouble | undefined
  let at = from
  let begun = false
  let failures = 0
  /** While polling: the time of the next attempt to open a socket. */
  let socketAt = 0
  let closedDone = false
  let silent = false
  let wait = 0

  const become = (next: FollowState, why?: FollowTrouble) => {
    if (next === state && why === trouble) return
    state = next
    trouble = why
    onState?.(next, ...(why ? [why] : []))
  }
  const fail = (status: number, code: string, message: string) => new ApiError(topic, { status, code, message })

  /** Whether an event is new. A phase and the last event may have the same number as the one before them. */
  const take = (event: Event): boolean => {
    // A later service may send events without a valid `seq`; they have no position in the topic.
    if (!Number.isSafeInteger(event.seq)) return false
    const fresh = !begun || event.seq > at || event.type === 'update_phase' || isLast(event)
    begun = true
    at = Math.max(at, event.seq)
    return fresh
  }

  async function* live(WebSocket: SocketConstructor, token: string) {
    // A new socket replaces a silent one without a visible state change.
    if (failures < FAILURES && !silent && trouble === undefined) become('connecting')
    const address = `${url.replace(/^http/, 'ws')}${source.path}${at > 0 ? `?from=${at}` : ''}`
    let settled: ReturnType<typeof setTimeout> | undefined
    const onOpen = () => {
      if (trouble === undefined) become('live')
      // A service whose database fails still opens the socket.
      else settled = setTimeout(() => become('live'), SETTLED_MS)
    }
    const connection = connect<Event>({ WebSocket, address, token, session, signal, onOpen })
    let heard = false
    try {
      for (let event = await connection.next(); event; event = await connection.next()) {
        heard = true
        failures = 0
        become('live')
        yield event
      }
    } finally {
      clearTimeout(settled)
      connection.close()
    }
    const code = connection.code()
    if (code === CLOSE.forbidden) throw fail(403, 'forbidden', 'Vos droits ne permettent pas cette action.')
    if (code === CLOSE.missing) throw fail(404, source.missing.code, source.missing.message)
    if (code === CLOSE.refused) throw fail(400, 'invalid_request', 'La requête est invalide.')
    closedDone = code === CLOSE.done
    silent = code === CLOSE.silent
    if (closedDone || silent) return
    if (!heard) failures += 1
    wait = heard && code === CLOSE.behind ? 0 : backOff(failures)
    socketAt = performance.now() + SOCKET_AGAIN_MS
    if (code === CLOSE.unauthenticated) {
      wait = 0
      await session.renew(token)
    }
    if (failures >= FAILURES) wait = 0
    else if (wait > 0) become('waiting', connection.word())
  }

  async function* polled() {
    const before = at
    const told = await source.poll(at, signal)
    // After a socket closed without a last event, one silent poll finds out how the topic ended.
    if (!closedDone) become('polling')
    closedDone = false
    yield* told
    wait = at > before ? POLL_ON_MS : POLL_MS
  }

  for (;;) {
    signal?.throwIfAborted()
    wait = 0
    try {
      const token = await session.token()
      if (!token) throw fail(401, 'unauthenticated', 'Vous devez être connecté.')
      const poll = !WebSocket || closedDone || (failures >= FAILURES && performance.now() < socketAt)
      for await (const event of poll ? polled() : live(WebSocket, token)) {
        if (take(event)) yield event
        if (isLast(event)) return
      }
    } catch (error) {
      if (!isTransient(error)) throw error
      failures += 1
      wait = Math.max(backOff(failures), (error.retryAfter ?? 0) * 1000)
      become('waiting', error.status > 0 ? error.code : undefined)
    }
    if (wait > 0) await sleep(wait, signal)
  }
}

/** Grows with each failure, with jitter so that clients do not reconnect at the same time. */
function backOff(failures: number): number {
  return (Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures + 1)) * (1 + Math.random())) / 2
}

/** Resolves early when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}
