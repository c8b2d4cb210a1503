import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../runtime/demo.ts'
import { startService } from './service.ts'

/** Returns the duration of a stop, in milliseconds. */
async function timeOf(stop: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await stop()
  return performance.now() - began
}

/** The service gives up by itself after 4.5 s; a shorter time means that it has released everything. */
const RELEASED_MS = 4_000

test('a client that keeps its half of a refused upgrade open does not delay the stop', async () => {
  const { url, stop } = await startService(await startDemo())
  const { hostname, port } = new URL(url)
  const client = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  onTestFinished(() => void client.destroy())
  client.write(
    'GET /ws/updates/x HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\n' +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  const [answer] = await once(client, 'data')

  expect(String(answer)).toMatch(/^HTTP\/1.1 403 /)
  expect(await timeOf(stop)).toBeLessThan(RELEASED_MS)
})

test('a silent host does not delay the stop, with a job about to start', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const knocked = once(silent, 'connection')
  const service = await startService(await startDemo(), { PANEL_SSH_HOST: `127.0.0.1:${port}` })
  await service.run('host')
  await knocked

  expect(await timeOf(service.stop)).toBeLessThan(RELEASED_MS)
})
