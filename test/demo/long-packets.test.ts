import { expect, test } from 'vitest'
import { startDemo } from '../runtime/demo.ts'
import { connect, exec, run, signIn } from './client.ts'

const KIB = 1024

test('takes commands as long as those that sshd takes, many at once and of every length', async () => {
  const demo = await startDemo()
  const client = await connect({ port: demo.port, ...demo.service })
  const lengths = [0, 1, 34_900, 35_000, 35_100, 54_989, 64 * KIB, 131_071, 200 * KIB, 3, 255 * KIB]

  const answers = await Promise.all(lengths.slice(0, 8).map((length) => run(client, ['id', '-u', 'x'.repeat(length)])))
  const later = await exec(client, `id -u ${'y'.repeat(255 * KIB)}`)

  expect(answers.map(({ stderr, stdout }) => stderr.length + stdout.length)).toEqual(
    lengths.slice(0, 8).map((length) => "id: ''".length + length + ': no such user\n'.length),
  )
  expect(later.stderr).toHaveLength(255 * KIB + "id: '': no such user\n".length)
})

test('a packet longer than those of sshd ends the connection, and a new one works', async () => {
  const demo = await startDemo()
  const client = await connect({ port: demo.port, ...demo.service })
  client.on('error', () => {})

  await expect(exec(client, `id ${'x'.repeat(300 * KIB)}`)).rejects.toThrow()
  expect(await signIn({ port: demo.port, ...demo.service })).not.toBeTypeOf('string')
})

test('a new exchange of keys changes nothing', async () => {
  const demo = await startDemo()
  const client = await connect({ port: demo.port, ...demo.service })
  const long = 'x'.repeat(60 * KIB)
  const rekeyed = new Promise<void>((resolve) => client.once('handshake', () => resolve()))

  const protocol: unknown = Reflect.get(client, '_protocol')
  if (typeof protocol === 'object' && protocol !== null && 'rekey' in protocol && typeof protocol.rekey === 'function')
    protocol.rekey()
  await rekeyed

  expect((await run(client, ['id', '-u', long])).stderr).toBe(`id: '${long}': no such user\n`)
})
