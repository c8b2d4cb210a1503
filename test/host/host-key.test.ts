import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { askPackages, login, signIn } from './client.ts'
import { PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service | undefined
afterEach(async () => {
  await service?.stop()
  service = undefined
})
// Restores the host's keys.
afterAll(() => rig('reset'))

test('the service refuses every login while the host’s key differs from the configured one', async () => {
  await rig('reset')
  service = await startService({ env: { PANEL_SSH_HOST_KEY: `SHA256:${'A'.repeat(43)}` } })

  const { status, body } = await login(service, 'alice', PASSWORDS.alice)

  expect(body).toMatchObject({ code: 'host_key_changed', error: expect.stringContaining('clé de l’hôte') })
  expect(status).toBe(401)
})

test('the service accepts only the key that it saw first', async () => {
  await rig('reset')
  service = await startService()
  const bob = await signIn(service, 'bob')
  await rig('rekey')
  await rig('cut')

  expect(await login(service, 'bob', PASSWORDS.bob)).toMatchObject({ status: 401, body: { code: 'host_key_changed' } })
  expect((await bob.get('/api/updates/targets')).body).toEqual([{ id: 'host', name: 'Hôte', status: 'running' }])
  expect(await askPackages(bob, 'host')).toMatchObject({ status: 502, body: { code: 'ssh_failed' } })
})

test('a closed port of the host is reported as unreachable within 5 s', async () => {
  service = await startService({ env: { PANEL_SSH_HOST: `127.0.0.1:${await freePort()}` } })

  const { status, body, ms } = await login(service, 'alice', PASSWORDS.alice)

  expect(body).toEqual({ error: 'Connexion impossible : l’hôte SSH ne répond pas.', code: 'ssh_unreachable' })
  expect(status).toBe(401)
  expect(ms).toBeLessThan(5_000)
})

test('a host that accepts the connection and sends nothing is reported as unreachable within 30 s', async () => {
  const held = new Set<Socket>()
  const mute = createServer((socket) => held.add(socket)).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const address = mute.address()
  const port = typeof address === 'object' && address ? address.port : 0
  service = await startService({ env: { PANEL_SSH_HOST: `127.0.0.1:${port}` } })

  const { status, body, ms } = await login(service, 'alice', PASSWORDS.alice)

  expect(body).toMatchObject({ code: 'ssh_unreachable' })
  expect(status).toBe(401)
  expect(ms).toBeLessThan(30_000)
  for (const socket of held) socket.destroy()
  mute.close()
})
