/*
 * Node's HTTP server with time limits, limits on connections, and error answers on the transport level. Slow or silent
 * clients cannot hold connections and memory for long, and malformed HTTP gets an answer with a body.
 */

import { randomUUID } from 'node:crypto'
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import { contextOf, keepRenewed, readPair, type Repeat } from '../platform/certificate.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import { createRepeatCounter } from '../platform/recent-cache.ts'
import { ANSWER_HEADERS } from '../runtime/answer.ts'
import type { App } from '../runtime/app.ts'
import { limitKey } from '../runtime/caller.ts'
import { errorBody, fail, logRefusal, translate } from '../runtime/errors.ts'
import { refuseConnection } from '../runtime/handshake.ts'
import { createLogSampler, type LogSampler } from '../runtime/log-sampler.ts'
import type { Sockets } from '../runtime/sockets.ts'
import { createResponseBacklog, limitConnections } from './connection-limits.ts'

/** Time limits for headers and bodies: no client of this API needs longer. */
const HEADERS_MS = 10_000
const REQUEST_MS = 20_000
/** The longest responses that are written at once have 5 MiB; a proxy reads all of it. */
const MOST_UNREAD = 64 * 1024 * 1024
/** A client that reads nothing of a response for this long is disconnected, because the rest waits in memory. */
const UNREAD_MS = 60_000

/** Creates the server for the functions and the sockets. Rejects with a ConfigError for bad TLS files. */
export async function createHttpServer(
  {
    app,
    sockets,
    log,
    clock,
    isTrustedProxy,
  }: { app: App; sockets: Sockets; log: Log; clock: Clock } & Pick<Config, 'isTrustedProxy'>,
  tls: Config['tls'],
  lookForRenewal?: Repeat,
  unreadMs = UNREAD_MS,
): Promise<Server> {
  const logSampler = createLogSampler(clock)
  const cuts = createRepeatCounter(clock)
  const unread = createResponseBacklog(MOST_UNREAD, (address) => {
    const times = cuts.count(address)
    if (times !== undefined) log.warn({ address, times }, 'a client does not read its responses: one was cut off')
  })
  const listener = getRequestListener(
    (request, { incoming }) => {
      if (!(incoming instanceof IncomingMessage)) throw new TypeError('HTTP/2 is not served')
      const peer = { address: incoming.socket.remoteAddress ?? '', encrypted: tls !== undefined }
      return app.fetch(request, { peer, incoming })
    },
    // Refusals of the adapter: an invalid Host, a request target that is not a path.
    { errorHandler: (error) => refused(log, logSampler, error) },
  )
  const options = {
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: 2_000,
    requestTimeout: REQUEST_MS,
    // Node's own refusal would have no body. The adapter requires a Host as well.
    requireHostHeader: false,
    // Any other `Upgrade` (h2c, for example) may be ignored: the request is answered as usual.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  }
  /** The number of unfinished responses of each connection. */
  const answers = new WeakMap<Socket, number>()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const add = (count: number) => answers.set(socket, (answers.get(socket) ?? 0) + count)
    add(1)
    response.once('close', () => add(-1))
    // HTTP/1.0 has no Host header; health checks of some proxies still use it.
    if (request.httpVersion === '1.0') request.headers.host ??= 'localhost'
    // A busy keep-alive connection would delay the shutdown, so the next request must use another connection.
    if (!server.listening) response.shouldKeepAlive = false
    void Promise.resolve(listener(request, response)).then(() =>
      unread.add(response, limitKey(request.socket.remoteAddress ?? '')),
    )
  }
  const createSecure = async (files: NonNullable<Config['tls']>) => {
    const pair = await readPair(files)
    // The same limit as for headers; Node's default is two minutes.
    const secure = createTlsServer({ ...options, ...contextOf(pair), handshakeTimeout: HEADERS_MS }, answer)
    keepRenewed(secure, pair, { files, log, clock, repeat: lookForRenewal })
    return secure
  }
  const server: Server = tls ? await createSecure(tls) : createServer(options, answer)
  server.setTimeout(unreadMs, (socket: Socket) => {
    // A connection with an unanswered request is idle through no fault of the client. Any other has nothing more to
    // send, or does not read.
    if (!answers.get(socket) || socket.writableLength > 0) socket.destroy()
  })
  limitConnections(server, { isTrustedProxy, log, clock })
  server.on('upgrade', (request, connection, head) => {
    // Node removes its own listeners here, and an unhandled error event ends the process.
    connection.on('error', () => connection.destroy())
    if (options.shouldUpgradeCallback(request)) return sockets.upgrade(request, connection, head)
    connection.unshift(withoutUpgrade(request, head))
    server.emit(tls ? 'secureConnection' : 'connection', connection)
  })
  server.on('connect', ({ method, url }, connection) => {
    connection.on('error', () => connection.destroy())
    const failure = fail('method_not_allowed')
    refuseConnection(connection, failure, {
      log,
      method,
      path: url,
      logFields: logSampler.fieldsFor(failure, addressOf(connection)) ?? null,
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, connection) =>
    answerMalformed(log, logSampler, error, connection),
  )
  // An unknown `Expect` may be ignored.
  server.on('checkExpectation', answer)
  return server
}

/**
 * Stops listening. Settles when the last connection has ended. Idle connections are closed, except after a handoff:
 * there a request that is already on its way is answered, and the client is told to reconnect. Node closes idle
 * connections itself after five seconds.
 */
export function closeServer(server: Server, isFollowed: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    if (isFollowed) NetServer.prototype.close.call(server, resolve)
    else server.close(resolve)
  })
}

/** Resolves to the address, such as `127.0.0.1:8080`. Rejects with the system's error when listening fails. */
export function listen(server: NetServer, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      resolve(`${host.includes(':') ? `[${host}]` : host}:${actual}`)
    })
  })
}

/**
 * Before Node 24, requests with any `Upgrade` end up here and nobody reads on from their connection. The head is fed in
 * again without the header.
 */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(upgrade|connection)$/i.test(rawHeaders[at] ?? '')) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}

/** Answers a refusal of the adapter, which does not pass the request on. */
function refused(log: Log, logSampler: LogSampler, error: unknown): Response {
  const id = randomUUID()
  const failure = error instanceof RequestError ? fail('malformed_http', { cause: error }) : translate(error)
  const logFields = logSampler.fieldsFor(failure, '')
  if (logFields) logRefusal(log, { id, status: failure.status, ...logFields }, failure)
  const headers = { ...ANSWER_HEADERS, 'x-request-id': id }
  return new Response(errorBody(failure), { status: failure.status, headers })
}

/** Answers malformed or incomplete HTTP in the format of every other error. */
function answerMalformed(log: Log, logSampler: LogSampler, error: NodeJS.ErrnoException, connection: Duplex): void {
  const { code = '' } = error
  // After a failed or missing TLS handshake no answer could be sent.
  const isHttp = /^(HPE|ERR_HTTP)_/.test(code)
  if (!isHttp || !connection.writable) return void connection.destroy()
  const failure = fail(MALFORMED.get(code) ?? 'malformed_http')
  refuseConnection(connection, failure, {
    log,
    logFields: logSampler.fieldsFor(failure, addressOf(connection)) ?? null,
  })
}

/** The peer's address; empty when the connection is gone. */
function addressOf(connection: Duplex): string {
  return connection instanceof Socket ? (connection.remoteAddress ?? '') : ''
}

const MALFORMED = new Map<string, 'headers_too_large' | 'request_timeout'>([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
])
