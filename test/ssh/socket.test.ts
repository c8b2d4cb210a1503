import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { newHostKey } from '../../demo/host-key.ts'
import { takeEach } from '../../ssh/channel.ts'
import { connect } from '../../ssh/connection.ts'
import { createSshSocket } from '../../ssh/socket.ts'

const FLOOD = randomBytes(16 * 1024 * 1024)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A host with one cipher that accepts everybody, and answers any command with the flood. */
async function flooding(cipher: ssh2.CipherAlgorithm): Promise<number> {
  const options = { hostKeys: [newHostKey()], algorithms: { cipher: [cipher] } }
  const server = new ssh2.Server(options, (connection) => {
    connection.on('authentication', (context) =>
      context.method === 'password' ? context.accept() : context.reject(['password']),
    )
    connection.on('session', (accept) => {
      accept().on('exec', (acceptExec) => {
        const channel = acceptExec()
        channel.write(FLOOD, () => {
          channel.exit(0)
          channel.end()
        })
      })
    })
    connection.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test.each(['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com', 'aes128-ctr'] as const)(
  'data of two simultaneous connections with %s arrives complete',
  async (cipher) => {
    const port = await flooding(cipher)
    const account = { address: '', host: '127.0.0.1', port, username: 'bob', password: 'x', hostKey: '' }

    const read = async () => {
      const connection = await connect(account)
      onTestFinished(() => connection.destroy())
      const channel = await connection.open(['flood'])
      const hash = createHash('sha256')
      let size = 0
      await takeEach(channel, (bytes) => {
        hash.update(bytes)
        size += bytes.length
        return undefined
      })
      return { size, sha256: hash.digest('hex') }
    }

    const whole = { size: FLOOD.length, sha256: sha256(FLOOD) }
    expect(await Promise.all([read(), read()])).toEqual([whole, whole])
  },
)

test.each([
  ['aes128-gcm@openssh.com', true],
  ['aes256-gcm@openssh.com', true],
  ['chacha20-poly1305@openssh.com', false],
  ['aes128-ctr', false],
] as const)('with %s reads share one memory: %s', async (cipher, shared) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => socket.write(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { socket, ciphered } = createSshSocket()
  onTestFinished(() => void socket.destroy())
  socket.connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const echo = async (text: string): Promise<Buffer> => {
    const answered = once(socket, 'data')
    socket.write(text)
    const [bytes] = await answered
    return bytes
  }

  const first = await echo('keys are exchanged')
  ciphered(cipher)
  const second = await echo('deciphered at once')
  const third = await echo('and so is this one')

  expect(first.toString()).toBe('keys are exchanged')
  expect(second.toString()).toBe(shared ? 'and so is this one' : 'deciphered at once')
  expect(third.toString()).toBe('and so is this one')
})
