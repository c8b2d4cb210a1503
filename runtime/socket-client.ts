import type { WebSocket } from 'ws'
import type { Log } from '../platform/log.ts'
import { translate } from './errors.ts'
import { CLOSE, type Message, type Socket } from './socket.ts'

type Take = (message: Message) => Promise<void> | undefined

/**
 * The service's side of an open WebSocket connection. It closes the connection of a client that does not respond, and
 * reads one message at a time.
 */
export interface SocketClient {
  socket: Socket
  /** Receives each message first. A result of undefined passes the message on to the callback of `receive`. */
  intercept(take: Take): void
  /** Closes the socket because of an error and logs faults of the service. */
  fail(error: unknown): void
  /** Sends a ping. A client that has sent nothing since the previous ping is disconnected. */
  ping(): void
  /** Terminates the connection without a close handshake. */
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
    // A paused socket would not notice its own closing.
    ws.resume()
    queue.length = 0
    closed.abort()
  }

  const fail = (error: unknown) => {
    const failure = translate(error)
    if (failure.status >= 500) log.error({ id, err: error }, 'socket failed')
    close(failure.status >= 500 ? 'failed' : 'refused', failure.code)
  }

  /**
   * Handles queued messages one at a time. A paused socket may still deliver several messages that were already read.
   */
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
        // A pong that arrived meanwhile has not been read yet.
        answered = true
        takeNext()
      })
    }
  }

  ws.on('message', (data: Buffer, binary: boolean) => {
    // A pong may be late behind much output, so any message counts.
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
      bufferedBytes: () => ws.bufferedAmount,
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
      // A paused socket does not read pongs. Sending the ping still detects a lost connection.
      if (answered || ws.isPaused) ws.ping()
      else ws.terminate()
      answered = false
    },
    terminate: () => ws.terminate(),
  }
}
