import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Services } from '../../functions/services.ts'
import { createApp } from '../../runtime/app.ts'
import type { AnyFunction } from '../../runtime/function.ts'
import type { AnySocket } from '../../runtime/socket.ts'
import { createSockets } from '../../runtime/sockets.ts'
import type { Repeat } from '../../platform/certificate.ts'
import { createHttpServer, listen } from '../../serve/http-server.ts'

/** The service's own server on a free port, around services that a test holds, with a fixed clock. */
export async function listening(
  services: Services,
  {
    functions = [],
    sockets = [],
    tls,
    repeat,
    unreadMs,
  }: {
    functions?: readonly AnyFunction[]
    sockets?: readonly AnySocket[]
    tls?: { cert: string; key: string }
    repeat?: Repeat
    unreadMs?: number
  } = {},
) {
  const { log, clock, config } = services
  const ws = createSockets(sockets, services)
  const app = createApp(functions, services, { strict: true })
  const server = await createHttpServer(
    { app, sockets: ws, log, clock, isTrustedProxy: config.isTrustedProxy },
    tls,
    repeat,
    unreadMs,
  )
  const url = `${tls ? 'https' : 'http'}://${await listen(server, '127.0.0.1', 0)}`
  onTestFinished(async () => {
    await ws.stop()
    server.closeAllConnections()
    server.close()
  })
  return {
    url,
    server,
    /**
     * Sends a request with any headers, even those that `fetch` reserves; each item of a list is sent as a separate
     * header.
     */
    async send(method: string, path: string, headers: Record<string, string | string[]> = {}) {
      const asked = request(`${url}${path}`, { method, headers, agent: false })
      asked.end()
      const [response] = await once(asked, 'response')
      return { status: response.statusCode, headers: response.headers, body: await text(response) }
    },
  }
}
