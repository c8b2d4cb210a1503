import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { getRequestListener, RequestError } from '@hono/node-server'
import { openDatabase } from '../db/client.ts'
import { migrate } from '../db/migrate.ts'
import { functions, jobKinds, sockets } from '../functions/index.ts'
import { createApp } from './app.ts'
import { timestamp } from './clock.ts'
import { readConfig, unknownVariables } from './config.ts'
import type { Services } from './context.ts'
import { type ErrorCode, errorBody, Failure } from './errors.ts'
import { speakFrench } from './french.ts'
import type { AnyFunction } from './function.ts'
import { refuse } from './handshake.ts'
import { createHost } from './host.ts'
import { createHub } from './hub.ts'
import type { AnyJobKind } from './job-kind.ts'
import { createJobs } from './jobs.ts'
import { createLog, type Log } from './log.ts'
import { createLimiter } from './rate-limit.ts'
import { createSecrets, loadSecretKey } from './secrets.ts'
import { createSessions } from './session.ts'
import { createSettings } from './settings.ts'
import type { AnySocket } from './socket.ts'
import { logRefusal, translate } from './translate.ts'
import { createSockets } from './upgrade.ts'
import { VERSION } from './version.ts'

/** What a server serves; the service's own unless something else is to be measured or tried. */
export interface Manifest {
  functions: readonly AnyFunction[]
  sockets: readonly AnySocket[]
  jobKinds: readonly AnyJobKind[]
}

export interface RunningServer {
  /** Where it listens, as `http://127.0.0.1:8080`. */
  url: string
  /** Ends it within 5 s: sockets are closed with 1001, requests under way get 2 s, jobs run on at the host. */
  stop(): Promise<void>
}

/** Slow headers and slow bodies are cut: no client of this API needs longer. */
const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
/** What requests under way may still take when the service stops. */
const FINISH_MS = 2_000
/** Whatever has not let go by then (a locked database, say) is left to the end of the process. */
const STOP_MS = 4_500

/**
 * Starts the service as the environment says. Rejects with a ConfigError for a wrong variable, and with the system's
 * own error when the port or the database cannot be opened; nothing is left open then.
 */
export async function startServer(
  environment: Record<string, string | undefined>,
  manifest: Manifest = { functions, sockets, jobKinds },
): Promise<RunningServer> {
  speakFrench()
  const config = readConfig(environment)
  const write = (line: string) => void process.stdout.write(line)
  const { log } = createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true, write })
  for (const name of unknownVariables(environment)) log.warn({ name }, 'unknown variable, ignored')

  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  const clock = () => new Date()
  const secrets = createSecrets(config.secretKey ?? (await loadSecretKey(config.dataDir)))
  const db = await openDatabase(config.databaseUrl, config.databaseToken)
  const opened: (() => void | Promise<void>)[] = [() => db.close()]
  try {
    await migrate(db, clock())
    const settings = createSettings({ db, secrets, clock, log })
    await settings.fill(config.ssh)
    const sessions = await createSessions({
      db,
      secrets,
      clock,
      log,
      jwtKey: config.jwtKey,
      refreshDays: config.refreshDays,
    })
    const host = createHost({ settings, log })
    opened.push(() => host.close())
    const hub = createHub()
    const jobs = createJobs({ db, host, hub, clock, log, kinds: manifest.jobKinds })
    const limiter = createLimiter(db, clock)
    const boot = { id: randomUUID(), startedAt: timestamp(clock()), version: VERSION }
    const services: Services = { db, host, hub, jobs, settings, sessions, limiter, config, clock, log, boot }

    const app = createApp(manifest.functions, services)
    const ws = createSockets(manifest.sockets, services)
    const encrypted = config.tls !== undefined
    const listener = getRequestListener(
      (request, { incoming }) => {
        const { socket } = incoming
        return app.fetch(request, { peer: { address: socket.remoteAddress ?? '', encrypted }, incoming })
      },
      // The adapter's own refusals: a Host that is none, a request target that is no path.
      { errorHandler: (error) => refused(log, error) },
    )
    const options = {
      headersTimeout: HEADERS_MS,
      connectionsCheckingInterval: 5_000,
      requestTimeout: REQUEST_MS,
      // Any other `Upgrade` (h2c, say) is a wish that may be ignored: the request is answered as it is.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
    }
    const answer = (request: IncomingMessage, response: ServerResponse) => void listener(request, response)
    const server = config.tls
      ? createTlsServer({ ...options, ...(await readPem(config.tls)) }, answer)
      : createServer(options, answer)
    server.on('upgrade', (request, connection, head) => {
      if (options.shouldUpgradeCallback(request)) ws.upgrade(request, connection, head)
      else answerAnyway(request, connection, answer)
    })
    server.on('clientError', answerMalformed)
    // `Expect` with a wish that is not known may be ignored.
    server.on('checkExpectation', answer)
    const address = await listen(server, config.host, config.port)
    const url = `${config.tls ? 'https' : 'http'}://${address}`
    // A database elsewhere may be shared, and the instance that follows a job may be alive.
    if (config.databaseUrl.startsWith('file:')) await jobs.adopt()
    log.info({ url, version: VERSION }, 'ready')
    if (!(await settings.hasSshHost())) log.warn('no SSH host yet: nobody can sign in until PANEL_SSH_HOST is set')

    const stop = async () => {
      log.info('stopping')
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), FINISH_MS)
      const released = jobs.stop()
      await ws.stop()
      await closed
      clearTimeout(cut)
      host.close()
      await released
      await db.close()
      log.info('stopped')
    }
    const stopInTime = async () => {
      const late = new AbortController()
      const deadline = pause(STOP_MS, 'late', { signal: late.signal }).catch(() => undefined)
      if ((await Promise.race([stop(), deadline])) === 'late') log.error('stopped before everything was released')
      late.abort()
    }
    let stopped: Promise<void> | undefined
    return { url, stop: () => (stopped ??= stopInTime()) }
  } catch (error) {
    for (const close of opened.reverse()) await close()
    throw error
  }
}

/** Before Node 24 a request with any `Upgrade` comes here: it is answered as if it had none, and the connection ends. */
function answerAnyway(
  request: IncomingMessage,
  connection: Duplex,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  if (connection instanceof Socket) response.assignSocket(connection)
  response.on('finish', () => connection.end(() => connection.destroy()))
  answer(request, response)
}

function refused(log: Log, error: unknown): Response {
  const id = randomUUID()
  const failure = error instanceof RequestError ? new Failure('malformed_http', { cause: error }) : translate(error)
  logRefusal(log, { id, status: failure.status }, failure)
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-request-id': id }
  return new Response(errorBody(failure), { status: failure.status, headers })
}

/** What is not HTTP, or never comes, is answered in the form of every other error. */
function answerMalformed(error: NodeJS.ErrnoException, connection: Duplex): void {
  if (error.code === 'ECONNRESET' || !connection.writable) connection.destroy()
  else refuse(connection, new Failure(MALFORMED.get(error.code ?? '') ?? 'malformed_http'))
}

const MALFORMED = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
])

async function readPem({ cert, key }: { cert: string; key: string }): Promise<{ cert: Buffer; key: Buffer }> {
  return { cert: await readFile(cert), key: await readFile(key) }
}

function listen(server: Server, host: string, port: number): Promise<string> {
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
