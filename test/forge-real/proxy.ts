import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer } from '../close-server.ts'

export interface ForgeProxy {
  url: string
  /** The paths that were asked for, in order. */
  paths: string[]
  /** Answers in place of the forge when it returns true. */
  behave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** The address that requests are passed on to. */
  to: string
  close(): Promise<void>
}

/** A proxy in front of a forge, as people put one there: it serves the forge below `path` and knows nothing else. */
export async function startProxy({ path = '' }: { path?: string } = {}): Promise<ForgeProxy> {
  const server = createServer((request, response) => {
    const { url = '/', method, headers } = request
    proxy.paths.push(url)
    if (proxy.behave?.(request, response)) return
    if (!url.startsWith(`${path}/`)) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>404 Not Found</h1></html>')
      return
    }
    const passed = ask(`${proxy.to}${url.slice(path.length)}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: ForgeProxy = {
    url: `http://127.0.0.1:${Object(server.address()).port}${path}`,
    paths: [],
    behave: undefined,
    to: '',
    close: () => closeServer(server),
  }
  return proxy
}
