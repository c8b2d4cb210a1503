import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { acceptedKeys } from '../../ssh/key-probe.ts'
import { authorizedLine, newSshKey } from '../../ssh/key.ts'
import { startDemo } from '../runtime/demo.ts'

const [KEY, OTHER] = [newSshKey(), newSshKey()]
const place = ({ port }: { port: number }, hostKey = '') => ({
  ...{ address: '', host: '127.0.0.1', port, username: 'keyed', hostKey },
})
const start = (method: 'password' | 'publickey') => {
  const keyed = { password: 'right', uid: 1300, groups: ['keyed'], authorizedKeys: `${authorizedLine(KEY)}\n` }
  return startDemo({ method, users: { keyed } })
}

test.each(['password', 'publickey'] as const)(
  'a host with %s tells which keys it accepts, and lets nobody in',
  async (method) => {
    const demo = await start(method)

    const five = [newSshKey(), KEY, newSshKey(), OTHER, newSshKey()].map(({ publicKey }) => publicKey)
    expect(await acceptedKeys(place(demo, demo.hostKey), five)).toEqual([KEY.publicKey])
    expect(await acceptedKeys(place(demo), [OTHER.publicKey])).toEqual([])
    expect(await acceptedKeys(place({ port: 1 }), [])).toEqual([])

    expect([demo.signIns, demo.commands]).toEqual([[], []])
    await expect.poll(() => demo.connections).toBe(0)
  },
)

test('another host key than the pinned one, and no host, are errors and no answer', async () => {
  const demo = await start('publickey')
  const pinned = `ssh-ed25519 SHA256:${'A'.repeat(43)}`
  await expect(acceptedKeys(place(demo, pinned), [KEY.publicKey])).rejects.toMatchObject({ name: 'SshError' })

  const server = createServer((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = Object(server.address())
  await expect(acceptedKeys(place({ port }), [KEY.publicKey])).rejects.toMatchObject({ name: 'SshError' })
})
