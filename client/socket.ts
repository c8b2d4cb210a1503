import type { Session } from './session.ts'

/** The global WebSocket, or the one of a package such as `ws`. */
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

/** Close codes of the service, and of this client. */
export const CLOSE = {
  /** Used by this client only: the socket was silent for too long. */
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

/** Without this limit, a proxy that swallows the handshake could hold it forever. */
const OPEN_MS = 10_000
/** A connection that is silent this long may be dead without either side noticing; the client replaces it. */
const SILENT_MS = 45_000
/** The largest number of unread messages, of at most 32 KiB each; the client fetches the rest later. */
const MAX_WAITING = 256
export const OPEN = 1

export interface Connection<event> {
  /** Returns the next event; undefined when there are no more, and `code` tells why. */
  next(): Promise<event | undefined>
  code(): number | undefined
  /** The machine-readable close reason of the service. */
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

/** Opens one connection to a topic. It sends each new token to the service, so that the connection outlives its first token. */
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
        // The message is not from the service. An exception in a listener would end a Node program.
        return end(CLOSE.lost)
      }
      if (waiting.length > MAX_WAITING) end(CLOSE.behind)
      wake()
    })
    // This listener stays: `ws` throws an error that has no listener.
    socket.addEventListener('error', () => end(CLOSE.lost))
    socket.addEventListener('close', ({ code: why, reason }) => {
      // `ws` passes the reason as bytes.
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
