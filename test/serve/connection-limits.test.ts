import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../platform/config.ts'
import { limitConnections } from '../../serve/connection-limits.ts'
import { listen } from '../../serve/http-server.ts'
import { createLog } from '../../platform/log.ts'

/** A server with these limits, whose trusted proxy is 127.0.0.9. */
async function bounded() {
  const { log, lines } = createLog({ level: 'info', write: () => {} })
  const { isTrustedProxy } = readConfig({ PANEL_TRUSTED_PROXIES: '127.0.0.9' })
  const server = createServer()
  limitConnections(
    server,
    { isTrustedProxy, log, clock: () => new Date(0) },
    { all: 12, perAddress: 4, perAddressWhenScarce: 1 },
  )
  server.on('connection', (socket) => {
    if (!socket.destroyed) socket.write('hello')
  })
  const clients = new Set<Socket>()
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const port = Number((await listen(server, '127.0.0.1', 0)).split(':').at(-1))
  /** Whether a connection from this address stays open. */
  const opened = async (localAddress: string): Promise<Socket | undefined> => {
    const client = connect({ port, host: '127.0.0.1', localAddress })
    clients.add(client)
    client.on('error', () => {})
    const kept = await new Promise((resolve) =>
      client.on('data', () => resolve(true)).on('close', () => resolve(false)),
    )
    return kept ? client : undefined
  }
  /** Returns how many of these connections from an address stay open. */
  const keeps = async (count: number, from: string): Promise<number> => {
    let kept = 0
    for (let n = 0; n < count; n += 1) if (await opened(from)) kept += 1
    return kept
  }
  return { opened, keeps, lines }
}

test('each address has a limit of concurrent connections, and a closed connection frees its place', async () => {
  const { opened, keeps, lines } = await bounded()
  const first = await opened('127.0.0.2')

  expect(await keeps(5, '127.0.0.2')).toBe(3)
  expect(await opened('127.0.0.3')).toBeDefined()

  first?.destroy()
  await expect.poll(() => opened('127.0.0.2')).toBeDefined()
  expect(lines().filter((line) => line.includes('too many connections')).length).toBeGreaterThan(0)
  expect(lines()[0]).toContain('"address":"127.0.0.2","times":1,"open":4,"of_address":4')
})

test('once half of all are open an address may have few, a trusted proxy all others, and the total stays limited', async () => {
  const { keeps } = await bounded()
  expect(await keeps(6, '127.0.0.9')).toBe(6)

  expect(await keeps(3, '127.0.0.2')).toBe(1)
  expect(await keeps(3, '127.0.0.3')).toBe(1)
  expect(await keeps(9, '127.0.0.9')).toBe(4)
  expect(await keeps(1, '127.0.0.4')).toBe(0)
})
