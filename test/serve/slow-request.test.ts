import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '../../serve/server.ts'
import { temporaryFolder } from '../db/folder.ts'

const folder = await temporaryFolder((work) => afterAll(work))
let service: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  service = await startServer({ PANEL_PORT: '0', PANEL_DATA_DIR: folder, PANEL_LOG_LEVEL: 'silent' })
})

afterAll(() => service.stop())

/** Sends another byte of a request every second; returns the answer, and the seconds until the connection ended. */
async function trickle(begin: string, byte: string) {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const began = performance.now()
  socket.write(begin)
  const timer = setInterval(() => socket.write(byte), 1_000)
  socket.on('error', () => {})
  const answer = await text(socket).finally(() => clearInterval(timer))
  return { answer, seconds: (performance.now() - began) / 1000 }
}

const POST = 'POST /api/auth/login HTTP/1.1\r\nHost: panel\r\nContent-Length: 1000\r\n\r\n'

// The tests only wait, so they run together: the limits are 10 and 20 s, checked every 2 s.
test.concurrent.each([
  ['headers that never end', 'GET /api/health HTTP/1.1\r\nHost: panel\r\nX: ', 'x', 16],
  ['a body that never ends', POST, ' ', 26],
  ['a body that never comes', POST, '', 26],
])('%s: the request is cut with 408', { timeout: 60_000 }, async (_, begin, byte, atMost) => {
  const { answer, seconds } = await trickle(begin, byte)

  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(answer).toMatch(/"code":"request_timeout"/)
  expect(seconds).toBeGreaterThan(9)
  expect(seconds).toBeLessThan(atMost)
})

test.concurrent('a slow client delays no other client', async () => {
  const slow = trickle(POST, '')

  expect((await fetch(`${service.url}/api/health`)).status).toBe(200)

  await slow
})
