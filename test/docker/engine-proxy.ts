import { chmod, chown } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The group that may use the socket. */
export const SOCKET_GROUP = 12_345

/** Runs before the engine receives a request, which waits until the promise settles; `line` is its first line. */
export type OnRequest = (line: string) => Promise<void> | undefined

/** Forwards the engine's socket from another path, for a service under test. */
export async function engineProxy(path: string, engine: string) {
  const sockets = new Set<Socket>()
  const proxy: { onRequest: OnRequest; requests: string[] } = { onRequest: () => undefined, requests: [] }
  const server = createServer((client) => {
    const upstream = connect(engine)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes: Buffer) => {
      const [line = ''] = bytes.toString('latin1', 0, 300).split('\r\n', 1)
      const isRequest = /^(GET|HEAD|POST|PUT|DELETE) \S+ HTTP\/1\.1$/.test(line)
      if (isRequest) proxy.requests.push(line)
      const held = isRequest ? proxy.onRequest(line) : undefined
      if (!held) return void upstream.write(bytes)
      client.pause()
      void held.then(() => {
        upstream.write(bytes)
        client.resume()
      })
    })
    upstream.on('data', (bytes) => void client.write(bytes))
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  await chown(path, 0, SOCKET_GROUP)
  await chmod(path, 0o660)
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return proxy
}
