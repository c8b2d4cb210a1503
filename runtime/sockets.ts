/*
 * The pipeline of every WebSocket: origin, limit and token before it opens, a ping while it is open, and a close code
 * when the service stops.
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { WebSocketServer } from 'ws'
import { createAccess, expectProof, expectTargets } from './access.ts'
import { writeAudit } from './audit.ts'
import { limitKey, readCaller } from './caller.ts'
import type { AuditNote, Caller, RuntimeServices, User } from './context.ts'
import { fail, Failure, ForeignPage, translate } from './errors.ts'
import { decode, joinedHeader, parseUrl, peer, PROTOCOL, readToken, refuseConnection } from './handshake.ts'
import { createLogSampler } from './log-sampler.ts'
import { createSocketClient, type SocketClient } from './socket-client.ts'
import type { AnySocket, Socket } from './socket.ts'
import { superviseToken } from './token-renewal.ts'

const MAX_FRAME = 64 * 1024
/** Proxies drop connections that are idle for 30 to 60 s. */
const PING_MS = 25_000
/** When the service stops, sockets whose close handshake takes longer are terminated; the default of ws is 30 s. */
const STOP_MS = 2_000
/**
 * Time for work of the sockets that is still pending after `STOP_MS`, such as an audit entry while the database is
 * busy.
 */
const FINISH_MS = 1_500

export interface Sockets {
  /** Handles an HTTP upgrade request. The connection gets an answer in every case. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void
  /** Closes every socket with 1001. Settles when all are closed and their pending work has finished or timed out. */
  stop(): Promise<void>
  size(): number
}

/**
 * Mounts the sockets. A foreign Origin and an exceeded limit are refused over HTTP. Everything else is accepted and
 * then closed with a close code, because browsers hide an HTTP refusal from the page.
 */
export function createSockets(sockets: readonly AnySocket[], services: RuntimeServices): Sockets {
  const { log, config } = services
  const { countRequest, authenticate } = createAccess(services)
  const logSampler = createLogSampler(services.clock)
  const callerOf = (request: IncomingMessage) =>
    readCaller(config, peer(request), (name) => joinedHeader(request.headers[name]))
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  })
  server.on('wsClientError', (_error, connection, request) => {
    const failure = fail('malformed_http')
    const logFields = logSampler.fieldsFor(failure, callerOf(request).address) ?? null
    refuseConnection(connection, failure, { log, method: request.method, logFields })
  })
  const router = new RegExpRouter<AnySocket>()
  for (const socket of sockets) router.add('GET', socket.path, socket)
  let stopped = false
  const open = new Map<SocketClient, Promise<void>>()
  const working = new Set<Promise<void>>()

  const ping = setInterval(() => {
    for (const client of open.keys()) client.ping()
  }, PING_MS)
  ping.unref()

  const admit = async (request: IncomingMessage, connection: Duplex, head: Buffer, url: URL): Promise<void> => {
    const [handlers, stash] = router.match('GET', url.pathname)
    const [declared, names] = handlers[0] ?? []
    if (!declared) throw fail('not_found')
    const caller = callerOf(request)
    if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    const { rateLimit: limit } = declared
    const bucket = `GET ${declared.path}`
    if (limit && limit.by === 'address') await countRequest(bucket, limit, limitKey(caller.address))
    const token = readToken(request)
    const identity = await identified(async () => {
      const found = await authenticate(declared, token, limitKey(caller.address))
      expectProof(declared, found, services.clock)
      return found
    })
    if (identity instanceof Failure && identity.code === 'rate_limited') throw identity
    if (limit && limit.by === 'user') {
      const user = identity instanceof Failure ? undefined : identity
      await countRequest(bucket, limit, String(user?.id ?? limitKey(caller.address)))
    }
    if (connection.destroyed || stopped) return void connection.destroy()
    const params = Object.fromEntries(
      Object.entries(names ?? {}).map(([name, at]) => [
        name,
        decode(typeof at === 'number' ? (stash?.[at] ?? '') : at),
      ]),
    )
    const query = Object.fromEntries(url.searchParams)

    server.handleUpgrade(request, connection, head, (ws) => {
      const id = randomUUID()
      const client = createSocketClient(ws, id, log)
      const { socket } = client
      const user = identity instanceof Failure ? undefined : identity
      open.set(client, new Promise((resolve) => ws.once('close', () => resolve())))
      const fields = { id, path: url.pathname, user_id: user?.id ?? 0 }
      // Sockets of clients without a session are logged as a sample.
      const isFault = identity instanceof Failure && identity.status >= 500
      const isLogged =
        user !== undefined || isFault || logSampler.fieldsFor(fail('unauthenticated'), caller.address) !== undefined
      if (isLogged) log.info({ ...fields, address: caller.address }, 'socket opened')
      ws.on('close', (code) => {
        open.delete(client)
        if (isLogged) log.info({ ...fields, code }, 'socket closed')
      })
      if (identity instanceof Failure) {
        if (identity.status >= 500) {
          log.error({ id, err: identity.cause }, 'the caller could not be identified')
          return socket.close('failed', identity.code)
        }
        if (identity.code === 'forbidden') return socket.close('forbidden')
        if (identity.status === 403) return socket.close('forbidden', identity.code)
        return socket.close('unauthenticated')
      }
      if (token !== undefined && !user && declared.auth !== 'none') return socket.close('unauthenticated')
      const input = inputOf(declared, { params, query })
      const authenticateHere = async (given: string) => {
        const found = await authenticate(declared, given, limitKey(caller.address))
        if (!(input instanceof Failure)) await expectTargets(declared, found, input, services)
        return found
      }
      if (user) client.intercept(superviseToken(socket, user, { ...services, authenticate: authenticateHere }))
      const audit = (action: string, note?: AuditNote) =>
        writeAudit(services, { user, address: caller.address }, action, note)
      const work = begin(declared, input, { ...services, user, caller, socket, audit }).catch(client.fail)
      working.add(work)
      void work.then(() => working.delete(work))
    })
  }

  return {
    upgrade(request, connection, head) {
      const onError = (error: Error) => log.debug({ err: error }, 'upgrade interrupted')
      connection.on('error', onError)
      if (request.headers.upgrade?.toLowerCase() !== 'websocket')
        return refuseConnection(connection, fail('not_found'), { log, method: request.method })
      const url = parseUrl(request.url)
      const admitted = url ? admit(request, connection, head, url) : Promise.reject(fail('not_found'))
      admitted.catch((error: unknown) => {
        const failure = translate(error)
        const logFields = logSampler.fieldsFor(failure, callerOf(request).address) ?? null
        refuseConnection(connection, failure, { log, method: request.method, path: url?.pathname, logFields })
      })
    },
    async stop() {
      stopped = true
      clearInterval(ping)
      const gone = [...open.values()]
      for (const { socket } of open.keys()) socket.close('stopping')
      const cut = setTimeout(() => {
        for (const client of open.keys()) client.terminate()
      }, STOP_MS)
      await Promise.all(gone)
      clearTimeout(cut)
      const late = new AbortController()
      const deadline = pause(FINISH_MS, undefined, { signal: late.signal }).catch(() => {})
      await Promise.race([Promise.all(working), deadline])
      late.abort()
    },
    size: () => open.size,
  }
}

/** Returns the user, or the failure that the close code reports once the socket is open. */
async function identified(identify: () => Promise<User | undefined>): Promise<User | undefined | Failure> {
  try {
    return await identify()
  } catch (error) {
    return translate(error)
  }
}

async function begin(
  declared: AnySocket,
  input: object | Failure,
  context: RuntimeServices & {
    user: User | undefined
    socket: Socket
    caller: Caller
    audit(action: string): Promise<void>
  },
): Promise<void> {
  if (input instanceof Failure) throw input
  const refused = await expectTargets(declared, context.user, input, context).catch((error: unknown) =>
    translate(error),
  )
  if (refused?.status === 403) return context.socket.close('forbidden', refused.code)
  if (refused) throw refused
  // The casts are safe, as in `app.ts`: the declaration's own schemas have parsed the input.
  await declared.open(input as never, context as never)
}

/** Returns the parsed parameters and query, or the failure of the first that its schema rejects. */
function inputOf(declared: AnySocket, raw: { params: object; query: object }): object | Failure {
  const { params, query } = declared.request ?? {}
  const parts = [params?.safeParse(raw.params), query?.safeParse(raw.query)]
  for (const part of parts) if (part && !part.success) return fail('invalid_request', { cause: part.error })
  return { ...(params && { params: parts[0]?.data }), ...(query && { query: parts[1]?.data }) }
}
