import { ApiError, isPassing } from './api-error.ts'
import type { Session } from './session.ts'
import { CLOSE, connect, type SocketConstructor } from './socket.ts'
import { type Event, isLast, type Source } from './topics.ts'

/** `live`: events come as they happen. `polling`: they are asked for, later. `waiting`: the connection is gone, nothing is lost. */
export type FollowState = 'connecting' | 'live' | 'polling' | 'waiting'

/** Of `waiting` and `polling`: the service has closed the socket with this word, or has refused a question with this code. */
export type FollowTrouble = string

export interface FollowOptions {
  /** The `seq` of the last event that is known already. */
  from?: number
  signal?: AbortSignal
  /** Also told when the trouble is another one. */
  onState?(state: FollowState, trouble?: FollowTrouble): void
}

interface Means {
  url: string
  session: Session
  WebSocket: SocketConstructor | undefined
}

/** So many sockets in a row that have told nothing, and the topic is polled. */
const FAILURES = 3
const FIRST_WAIT_MS = 500
/** A service that is back after a long time is noticed this soon. */
const LONGEST_WAIT_MS = 5_000
/** Where sockets do not get through, each further one may hold up the questions until it is given up. */
const SOCKET_AGAIN_MS = 15_000
/** A socket that was closed for a fault of the service is believed in again once it has stayed open for so long. */
const SETTLED_MS = 1_500
/** Between two questions: the second when the first was answered with something. */
const POLL_MS = 1_000
const POLL_ON_MS = 250

/**
 * The events of a topic to its last one, each once, whatever becomes of the connections. Throws what no further attempt would
 * mend. Who stops early, or aborts, leaves nothing open behind.
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
  /** When polling: the next time for a socket. */
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

  /** Whether an event has not been told yet. The last one may have the number of the one before it. */
  const take = (event: Event): boolean => {
    // Of a later service, and of no topic: what has no place in it.
    if (!Number.isSafeInteger(event.seq)) return false
    const fresh = !begun || event.seq > at || isLast(event)
    begun = true
    at = Math.max(at, event.seq)
    return fresh
  }

  async function* live(WebSocket: SocketConstructor, token: string) {
    // In the place of a silent one: nobody need know.
    if (failures < FAILURES && !silent && trouble === undefined) become('connecting')
    const address = `${url.replace(/^http/, 'ws')}${source.path}${at > 0 ? `?from=${at}` : ''}`
    let settled: ReturnType<typeof setTimeout> | undefined
    const onOpen = () => {
      if (trouble === undefined) become('live')
      // A service whose database fails opens the socket all the same.
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
    if (code === CLOSE.forbidden) throw fail(403, 'forbidden', 'Cette action est réservée aux administrateurs.')
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
    // One that closed without a last event: it is still to be learnt how the topic has ended.
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
      if (!isPassing(error)) throw error
      failures += 1
      wait = Math.max(backOff(failures), (error.retryAfter ?? 0) * 1000)
      become('waiting', error.status > 0 ? error.code : undefined)
    }
    if (wait > 0) await sleep(wait, signal)
  }
}

/** Longer each time, and not for all clients at the same time. */
function backOff(failures: number): number {
  return (Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures + 1)) * (1 + Math.random())) / 2
}

/** Is over early when the signal is aborted. */
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
