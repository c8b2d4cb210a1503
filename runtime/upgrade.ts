import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { type WebSocket, WebSocketServer } from 'ws'
import { createAdmission } from './admission.ts'
import { FOREIGN_HINT, limitKey, readCaller } from './caller.ts'
import type { Services, User } from './context.ts'
import { Failure } from './errors.ts'
import { decode, PROTOCOL, parseUrl, peer, readToken, refuse, single } from './handshake.ts'
import { type AnySocket, CLOSE, type Socket } from './socket.ts'
import { translate } from './translate.ts'

const MAX_FRAME = 64 * 1024
/** Proxies drop what is silent for 30 to 60 s. */
const PING_MS = 25_000
/** RFC 6455, 7.4.1: what is no fault of the client's, and what is. */
const INTERNAL_ERROR = 1011
const POLICY_VIOLATION = 1008
/** When the service stops, whom the close handshake does not reach by then is cut off; else ws gives it 30 s. */
const STOP_MS = 2_000

export interface Sockets {
  /** Takes an HTTP upgrade request over; whatever comes of it, the connection is answered. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void
  /** Closes every socket with 1001; settles when they are gone. */
  stop(): Promise<void>
  size(): number
}

/**
 * Mounts the sockets. A foreign Origin and a passed limit are refused by HTTP; everything else is accepted and then
 * closed with its code, because browsers cannot see an HTTP refusal.
 */
export function createSockets(sockets: readonly AnySocket[], services: Services): Sockets {
  const { log, config, sessions } = services
  const { count, identify } = createAdmission(services)
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  })
  server.on('wsClientError', (_error, connection, { method }) =>
    refuse(connection, new Failure('malformed_http'), { log, method }),
  )
  const router = new RegExpRouter<AnySocket>()
  for (const socket of sockets) router.add('GET', socket.path, socket)
  let stopped = false
  const open = new Set<{ ws: WebSocket; answered: boolean }>()

  const ping = setInterval(() => {
    for (const client of open) {
      if (client.answered) client.ws.ping()
      else client.ws.terminate()
      client.answered = false
    }
  }, PING_MS)
  ping.unref()

  const admit = async (request: IncomingMessage, connection: Duplex, head: Buffer, url: URL): Promise<void> => {
    const [handlers, stash] = router.match('GET', url.pathname)
    const [declared, names] = handlers[0] ?? []
    if (!declared) throw new Failure('not_found')
    const caller = readCaller(config, peer(request), (name) => single(request.headers[name]))
    if (caller.foreign !== undefined) {
      log.warn({ path: url.pathname, origin: caller.foreign, address: caller.address }, FOREIGN_HINT)
      throw new Failure('origin_forbidden')
    }
    const { rateLimit: limit } = declared
    const bucket = `GET ${declared.path}`
    if (limit && limit.by === 'address') await count(bucket, limit, limitKey(caller.address))
    const token = readToken(request)
    const identity = await identified(() => identify(declared.auth, token))
    if (limit && limit.by === 'user') {
      await count(bucket, limit, identity instanceof Failure ? caller.address : String(identity?.id ?? caller.address))
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
      const socket = wrap(ws)
      const user = identity instanceof Failure ? undefined : identity
      log.info({ id, path: url.pathname, user_id: user?.id ?? 0, address: caller.address }, 'socket opened')
      ws.on('close', (code) => log.info({ id, path: url.pathname, user_id: user?.id ?? 0, code }, 'socket closed'))
      if (identity instanceof Failure) {
        if (identity.status >= 500) {
          log.error({ id, err: identity.cause }, 'the caller could not be identified')
          return ws.close(INTERNAL_ERROR, identity.code)
        }
        return socket.close(identity.code === 'forbidden' ? 'forbidden' : 'unauthenticated')
      }
      if (token !== undefined && !user && declared.auth !== 'none') return socket.close('unauthenticated')
      if (user) {
        closeAtExpiry(ws, socket, user.expires * 1000 - services.clock().getTime())
        ws.once(
          'close',
          sessions.onEnd(user.sid, () => socket.close('unauthenticated')),
        )
      }
      void begin(declared, { params, query }, { ...services, user, socket }).catch((error: unknown) => {
        const failure = translate(error)
        if (failure.status >= 500) log.error({ id, path: url.pathname, err: error }, 'socket failed')
        ws.close(failure.status >= 500 ? INTERNAL_ERROR : POLICY_VIOLATION, failure.code)
      })
    })
  }

  const wrap = (ws: WebSocket): Socket => {
    const client = { ws, answered: true }
    const closed = new AbortController()
    open.add(client)
    ws.on('pong', () => {
      client.answered = true
    })
    ws.on('error', (error) => log.debug({ err: error }, 'socket error'))
    ws.on('close', () => {
      open.delete(client)
      closed.abort()
    })
    return {
      send: ({ bytes }) =>
        new Promise((resolve) => {
          if (ws.readyState !== ws.OPEN) resolve()
          else ws.send(bytes, { binary: false }, () => resolve())
        }),
      waiting: () => ws.bufferedAmount,
      close: (reason) => {
        if (ws.readyState === ws.OPEN) ws.close(CLOSE[reason])
      },
      closed: closed.signal,
    }
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
        refuse(connection, translate(error), { log, method: request.method, path: url?.pathname })
      })
    },
    async stop() {
      stopped = true
      clearInterval(ping)
      const gone = [...open].map(({ ws }) => new Promise((resolve) => ws.once('close', resolve)))
      for (const { ws } of open) ws.close(CLOSE.stopping)
      const cut = setTimeout(() => {
        for (const { ws } of open) ws.terminate()
      }, STOP_MS)
      await Promise.all(gone)
      clearTimeout(cut)
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

/** A socket may not outlive the token that opened it. */
function closeAtExpiry(ws: WebSocket, socket: Socket, afterMs: number): void {
  const timer = setTimeout(() => socket.close('unauthenticated'), afterMs)
  timer.unref()
  ws.once('close', () => clearTimeout(timer))
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
