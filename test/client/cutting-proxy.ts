import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy between a client and a service that cuts connections. */
export interface CuttingProxy {
  url: string
  /** The address of the service, which may change. */
  target: string
  /** The number of answered bytes after which a connection is cut, by the request line; undefined never cuts it. */
  cut(line: string): number | undefined
  /** The first line of each request so far. */
  readonly lines: readonly string[]
  /** The number of cut connections. */
  readonly cuts: number
  /** The number of open connections whose last request line contains `part`. */
  open(part: string): number
  /** Cuts these connections. */
  cutNow(part: string): void
  /** Passes on no more bytes of these connections, without closing them. */
  silence(part: string): void
}

export async function startProxy(target: string): Promise<CuttingProxy> {
  const lines: string[] = []
  const open = new Map<Socket, string>()
  const silent = new WeakSet<Socket>()
  let cuts = 0
  const server = createServer((client) => {
    const { hostname, port } = new URL(proxy.target)
    const service = connect(Number(port), hostname)
    let left = Number.POSITIVE_INFINITY
    client.on('error', () => {})
    service.on('error', () => {})
    service.on('close', () => client.destroySoon())
    client.on('close', () => {
      open.delete(client)
      service.destroy()
    })
    open.set(client, '')
    client.on('data', (bytes: Buffer) => {
      // A connection is kept for the next request, and a socket may be that.
      const [line] = /^[A-Z]+ \S+ HTTP\/1\.1(?=\r\n)/.exec(bytes.toString('latin1')) ?? []
      if (line) {
        lines.push(line)
        open.set(client, line)
        left = proxy.cut(line) ?? Number.POSITIVE_INFINITY
      }
      service.write(bytes)
    })
    service.on('data', (bytes: Buffer) => {
      if (left <= 0 || silent.has(client)) return
      client.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left > 0) return
      cuts += 1
      service.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    for (const client of open.keys()) client.destroy()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${address.port}`,
    target,
    cut: () => undefined,
    lines,
    get cuts() {
      return cuts
    },
    open: (part) => [...open.values()].filter((line) => line.includes(part)).length,
    silence(part) {
      for (const [client, line] of open) if (line.includes(part)) silent.add(client)
    },
    cutNow(part) {
      for (const [client, line] of open) if (line.includes(part)) client.destroy()
    },
  }
  return proxy
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
