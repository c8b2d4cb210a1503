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
import { createAccess, expectProof, expectRights, expectTargets, targetsToCheck, userKey } from './access.ts'
import { writeAudit } from './audit.ts'
import { limitKey, readCaller } from './caller.ts'
import type { AuditNote, RuntimeServices, User } from './context.ts'
import { fail, Failure, ForeignPage, translate } from './errors.ts'
import { decode, joinedHeader, parseUrl, peer, PROTOCOL, readToken, refuseConnection } from './handshake.ts'
import { createLogSampler } from './log-sampler.ts'
import { createRefusals } from './refusals.ts'
import { createSocketClient, type SocketClient } from './socket-client.ts'
import type { AnySocket } from './socket.ts'
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
  const refusals = createRefusals(services)
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
    const identity = await outcomeOf(async () => authenticate(declared, token, limitKey(caller.address)))
    if (identity instanceof Failure && identity.code === 'rate_limited') throw identity
    const user = identity instanceof Failure ? undefined : identity
    if (user?.credential === 'token') services.sessions.noteUse(user, caller.address)
    if (limit && limit.by === 'user') await countRequest(bucket, limit, user ? userKey(user) : limitKey(caller.address))
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
        return socket.close('unauthenticated')
      }
      if (token !== undefined && !user && declared.auth !== 'none') return socket.close('unauthenticated')
      const input = inputOf(declared, { params, query })
      let targets: readonly string[] | undefined
      /** Asks again when the token is renewed: the rights may have changed. */
      const expectAccess = async (given: User): Promise<void> => {
        expectRights(declared, given)
        if (input instanceof Failure) return
        targets = await targetsToCheck(declared, given, input, services)
        expectTargets(declared, given, targets)
      }
      const authenticateHere = async (given: string) => {
        const found = await authenticate(declared, given, limitKey(caller.address))
        if (found) await expectAccess(found)
        return found
      }
      if (user)
        client.intercept(superviseToken(socket, { user, token }, { ...services, authenticate: authenticateHere }))
      const audit = (action: string, note?: AuditNote) =>
        writeAudit(services, { user, address: caller.address }, action, note)
      const begin = async (): Promise<void> => {
        if (user) {
          const failure = await outcomeOf(async () => {
            await expectAccess(user)
            expectProof(declared, user, services.clock)
          })
          if (failure instanceof Failure && failure.status === 403) {
            await refusals.noteForbidden(bucket, user, caller.address, { failure, targets })
            return socket.close('forbidden', failure.code === 'forbidden' ? undefined : failure.code)
          }
          if (failure) throw failure
        }
        if (input instanceof Failure) throw input
        // The casts are safe, as in `app.ts`: the declaration's own schemas have parsed the input.
        await declared.open(input as never, { ...services, user, caller, socket, audit } as never)
      }
      const work = begin().catch(client.fail)
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

/** Returns the failure instead of throwing it: a close code reports it once the socket is open. */
async function outcomeOf<value>(work: () => Promise<value>): Promise<value | Failure> {
  try {
    return await work()
  } catch (error) {
    return translate(error)
  }
}

/** Returns the parsed parameters and query, or the failure of the first that its schema rejects. */
function inputOf(declared: AnySocket, raw: { params: object; query: object }): object | Failure {
  const { params, query } = declared.request ?? {}
  const parts = [params?.safeParse(raw.params), query?.safeParse(raw.query)]
  for (const part of parts) if (part && !part.success) return fail('invalid_request', { cause: part.error })
  return { ...(params && { params: parts[0]?.data }), ...(query && { query: parts[1]?.data }) }
}
