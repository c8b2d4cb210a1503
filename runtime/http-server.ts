import { randomUUID } from 'node:crypto'
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { App } from './app.ts'
import { limitKey } from './caller.ts'
import { contextOf, keepRenewed, type Repeat, readPair } from './certificate.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { boundConnections } from './connections.ts'
import { type ErrorCode, errorBody, Failure } from './errors.ts'
import { refuse } from './handshake.ts'
import { ANSWER_HEADERS } from './headers.ts'
import type { Log } from './log.ts'
import { createRefusalLog, type RefusalLog } from './refusal-log.ts'
import { createRepeats } from './repeats.ts'
import { logRefusal, translate } from './translate.ts'
import { createUnreadAnswers } from './unread-answers.ts'
import type { Sockets } from './upgrade.ts'

/** Slow headers and slow bodies are cut: no client of this API needs longer. */
const HEADERS_MS = 10_000
const REQUEST_MS = 20_000
/** The longest answers that are given at once have 5 MiB; a proxy reads them all. */
const MOST_UNREAD = 64 * 1024 * 1024
/** Who takes nothing of an answer for so long is let go: what waits for it is in memory. */
const UNREAD_MS = 60_000

/** Node's own server for the functions and the sockets. Whatever comes in is answered in the form of every answer. */
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
  const refusalLog = createRefusalLog(clock)
  const cuts = createRepeats(clock)
  const unread = createUnreadAnswers(MOST_UNREAD, (address) => {
    const times = cuts.tell(address)
    if (times !== undefined) log.warn({ address, times }, 'too much is asked for and not read: an answer was cut off')
  })
  const listener = getRequestListener(
    (request, { incoming }) => {
      if (!(incoming instanceof IncomingMessage)) throw new TypeError('HTTP/2 is not served')
      const peer = { address: incoming.socket.remoteAddress ?? '', encrypted: tls !== undefined }
      return app.fetch(request, { peer, incoming })
    },
    // The adapter's own refusals: a Host that is none, a request target that is no path.
    { errorHandler: (error) => refused(log, refusalLog, error) },
  )
  const options = {
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: 2_000,
    requestTimeout: REQUEST_MS,
    // Node's own refusal would have no body; the adapter asks for one too.
    requireHostHeader: false,
    // Any other `Upgrade` (h2c, say) is a wish that may be ignored: the request is answered as it is.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  }
  /** Answers that are not over, of each connection. */
  const answers = new WeakMap<Socket, number>()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const add = (count: number) => answers.set(socket, (answers.get(socket) ?? 0) + count)
    add(1)
    response.once('close', () => add(-1))
    // HTTP/1.0 has no Host: health checks of some proxies still speak it.
    if (request.httpVersion === '1.0') request.headers.host ??= 'localhost'
    // Who keeps a connection busy would hold up the end: the next request comes by another one.
    if (!server.listening) response.shouldKeepAlive = false
    void Promise.resolve(listener(request, response)).then(() =>
      unread.given(response, limitKey(request.socket.remoteAddress ?? '')),
    )
  }
  const createSecure = async (files: NonNullable<Config['tls']>) => {
    const pair = await readPair(files)
    // No slower than headers: Node itself would wait for two minutes.
    const secure = createTlsServer({ ...options, ...contextOf(pair), handshakeTimeout: HEADERS_MS }, answer)
    keepRenewed(secure, pair, { files, log, clock, repeat: lookForRenewal })
    return secure
  }
  const server: Server = tls ? await createSecure(tls) : createServer(options, answer)
  server.setTimeout(unreadMs, (socket: Socket) => {
    // Silent because nobody has answered yet: no fault of the client's. Any other has no more to say, or does not read.
    if (!answers.get(socket) || socket.writableLength > 0) socket.destroy()
  })
  boundConnections(server, { isTrustedProxy, log, clock })
  server.on('upgrade', (request, connection, head) => {
    // Nobody else listens from now on, and an error that nobody hears ends the process.
    connection.on('error', () => connection.destroy())
    if (options.shouldUpgradeCallback(request)) return sockets.upgrade(request, connection, head)
    connection.unshift(withoutUpgrade(request, head))
    server.emit(tls ? 'secureConnection' : 'connection', connection)
  })
  server.on('connect', ({ method, url }, connection) => {
    connection.on('error', () => connection.destroy())
    const failure = new Failure('method_not_allowed')
    refuse(connection, failure, {
      log,
      method,
      path: url,
      about: refusalLog.about(failure, addressOf(connection)) ?? null,
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, connection) =>
    answerMalformed(log, refusalLog, error, connection),
  )
  // `Expect` with a wish that is not known may be ignored.
  server.on('checkExpectation', answer)
  return server
}

/**
 * Listens no more; settles when the last connection has ended. Those that nobody uses are closed, but where another service
 * has taken over: there a request that is on its way over one of them is answered, and the client told to come by a new one.
 * Node closes them itself after five seconds.
 */
export function closeServer(server: Server, isFollowed: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    if (isFollowed) NetServer.prototype.close.call(server, resolve)
    else server.close(resolve)
  })
}

/** Settles with the address, as `127.0.0.1:8080`; rejects with the system's error when it cannot be had. */
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
 * Before Node 24 a request with any `Upgrade` comes here, and nobody reads on from its connection: it is handed in again
 * as if it had none.
 */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(upgrade|connection)$/i.test(rawHeaders[at] ?? '')) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}

/** The adapter does not say whose request it was. */
function refused(log: Log, refusalLog: RefusalLog, error: unknown): Response {
  const id = randomUUID()
  const failure = error instanceof RequestError ? new Failure('malformed_http', { cause: error }) : translate(error)
  const about = refusalLog.about(failure, '')
  if (about) logRefusal(log, { id, status: failure.status, ...about }, failure)
  const headers = { ...ANSWER_HEADERS, 'x-request-id': id }
  return new Response(errorBody(failure), { status: failure.status, headers })
}

/** What is not HTTP, or never comes, is answered in the form of every other error. */
function answerMalformed(log: Log, refusalLog: RefusalLog, error: NodeJS.ErrnoException, connection: Duplex): void {
  const { code = '' } = error
  // Where TLS has failed, or not begun, no answer would ever be sent.
  const isHttp = /^(HPE|ERR_HTTP)_/.test(code)
  if (!isHttp || !connection.writable) return void connection.destroy()
  const failure = new Failure(MALFORMED.get(code) ?? 'malformed_http')
  refuse(connection, failure, { log, about: refusalLog.about(failure, addressOf(connection)) ?? null })
}

/** Of the other end; empty when it has gone. */
function addressOf(connection: Duplex): string {
  return connection instanceof Socket ? (connection.remoteAddress ?? '') : ''
}

const MALFORMED = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
])
