import { expect, test } from 'vitest'
import * as z from 'zod'
import type { DemoHost } from '../../demo/host.ts'
import { startDemo } from './demo.ts'
import { startService } from './service.ts'

const Answer = z.object({ access_token: z.string() })
const namesOf = ({ commands }: DemoHost) => new Set(commands.flat())

/** The service, with an administrator of its host signed in. */
async function service(demo: DemoHost) {
  const { url, request } = await startService(demo)
  const login = () =>
    fetch(`${url}/api/auth/login`, { method: 'POST', body: JSON.stringify({ username: 'demo', password: 'demo' }) })
  const { access_token } = Answer.parse(await (await login()).json())
  const patch = async (settings: object) => {
    const headers = { authorization: `Bearer ${access_token}` }
    const answer = await fetch(`${url}/api/settings`, { method: 'PATCH', headers, body: JSON.stringify(settings) })
    expect(answer.status).toBe(200)
  }
  const packages = async () => (await request('GET', '/api/updates/packages?target=host')).status
  return { login, patch, packages }
}

test('another host is used by the next request, without a restart, and the one before is left', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { patch, packages, login } = await service(one)
  expect(await packages()).toBe(200)
  const before = one.commands.length

  await patch({ ssh_host: `127.0.0.1:${two.port}`, ssh_password: two.service.password, ssh_host_key: '' })

  expect(await packages()).toBe(200)
  expect((await login()).status).toBe(200)
  expect(namesOf(two)).toContain('apt')
  expect(one.commands).toHaveLength(before)
  await expect.poll(() => one.connections).toBe(0)
})

test('another machine is given no password until its key is agreed to', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { patch, packages, login } = await service(one)
  expect(await packages()).toBe(200)

  await patch({ ssh_host: `127.0.0.1:${two.port}` })

  expect(await packages()).toBe(502)
  const refused = await login()
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'host_key_changed' }])
  expect(two.signIns).toEqual([])
  expect(two.commands).toEqual([])
  await patch({ ssh_host_key: two.hostKey.split(' ')[1], ssh_password: two.service.password })
  expect(await packages()).toBe(200)
  expect(two.signIns).toContain(two.service.username)
})

test('what is no business of SSH leaves the connections as they are', async () => {
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

test('another key is refused until an administrator agrees to it', async () => {
  const demo = await startDemo()
  const { patch, packages, login } = await service(demo)
  const { port } = demo
  await demo.close()
  const other = await startDemo({ port })
  expect((await login()).status).toBe(401)
  expect(await packages()).toBe(502)
  expect(other.commands).toEqual([])

  await patch({ ssh_host_key: other.hostKey.split(' ')[1], ssh_password: other.service.password })

  expect((await login()).status).toBe(200)
  expect(await packages()).toBe(200)
})
