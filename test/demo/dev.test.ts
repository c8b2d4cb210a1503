import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { freePort } from '../free-port.ts'
import { startScript } from '../serve/program.ts'

const ROOT = join(import.meta.dirname, '../..')
const Health = z.object({ boot_id: z.string() })
const Login = z.object({ access_token: z.string() })

test('`npm run dev` restarts the service when a source changes, sessions survive, and passkeys can be added', {
  timeout: 60_000,
}, async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const boot = async () => Health.parse(await (await fetch(`${url}/api/health`)).json()).boot_id
  const dev = startScript(join(ROOT, 'demo/dev.ts'), [], { PANEL_PORT: String(port) })
  await dev.said('Ctrl-C')
  const before = await boot()
  const body = JSON.stringify({ username: 'demo', password: 'demo' })
  const login = await fetch(`${url}/api/auth/login`, { method: 'POST', body })
  const { access_token: token } = Login.parse(await login.json())

  const now = new Date()
  await utimes(join(ROOT, 'platform/clock.ts'), now, now)

  await expect.poll(() => boot().catch(() => before), { timeout: 30_000 }).not.toBe(before)
  const me = await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(me.status).toBe(200)

  const [, shown = ''] = /(http:\S+), en tant que demo/.exec(dev.stdout()) ?? []
  const asked = await fetch(`${shown || url}/api/auth/factors/passkeys/options`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  })
  const passkey = { status: asked.status, body: await asked.json() }
  dev.kill('SIGTERM')
  await dev.ended
  await expect(boot()).rejects.toThrow()
  // Browsers know no passkey for an IP address, and the address that it prints is the one that people open.
  expect(shown).toBe(`http://localhost:${port}`)
  expect(passkey).toMatchObject({ status: 200, body: { options: { rp: { id: 'localhost' } } } })
})
