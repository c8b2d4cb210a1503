import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import output from '../../functions/jobs/output.ws.ts'
import { testApp } from '../app.ts'
import { startDemo } from '../runtime/demo.ts'
import { listening } from './listening.ts'
import { openSocket, startService } from './service.ts'

/** Sends bytes unchanged and reads until the service ends the connection. */
async function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  return text(socket)
}

test.each([
  ['text that is not HTTP', 'SSH-2.0-hello\r\n\r\n', 400, 'malformed_http'],
  [
    'a request line of 20,000 characters',
    `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'headers of 20,000 characters',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'a body with two lengths',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    400,
    'malformed_http',
  ],
])('%s is answered in the format of every other error', async (_, bytes, status, code) => {
  const { url } = await startService(await startDemo())

  const [head = '', body = ''] = (await exchange(url, bytes)).split('\r\n\r\n')

  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/^X-Request-Id: [\w-]{36}$/m)
  expect(JSON.parse(body)).toMatchObject({ code, error: expect.stringMatching(/^L/) })
})

test('HTTP/1.0 needs no Host: health checks of some proxies still use it', async () => {
  const { url } = await startService(await startDemo())

  expect(await exchange(url, 'GET /api/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('CONNECT is refused in the format of every other error', async () => {
  const { url } = await startService(await startDemo())

  const [head = '', body = ''] = (await exchange(url, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')).split('\r\n\r\n')

  expect(head).toMatch(/^HTTP\/1\.1 405 /)
  expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed' })
})

test('after an overlong body the response says that the connection closes, and it does', async () => {
  const { url } = await startService(await startDemo())

  const answer = await exchange(url, 'POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n{')

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toMatch(/^connection: close\r$/im)
})

const UPGRADE =
  'GET /ws/updates/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'

test.each([
  ['text that is not HTTP', 'SSH-2.0-hello\r\n\r\n', 'malformed_http', '127.0.0.1'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'method_not_allowed', '127.0.0.1'],
  ['an invalid Host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 'malformed_http', ''],
  ['an upgrade without a key', `${UPGRADE}Sec-WebSocket-Key: x\r\n\r\n`, 'malformed_http', '127.0.0.1'],
  [
    'an upgrade by a foreign page',
    `${UPGRADE}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nOrigin: ${'e'.repeat(10_000)}\r\n\r\n`,
    'origin_forbidden',
    '127.0.0.1',
  ],
])('the log has a sample of a flood of %s', async (_, bytes, code, address) => {
  const { services, lines } = await testApp([])
  const { url } = await listening(services, { sockets: [output] })

  for (let n = 0; n < 40; n += 1) expect(await exchange(url, bytes)).toMatch(/^HTTP\/1\.1 40[035] /)

  const logged = lines().filter((line) => line.includes(`"code":"${code}"`))
  expect(logged).toHaveLength(12)
  expect(logged.at(-1)).toContain(`"address":"${address}","times":32`)
  expect(Math.max(...lines().map((line) => line.length))).toBeLessThan(1_000)
})

test('the log has a sample of a flood of anonymous sockets', async () => {
  const { services, lines } = await testApp([])
  const { url } = await listening(services, { sockets: [output] })

  for (let n = 0; n < 40; n += 1) expect(await openSocket(url, '/ws/updates/1795448638-0osczxgt').end).toBe(4404)

  await expect.poll(() => lines().filter((line) => line.includes('socket closed')).length).toBe(12)
  expect(lines().filter((line) => line.includes('socket opened'))).toHaveLength(12)
})
