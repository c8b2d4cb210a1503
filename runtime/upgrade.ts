import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { WebSocketServer } from 'ws'
import { createAdmission } from './admission.ts'
import { type AuditAction, writeAudit } from './audit.ts'
import { limitKey, readCaller } from './caller.ts'
import type { AuditNote, Services, User } from './context.ts'
import { Failure, ForeignPage } from './errors.ts'
import type { Auth } from './function.ts'
import { decode, PROTOCOL, parseUrl, peer, readToken, refuse, single } from './handshake.ts'
import { createRefusalLog } from './refusal-log.ts'
import type { AnySocket } from './socket.ts'
import { createSocketClient, type SocketClient } from './socket-client.ts'
import { keepToken } from './socket-token.ts'
import { translate } from './translate.ts'

const MAX_FRAME = 64 * 1024
/** Proxies drop what is silent for 30 to 60 s. */
const PING_MS = 25_000
/** When the service stops, whom the close handshake does not reach by then is cut off; else ws gives it 30 s. */
const STOP_MS = 2_000
/** Then what the sockets have begun comes to its end: an entry in the audit log, say, of a database that is busy. */
const FINISH_MS = 1_500

export interface Sockets {
  /** Takes an HTTP upgrade request over; whatever comes of it, the connection is answered. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void
  /** Closes every socket with 1001; settles when they are gone, and what they have begun has come to its end. */
  stop(): Promise<void>
  size(): number
}

/**
 * Mounts the sockets. A foreign Origin and a passed limit are refused by HTTP; everything else is accepted and then
 * closed with its code, because browsers cannot see an HTTP refusal.
 */
export function createSockets(sockets: readonly AnySocket[], services: Services): Sockets {
  const { log, config } = services
  const { count, identify } = createAdmission(services)
  const refusalLog = createRefusalLog(services.clock)
  const callerOf = (request: IncomingMessage) =>
    readCaller(config, peer(request), (name) => single(request.headers[name]))
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  })
  server.on('wsClientError', (_error, connection, request) => {
    const failure = new Failure('malformed_http')
    const about = refusalLog.about(failure, callerOf(request).address) ?? null
    refuse(connection, failure, { log, method: request.method, about })
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
    if (!declared) throw new Failure('not_found')
    const caller = callerOf(request)
    if (caller.foreign !== undefined) throw new Failure('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    const { rateLimit: limit } = declared
    const bucket = `GET ${declared.path}`
    if (limit && limit.by === 'address') await count(bucket, limit, limitKey(caller.address))
    const token = readToken(request)
    const identity = await identified(() => identify(declared.auth, token, limitKey(caller.address)))
    if (identity instanceof Failure && identity.code === 'rate_limited') throw identity
    if (limit && limit.by === 'user') {
      const user = identity instanceof Failure ? undefined : identity
      await count(bucket, limit, String(user?.id ?? limitKey(caller.address)))
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
      const about = { id, path: url.pathname, user_id: user?.id ?? 0 }
      // Of those who are not signed in a sample.
      const isFault = identity instanceof Failure && identity.status >= 500
      const isTold =
        user !== undefined || isFault || refusalLog.about(new Failure('unauthenticated'), caller.address) !== undefined
      if (isTold) log.info({ ...about, address: caller.address }, 'socket opened')
      ws.on('close', (code) => {
        open.delete(client)
        if (isTold) log.info({ ...about, code }, 'socket closed')
      })
      if (identity instanceof Failure) {
        if (identity.status >= 500) {
          log.error({ id, err: identity.cause }, 'the caller could not be identified')
          return socket.close('failed', identity.code)
        }
        return socket.close(identity.code === 'forbidden' ? 'forbidden' : 'unauthenticated')
      }
      if (token !== undefined && !user && declared.auth !== 'none') return socket.close('unauthenticated')
      const mine = (auth: Auth, given: string | undefined) => identify(auth, given, limitKey(caller.address))
      if (user) client.intercept(keepToken(socket, user, declared.auth, { ...services, identify: mine }))
      const audit = (action: AuditAction, note?: AuditNote) =>
        writeAudit(services, { user, address: caller.address }, action, note)
      const work = begin(declared, { params, query }, { ...services, user, caller, socket, audit }).catch(client.fail)
      working.add(work)
      void work.then(() => working.delete(work))
    })
  }

  return {
    upgrade(request, connection, head) {
      const onError = (error: Error) => log.debug({ err: error }, 'upgrade interrupted')
      connection.on('error', onError)
      if (request.headers.upgrade?.toLowerCase() !== 'websocket')
        return refuse(connection, new Failure('not_found'), { log, method: request.method })
      const url = parseUrl(request.url)
      const admitted = url ? admit(request, connection, head, url) : Promise.reject(new Failure('not_found'))
      admitted.catch((error: unknown) => {
        const failure = translate(error)
        const about = refusalLog.about(failure, callerOf(request).address) ?? null
        refuse(connection, failure, { log, method: request.method, path: url?.pathname, about })
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

/** Whose socket it is, or why it is nobody's: told by a close code once it is open. */
async function identified(
  identify: () => User | undefined | Promise<User | undefined>,
): Promise<User | undefined | Failure> {
  try {
    return await identify()
  } catch (error) {
    return translate(error)
  }
}

async function begin(declared: AnySocket, raw: { params: object; query: object }, context: object): Promise<void> {
  const { params, query } = declared.request ?? {}
  const input = {
    ...(params && { params: parsed(params.safeParse(raw.params)) }),
    ...(query && { query: parsed(query.safeParse(raw.query)) }),
  }
  // As in `app.ts`: the input has just been parsed by the declaration's own schemas.
  await declared.open(input as never, context as never)
}

function parsed(result: { success: true; data: unknown } | { success: false; error: unknown }): unknown {
  if (!result.success) throw new Failure('invalid_request', { cause: result.error })
  return result.data
}
