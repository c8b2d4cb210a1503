import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { defineFunction } from '../../functions/services.ts'
import { testApp } from '../app.ts'
import { listening } from './listening.ts'

/** More than both ends of a connection buffer. */
const LONG = 'x'.repeat(32 * 1024 * 1024)

const probe = {
  method: 'GET',
  auth: 'none',
  rateLimit: false,
  summary: 'A probe',
  description: 'Made for a test.',
  response: z.string(),
} as const
const long = defineFunction({ ...probe, path: '/api/probe/long', handler: () => LONG })

async function asking(url: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: panel\r\n\r\n`)
  return socket
}

test('a client that does not read its response is disconnected', async () => {
  const { services } = await testApp([])
  const { url, server } = await listening(services, { functions: [long], unreadMs: 200 })
  const accepted = once(server, 'connection')
  await asking(url, long.path)

  const [connection] = await accepted
  await once(connection, 'close')
})

test('a client that waits for a slow response stays connected, and idle afterwards not for long', async () => {
  const { services } = await testApp([])
  let silent: Promise<unknown> | undefined
  const slow = defineFunction({
    ...probe,
    path: '/api/probe/slow',
    handler: async () => {
      await silent
      return 'at last'
    },
  })
  const { url, server } = await listening(services, { functions: [slow], unreadMs: 50 })
  silent = once(server, 'timeout')
  server.keepAliveTimeout = 50

  expect(await text(await asking(url, slow.path))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*at last/)
})
