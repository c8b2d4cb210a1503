import type { Session } from './session.ts'

/** The global WebSocket, or that of a package like `ws`. */
export type SocketConstructor = new (address: string, protocols: string[]) => OpenedSocket

export interface OpenedSocket {
  readonly readyState: number
  binaryType: string
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { code: number; reason: unknown }) => void): void
}

/** Why a socket was closed, by the service or here. */
export const CLOSE = {
  /** Here: it said nothing for too long. */
  silent: 0,
  done: 1000,
  lost: 1006,
  refused: 1008,
  failed: 1011,
  behind: 1013,
  unauthenticated: 4401,
  forbidden: 4403,
  missing: 4404,
} as const

/** A proxy that swallows the handshake would else hold it for as long as it likes. */
const OPEN_MS = 10_000
/** One that says nothing for so long may be dead without either end knowing, and is replaced by another. */
const SILENT_MS = 45_000
/** Of messages that nobody has taken yet, 32 KiB each at most: then the rest is fetched later. */
const MOST_WAITING = 256
export const OPEN = 1

export interface Connection<event> {
  /** The next event; undefined when there are no more, and `code` says why. */
  next(): Promise<event | undefined>
  code(): number | undefined
  /** What the service has said beside it, for programs. */
  word(): string | undefined
  close(): void
}

interface Options {
  WebSocket: SocketConstructor
  address: string
  token: string
  session: Pick<Session, 'watch'>
  signal: AbortSignal | undefined
  onOpen(): void
}

/** One connection to a topic. It tells the service of each new token, so that it outlives the one that opened it. */
export function connect<event>({ WebSocket, address, token, session, signal, onOpen }: Options): Connection<event> {
  const waiting: event[] = []
  let code: number | undefined
  let word: string | undefined
  let newest: string | undefined = token
  let wake = () => {}
  let socket: OpenedSocket | undefined

  const end = (why: number) => {
    if (code !== undefined) return
    code = why
    clearTimeout(timer)
    signal?.removeEventListener('abort', close)
    forget()
    socket?.close()
    wake()
  }
  const close = () => end(CLOSE.done)
  const present = () => socket?.send(JSON.stringify({ type: 'auth', token: newest }))
  let timer = setTimeout(() => end(CLOSE.lost), OPEN_MS)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => end(CLOSE.silent), SILENT_MS)
  }
  const forget = session.watch((next) => {
    newest = next
    if (!next) end(CLOSE.unauthenticated)
    else if (socket?.readyState === OPEN) present()
  })
  signal?.addEventListener('abort', close)
  try {
    socket = new WebSocket(address, ['panel.v1', `bearer.${token}`])
    socket.addEventListener('open', () => {
      if (code !== undefined) return
      heard()
      if (newest !== token) present()
      onOpen()
    })
    socket.addEventListener('message', ({ data }) => {
      if (code !== undefined) return
      heard()
      try {
        waiting.push(JSON.parse(String(data)))
      } catch {
        // Not the service's. Thrown in a listener, it would end a program of Node.
        return end(CLOSE.lost)
      }
      if (waiting.length > MOST_WAITING) end(CLOSE.behind)
      wake()
    })
    // Stays for good: `ws` throws an error that nobody listens for.
    socket.addEventListener('error', () => end(CLOSE.lost))
    socket.addEventListener('close', ({ code: why, reason }) => {
      // Of `ws` it is bytes.
      if (code === undefined) word = String(reason) || undefined
      end(why)
    })
  } catch {
    end(CLOSE.lost)
  }

  return {
    async next() {
      while (waiting.length === 0 && code === undefined && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      signal?.throwIfAborted()
      return waiting.shift()
    },
    code: () => code,
    word: () => word,
    close,
  }
}
