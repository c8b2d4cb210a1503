import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { runHttpProbes } from '../../../functions/protection/http-probes.ts'
import type { Probe } from '../../../functions/protection/protection.ts'
import { freePort } from '../../free-port.ts'
import { selfSigned } from '../../spec/certificate.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))

/** Listens on a free port; `open` counts its connections, `all` those that there ever were. */
async function listening(server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>()
  let all = 0
  server.on('connection', (socket) => {
    all += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { port, open: () => sockets.size, all: () => all }
}

const answering = (listener: RequestListener) => listening(createServer(listener))
const http = (url: string, status = 200): Probe => ({ kind: 'http', url, status })
const never = new AbortController().signal

async function ask(probe: Probe, withinMs?: number) {
  const [answer] = await runHttpProbes([probe], never, withinMs === undefined ? {} : { withinMs })
  return [answer?.good, answer?.detail]
}

test('the wanted status is good, another one is not', async () => {
  const server = await answering((request, response) => response.writeHead(Number(request.url?.slice(1))).end('text'))
  const at = (status: number) => `http://127.0.0.1:${server.port}/${status}`

  expect(await ask(http(at(200)))).toEqual([true, '200'])
  expect(await ask(http(at(503)))).toEqual([false, '503'])
  expect(await ask(http(at(401), 401))).toEqual([true, '401'])
  expect(await ask(http(at(204), 200))).toEqual([false, '204'])
  await expect.poll(server.open).toBe(0)
})

test('follows no redirect', async () => {
  const target = await answering((_, response) => response.end())
  const server = await answering((_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end(),
  )

  expect(await ask(http(`http://127.0.0.1:${server.port}/`))).toEqual([false, '302'])
  expect(await ask(http(`http://127.0.0.1:${server.port}/`, 302))).toEqual([true, '302'])
  expect(target.all()).toBe(0)
})

test('tells who refuses, and who speaks something else', async () => {
  const other = await listening(createTcpServer((socket) => socket.end('220 mail\r\n')))
  const closing = await listening(createTcpServer((socket) => socket.destroy()))

  expect(await ask(http(`http://127.0.0.1:${await freePort()}/`))).toEqual([false, 'refused'])
  expect(await ask(http(`http://127.0.0.1:${other.port}/`))).toEqual([false, 'HPE_INVALID_CONSTANT'])
  expect(await ask(http(`http://127.0.0.1:${closing.port}/`))).toEqual([false, 'connection reset'])
  expect((await ask(http(`https://127.0.0.1:${other.port}/`)))[0]).toBe(false)
})

test('gives up on who never answers, and closes the connection', async () => {
  const silent = await listening(createTcpServer((socket) => socket.resume()))
  const start = Date.now()

  expect(await ask(http(`http://127.0.0.1:${silent.port}/`), 300)).toEqual([false, 'timeout'])
  expect(await ask(http(`https://127.0.0.1:${silent.port}/`), 300)).toEqual([false, 'timeout'])
  expect(Date.now() - start).toBeLessThan(5_000)
  await expect.poll(silent.open).toBe(0)
})

test('does not read a body without an end, nor headers without an end', async () => {
  let written = 0
  const endless = await answering((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536
    }
    response.on('drain', more)
    more()
  })
  const headers = await listening(
    createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write(`x: ${'y'.repeat(4_000)}\r\n`), 1)
      socket.once('close', () => clearInterval(timer))
    }),
  )

  expect(await ask(http(`http://127.0.0.1:${endless.port}/`))).toEqual([true, '200'])
  expect(await ask(http(`http://127.0.0.1:${headers.port}/`))).toEqual([false, 'HPE_HEADER_OVERFLOW'])
  await expect.poll(() => endless.open() + headers.open()).toBe(0)
  expect(written).toBeLessThan(64 * 1024 * 1024)
})

test('takes any certificate', async () => {
  const expired = selfSigned('other.test', { from: new Date(2020, 1), until: new Date(2021, 1) })
  const server = await listening(createSecureServer(expired, (_, response) => response.end()))

  expect(await ask(http(`https://127.0.0.1:${server.port}/`))).toEqual([true, '200'])
  expect((await ask(http(`http://127.0.0.1:${server.port}/`)))[0]).toBe(false)
  await expect.poll(server.open).toBe(0)
})

test.skipIf(!hasIpv6)('asks over IPv6', async () => {
  const server = await listening(
    createServer((_, response) => response.end()),
    '::1',
  )

  expect(await ask(http(`http://[::1]:${server.port}/`))).toEqual([true, '200'])
})

test('an offer to change the protocol is an answer', async () => {
  const server = await listening(
    createTcpServer((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      )
    }),
  )

  expect(await ask(http(`http://127.0.0.1:${server.port}/`, 101))).toEqual([true, '101'])
  await expect.poll(server.open).toBe(0)
})

test('asks all at once, in their order, http alone, without the account in the name', async () => {
  let waiting: (() => void)[] = []
  const accounts = new Set<string | undefined>()
  const server = await answering((request, response) => {
    accounts.add(request.headers.authorization)
    waiting.push(() => response.writeHead(200).end())
    // Nobody gets an answer before all have asked.
    if (waiting.length === 10) for (const answer of waiting.splice(0)) answer()
  })
  const probes = Array.from({ length: 10 }, (_, index) => http(`http://me:secret@127.0.0.1:${server.port}/${index}#x`))

  const answers = await runHttpProbes([{ kind: 'tcp', port: 1 }, ...probes, { kind: 'unit', name: 'a' }], never)

  expect(answers.map(({ name, good }) => [name, good])).toEqual(
    probes.map((_, index) => [`http http://127.0.0.1:${server.port}/${index}`, true]),
  )
  expect([...accounts]).toEqual([`Basic ${Buffer.from('me:secret').toString('base64')}`])
  await expect.poll(server.open).toBe(0)
  waiting = []
})

test('ends with its caller', async () => {
  const silent = await listening(createTcpServer((socket) => socket.resume()))
  const caller = new AbortController()
  const asking = runHttpProbes([http(`http://127.0.0.1:${silent.port}/`)], caller.signal)
  await expect.poll(silent.open).toBe(1)

  caller.abort(new Error('no longer wanted'))

  await expect(asking).rejects.toThrow('no longer wanted')
  await expect.poll(silent.open).toBe(0)
})

test('asks nobody when there is no probe of its kind', async () => {
  expect(await runHttpProbes([{ kind: 'tcp', port: 1 }], never)).toEqual([])
})
