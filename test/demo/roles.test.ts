import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPanel } from '../../client/index.ts'
import { startScript } from '../serve/program.ts'

const DEMO = join(import.meta.dirname, '../../demo/demo.ts')

/** Starts `npm run demo` with the settings of its caller, and returns the address that it prints. */
async function startedDemo(env: Record<string, string>): Promise<string> {
  const demo = startScript(DEMO, [], env)
  await demo.said('Ctrl-C')
  const [, url = ''] = /Adresse +(http:\S+)/.exec(demo.stdout()) ?? []
  return url
}

/** Signs in as an account of the demo, and returns its rights, or the code of the refusal. */
async function signedIn(url: string, name: string) {
  const panel = createPanel({ url, WebSocket: false })
  try {
    await panel.signIn(name, name)
    const { role, operates, must_enrol } = await panel.api('GET /api/auth/me')
    return { role, operates, must_enrol }
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}

test('the demo shows each role by the groups of its caller', { timeout: 60_000 }, async () => {
  const url = await startedDemo({
    PANEL_VIEWER_GROUPS: 'viewers',
    PANEL_OPERATOR_GROUPS: 'operators;web:lxc/101,lxc/102',
  })

  // With the sign-in of the demo's own preparation, these are the five that an address has in a minute.
  expect(await signedIn(url, 'operator')).toEqual({ role: 'operator' })
  expect(await signedIn(url, 'web')).toMatchObject({ role: 'operator', operates: ['lxc:101', 'lxc:102'] })
  expect(await signedIn(url, 'viewer')).toMatchObject({ role: 'viewer' })
  expect(await signedIn(url, 'guest')).toBe('not_invited')
})

test('the demo asks for second factors, and admits the groups of its caller alone', { timeout: 60_000 }, async () => {
  const url = await startedDemo({ PANEL_REQUIRE_FACTOR: 'all', PANEL_SIGN_IN_GROUPS: 'sudo' })

  expect(await signedIn(url, 'demo')).toMatchObject({ role: 'admin', must_enrol: true })
  expect(await signedIn(url, 'guest')).toBe('not_invited')
})

test('the demo never takes the database or the host of its caller', { timeout: 60_000 }, async () => {
  const url = await startedDemo({
    PANEL_DATABASE_URL: 'file:/nonexistent/panel.db',
    PANEL_SSH_HOST: '192.0.2.1',
    PANEL_JWT_KEY: 'none',
  })

  expect(await signedIn(url, 'demo')).toMatchObject({ role: 'admin' })
})
