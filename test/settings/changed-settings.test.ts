import { expect, test } from 'vitest'
import * as z from 'zod'
import type { DemoHost } from '../../demo/host.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'

const Answer = z.object({ access_token: z.string() })
const namesOf = ({ commands }: DemoHost) => new Set(commands.flat())

/** The service, with a signed-in administrator of its host. */
async function service(demo: DemoHost) {
  const { url, request } = await startService(demo)
  const login = () =>
    fetch(`${url}/api/auth/login`, { method: 'POST', body: JSON.stringify({ username: 'demo', password: 'demo' }) })
  const { access_token } = Answer.parse(await (await login()).json())
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${access_token}` }
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
  }
  /** The change contains the administrator's own password as proof. */
  const patch = async (settings: object) => {
    const answer = await send('PATCH', '/api/settings', { ...settings, current_password: 'demo' })
    expect(answer).toMatchObject({ status: 200 })
  }
  const packages = async () => (await request('GET', '/api/updates/packages?target=host')).status
  return { login, send, patch, packages }
}

test('the next request uses another host, without a restart, and leaves the previous one', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { patch, packages, login } = await service(one)
  expect(await packages()).toBe(200)
  const before = one.commands.length

  await patch({ ssh_host: `127.0.0.1:${two.port}`, ssh_password: two.service.password, ssh_host_key: two.hostKey })

  expect(await packages()).toBe(200)
  expect((await login()).status).toBe(200)
  expect(namesOf(two)).toContain('apt')
  // The proof was a login there.
  expect(one.commands).toHaveLength(before + 1)
  await expect.poll(() => one.connections).toBe(0)
})

test('another machine is given no password until its key is agreed to', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { send, patch, packages } = await service(one)
  const ssh_host = `127.0.0.1:${two.port}`
  expect(await packages()).toBe(200)

  const shown = await send('POST', '/api/settings/host-key', { ssh_host })
  const change = async (more: object) => (await send('PATCH', '/api/settings', { ssh_host, ...more })).body.code

  expect(shown).toEqual({ status: 200, body: { ssh_host_key: two.hostKey } })
  expect(await change({})).toBe('host_key_required')
  expect(await change({ ssh_host_key: '', current_password: 'demo' })).toBe('host_key_required')
  expect(await change({ ssh_host_key: two.hostKey })).toBe('proof_required')
  expect(await change({ ssh_host_key: two.hostKey, current_password: 'wrong' })).toBe('proof_wrong')
  expect(await packages()).toBe(200)
  expect([two.signIns, two.commands, two.connections]).toEqual([[], [], 0])

  await patch({ ssh_host, ssh_host_key: two.hostKey, ssh_password: two.service.password })
  expect(await packages()).toBe(200)
  expect(two.signIns).toContain(two.service.username)
  // The proof is checked by the previous host.
  expect(two.signIns).not.toContain('demo')
})

test('a machine with another key than the agreed one is given no password', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { patch, packages, login } = await service(one)

  await patch({ ssh_host: `127.0.0.1:${two.port}`, ssh_host_key: one.hostKey })

  expect(await packages()).toBe(502)
  const refused = await login()
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'host_key_changed' }])
  expect([two.signIns, two.commands]).toEqual([[], []])
})

test('settings outside of SSH leave the connections as they are', async () => {
  const demo = await startDemo()
  const { patch, packages } = await service(demo)
  expect(await packages()).toBe(200)
  expect(await packages()).toBe(200)
  const { connections } = demo
  const before = demo.commands.length

  await patch({ hypervisor_url: 'https://pve.example:8006', dashboard_shortcuts: '[]' })

  expect(await packages()).toBe(200)
  expect(demo.connections).toBe(connections)
  expect(demo.commands).toHaveLength(before + 1)
})

test('another key is refused, and the panel cannot agree to it while the known host is away', async () => {
  const demo = await startDemo()
  const { send, packages, login } = await service(demo)
  const { port } = demo
  await demo.close()
  const other = await startDemo({ port })

  const answer = await send('PATCH', '/api/settings', { ssh_host_key: other.hostKey, current_password: 'demo' })

  expect(answer).toMatchObject({ status: 503, body: { code: 'proof_impossible' } })
  expect((await login()).status).toBe(401)
  expect(await packages()).toBe(502)
  expect([other.signIns, other.commands]).toEqual([[], []])
})

test('an administrator who proves a password can agree to a host’s next key in advance', async () => {
  const demo = await startDemo()
  const { patch, packages, login } = await service(demo)
  const { port } = demo
  const other = await startDemo()
  await patch({ ssh_host_key: other.hostKey.split(' ')[1] })
  expect((await login()).status).toBe(401)

  await demo.close()
  const { privateKey } = other
  await startDemo({ port, privateKey, users: { panel: { password: demo.service.password, uid: 0, groups: ['root'] } } })

  await expect.poll(packages).toBe(200)
})

test('the key of an address without a host cannot be read', async () => {
  const demo = await startDemo()
  const { send } = await service(demo)
  const away = await startDemo()
  await away.close()
  const read = (ssh_host: string) => send('POST', '/api/settings/host-key', { ssh_host })

  expect(await read(`127.0.0.1:${away.port}`)).toMatchObject({ status: 502, body: { code: 'host_check_failed' } })
  expect(await read('two words')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})
