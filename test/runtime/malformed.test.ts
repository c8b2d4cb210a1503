import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startDemo } from './demo.ts'
import { startService } from './service.ts'

/** Sends bytes as they are and reads until the service ends the connection. */
async function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  return text(socket)
}

test.each([
  ['what is not HTTP', 'SSH-2.0-hello\r\n\r\n', 400, 'malformed_http'],
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
])('%s is answered in the form of every other error', async (_, bytes, status, code) => {
  const { url } = await startService(await startDemo())

  const [head = '', body = ''] = (await exchange(url, bytes)).split('\r\n\r\n')

  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/^X-Request-Id: [\w-]{36}$/m)
  expect(JSON.parse(body)).toMatchObject({ code, error: expect.stringMatching(/^L/) })
})

test('HTTP/1.0 needs no Host: health checks of some proxies still speak it', async () => {
  const { url } = await startService(await startDemo())

  expect(await exchange(url, 'GET /api/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('CONNECT is refused in the form of every other error', async () => {
  const { url } = await startService(await startDemo())

  const [head = '', body = ''] = (await exchange(url, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')).split('\r\n\r\n')

  expect(head).toMatch(/^HTTP\/1\.1 405 /)
  expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed' })
})

test('after a body that is too long the connection is closed, and says so', async () => {
  const { url } = await startService(await startDemo())

  const answer = await exchange(url, 'POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n{')

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toMatch(/^connection: close\r$/im)
})
