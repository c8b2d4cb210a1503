import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import type { DemoHost } from '../../demo/host.ts'
import { newHostKey } from '../../demo/host-key.ts'
import { fingerprint } from '../../ssh/host-key.ts'
import { connect, SshError } from '../../ssh/connection.ts'
import type { SshAccount } from '../../ssh/settings.ts'
import { startDemo } from '../runtime/demo.ts'

const login = ({ port }: Pick<DemoHost, 'port'>, more: Partial<SshAccount> = {}): SshAccount => ({
  address: '',
  host: '127.0.0.1',
  port,
  username: 'demo',
  password: 'demo',
  hostKey: '',
  ...more,
})

async function listen(server: Server | InstanceType<typeof ssh2.Server>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** A server that refuses everybody, and records the requested methods. */
async function refusing(offered: ('password' | 'keyboard-interactive')[]) {
  const tried: string[] = []
  const key = newHostKey()
  const server = new ssh2.Server({ hostKeys: [key] }, (connection) => {
    connection.on('authentication', (context) => {
      tried.push(context.method)
      if (context.method !== 'keyboard-interactive') return context.reject(offered)
      context.prompt([{ prompt: 'Password: ', echo: false }], () => context.reject(offered))
    })
    connection.on('error', () => {})
  })
  return { port: await listen(server), tried }
}

test('signs in by password and runs a command', async () => {
  const demo = await startDemo()

  const connection = await connect(login(demo))

  const channel = await connection.open(['id', '-u'])
  const chunks: string[] = []
  channel.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  await once(channel, 'close')
  expect(chunks.join('')).toBe('1000\n')
  expect(connection.hostKey).toBe(demo.hostKey)
  connection.end()
})

test('signs in by keyboard-interactive where the host offers no password', async () => {
  const demo = await startDemo({ method: 'keyboard-interactive' })

  const connection = await connect(login(demo))
  connection.end()

  await expect(connect(login(demo, { password: 'wrong' }))).rejects.toMatchObject({ reason: 'bad_credentials' })
})

test('a wrong password is tried once, and not by another method', async () => {
  const { port, tried } = await refusing(['password', 'keyboard-interactive'])

  const error = await connect(login({ port })).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(SshError)
  expect(error).toMatchObject({ reason: 'bad_credentials' })
  expect(tried).toEqual(['none', 'keyboard-interactive'])
})

test('keyboard-interactive is tried once, too', async () => {
  const { port, tried } = await refusing(['keyboard-interactive'])

  await expect(connect(login({ port }))).rejects.toMatchObject({ reason: 'bad_credentials' })

  expect(tried).toEqual(['none', 'keyboard-interactive'])
})

test('an expired account, which the host only disconnects, is refused at once', async () => {
  const users = { old: { password: 'pw', uid: 1100, groups: ['old'], expired: true } }
  const demo = await startDemo({ users })
  const started = performance.now()

  await expect(connect(login(demo, { username: 'old', password: 'pw' }))).rejects.toMatchObject({
    reason: 'bad_credentials',
  })

  expect(performance.now() - started).toBeLessThan(2_000)
})

test('accepts the pinned key, with or without its type', async () => {
  const demo = await startDemo()

  for (const hostKey of [demo.hostKey, demo.hostKey.replace('ssh-ed25519 ', '')]) {
    const connection = await connect(login(demo, { hostKey }))
    expect(connection.hostKey).toBe(demo.hostKey)
    connection.end()
  }
})

test('another key than the pinned one is refused: the error names both, and the host does not get the password', async () => {
  const { port, tried } = await refusing(['password'])
  const pinned = `ssh-ed25519 SHA256:${'A'.repeat(43)}`

  const error = await connect(login({ port }, { hostKey: pinned })).catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({
    name: 'SshError',
    reason: 'host_key_changed',
    message: expect.stringContaining(pinned),
  })
  expect(error).toMatchObject({ message: expect.stringMatching(/ssh-ed25519 SHA256:(?!AAAA)[\w+/]{43} au lieu de/) })
  expect(tried).toEqual([])
})

test('a host with several keys is asked for the pinned type', async () => {
  const hostKeys = [newHostKey(), ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private]
  const server = new ssh2.Server({ hostKeys }, (connection) => {
    connection.on('authentication', (context) =>
      context.method === 'password' ? context.accept() : context.reject(['password']),
    )
    connection.on('error', () => {})
  })
  const port = await listen(server)

  for (const text of hostKeys) {
    const key = ssh2.utils.parseKey(text)
    if (key instanceof Error) throw key
    const hostKey = fingerprint(key.getPublicSSH())
    const connection = await connect(login({ port }, { hostKey }))
    expect(connection.hostKey).toBe(hostKey)
    connection.end()
  }
})

test('a missing, disconnecting or babbling server is unreachable, and not a wrong password', async () => {
  const demo = await startDemo()
  demo.accepting = false
  const nonsense = createServer((socket) => void socket.end('220 smtp.example ESMTP\r\n'))
  const closed = createServer()
  const free = await listen(closed)
  closed.close()

  for (const port of [demo.port, free, await listen(nonsense)]) {
    await expect(connect(login({ port }))).rejects.toMatchObject({ name: 'SshError', reason: 'unreachable' })
  }
  await expect(connect(login(demo, { host: 'no-such-host.invalid' }))).rejects.toMatchObject({ reason: 'unreachable' })
})

test.each(['Not allowed at this time\r\n', 'Not allowed at this time\n'])(
  'a server that sends %j instead of its identification is throttled',
  async (words) => {
    const turning = createServer((socket) => void socket.end(words).on('error', () => {}))

    await expect(connect(login({ port: await listen(turning) }))).rejects.toMatchObject({
      name: 'SshError',
      reason: 'throttled',
      message: expect.stringMatching(/^l’hôte refuse pour l’instant les connexions de ce service/),
    })
  },
)

test('the identification of a server is known before it receives a name, and afterwards', async () => {
  const demo = await startDemo()
  const called: string[] = []

  const connection = await connect(login(demo), undefined, (identification) => called.push(identification))
  await expect(
    connect(login(demo, { password: 'wrong' }), undefined, (identification) => called.push(identification)),
  ).rejects.toMatchObject({ reason: 'bad_credentials' })

  expect(called).toEqual(Array(2).fill('SSH-2.0-OpenSSH_9.2p1 demo'))
  expect(connection.identification).toBe(called[0])
  connection.end()
})

test('a cut closes the channels, calls each listener once, and refuses new channels', async () => {
  const demo = await startDemo()
  demo.override = (words) => (words[0] === 'wait' ? new Promise(() => {}) : undefined)
  const connection = await connect(login(demo))
  const channel = await connection.open(['wait'])
  const called: string[] = []
  connection.onClosed(() => called.push('told'))
  const leave = connection.onClosed(() => called.push('left, yet told'))
  leave()
  channel.resume()
  const closed = once(channel, 'close')

  demo.cut()
  await closed

  await expect(connection.open(['true'])).rejects.toBeInstanceOf(SshError)
  expect(called).toEqual(['told'])
  connection.onClosed(() => called.push('late'))
  expect(called).toEqual(['told', 'late'])
})

test('a channel requested at the moment of the cut is refused, not forgotten', async () => {
  const demo = await startDemo()
  const connection = await connect(login(demo))

  const opening = connection.open(['true'])
  demo.cut()

  await expect(opening).rejects.toBeInstanceOf(SshError)
})
