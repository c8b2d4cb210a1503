import type { WebSocket } from 'ws'
import type { Log } from './log.ts'
import { CLOSE, type Message, type Socket } from './socket.ts'
import { translate } from './translate.ts'

type Take = (message: Message) => Promise<void> | undefined

/** The service's end of a connection that has become a WebSocket. */
export interface SocketClient {
  socket: Socket
  /** Sees each message first; undefined leaves it to the socket's own `take`. */
  intercept(take: Take): void
  /** Closes the socket for what was thrown, and says so in the log if it is a fault of the service. */
  fail(error: unknown): void
  /** Asks the client for a sign of life; one that has given none since the last time is cut off. */
  ping(): void
  /** Cuts it off. */
  terminate(): void
}

export function createSocketClient(ws: WebSocket, id: string, log: Log): SocketClient {
  const closed = new AbortController()
  const queue: Message[] = []
  let intercepted: Take | undefined
  let received: Take | undefined
  let busy = false
  let answered = true

  const close: Socket['close'] = (reason, word) => {
    if (ws.readyState === ws.OPEN) ws.close(CLOSE[reason], word)
    // Its own closing would not be seen otherwise.
    ws.resume()
    queue.length = 0
    closed.abort()
  }

  const fail = (error: unknown) => {
    const failure = translate(error)
    if (failure.status >= 500) log.error({ id, err: error }, 'socket failed')
    close(failure.status >= 500 ? 'failed' : 'refused', failure.code)
  }

  /** Takes what waits, one after another: what has been read already may hold many, though no more is read. */
  const takeNext = () => {
    while (!busy && !closed.signal.aborted) {
      const message = queue.shift()
      if (!message) return ws.resume()
      let taken: Promise<void> | undefined
      try {
        taken = intercepted?.(message) ?? received?.(message)
      } catch (error) {
        return fail(error)
      }
      if (!taken) continue
      busy = true
      ws.pause()
      taken.catch(fail).finally(() => {
        busy = false
        // Whatever it has answered meanwhile is yet to be read.
        answered = true
        takeNext()
      })
    }
  }

  ws.on('message', (data: Buffer, binary: boolean) => {
    // Behind much output its answer to a ping may be late.
    answered = true
    if (closed.signal.aborted) return
    queue.push(binary ? { binary, bytes: data } : { binary, text: data.toString() })
    takeNext()
  })
  ws.on('pong', () => {
    answered = true
  })
  ws.on('error', (error) => log.debug({ err: error }, 'socket error'))
  ws.on('close', () => closed.abort())

  return {
    socket: {
      send: ({ bytes, binary = false }) =>
        new Promise((resolve) => {
          if (ws.readyState !== ws.OPEN) resolve()
          else ws.send(bytes, { binary }, () => resolve())
        }),
      waiting: () => ws.bufferedAmount,
      receive(take) {
        received = take
      },
      close,
      fail,
      closed: closed.signal,
    },
    intercept(take) {
      intercepted = take
    },
    fail,
    ping() {
      // The answer of a client that has to wait is not read; whether it is still there shows in that pings can be sent.
      if (answered || ws.isPaused) ws.ping()
      else ws.terminate()
      answered = false
    },
    terminate: () => ws.terminate(),
  }
}
