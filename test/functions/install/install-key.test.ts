import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { readSettings } from '../../../db/settings.ts'
import type { Account } from '../../../demo/account.ts'
import check from '../../../functions/install/check.post.ts'
import install from '../../../functions/install/install.post.ts'
import key from '../../../functions/install/key.post.ts'
import { createHost } from '../../../ssh/host.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, refused } from '../answers.ts'

const Made = z.strictObject({
  ssh_public_key: z.string().regex(/^ssh-ed25519 AAAA[\w+/=]+$/),
  authorized_key: z.string(),
  parts: z.array(z.strictObject({ text: z.string(), message: z.string().min(1), optional: z.boolean() })),
})
const Checked = z.object({ checks: z.array(z.object({ id: z.string(), ok: z.boolean(), message: z.string() })) })

/** A service without a host, and a host that takes keys only unless told otherwise. */
async function start(account: Partial<Account> = {}, method: 'password' | 'publickey' = 'publickey') {
  const svc: Account = { password: 'pw', uid: 1300, groups: ['svc'], sudo: 'nopasswd', authorizedKeys: '', ...account }
  const demo = await startDemo({ method, users: { svc } })
  const app = await testApp([key, check, install], { dataDir: await temporaryFolder(), ssh: { host: '' } })
  const setup_token = await app.services.setupToken.make()
  const body = { setup_token, ssh_host: `127.0.0.1:${demo.port}`, ssh_username: 'svc', auth: 'key' }
  const user = demo.users.get('svc')
  if (!user) throw new Error('the demo host has no such account')
  const post = (path: string, more: object = {}) => app.request('POST', path, { body: { ...body, ...more } })
  return {
    ...app,
    demo,
    user,
    setup_token,
    post,
    make: async () =>
      Made.parse(await answered(await app.request('POST', '/api/install/key', { body: { setup_token } }), 200)),
    checked: async (more: object = {}) => {
      const { checks } = Checked.parse(await answered(await post('/api/install/check', more), 200))
      return Object.fromEntries(checks.map(({ id, ok, message }) => [id, { ok, message }]))
    },
    install: (more: object = {}) => post('/api/install', { ssh_host_key: demo.hostKey, ...more }),
    stored: async () => Object.fromEntries(await readSettings(app.db)),
  }
}

test('the wizard installs an account by key: the line, the check, the installation; the private key never leaves', async () => {
  const { make, checked, install, user, stored, services, setup_token, lines, demo } = await start()
  const made = await make()
  expect(made.authorized_key).toBe(`restrict,pty ${made.ssh_public_key} ops-panel`)
  for (const { text, optional } of made.parts) expect(made.authorized_key.includes(text)).toBe(!optional)
  expect(await make()).toEqual(made)

  const before = await checked()
  expect(before.authenticated).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^L’hôte refuse la clé de svc\. Ajoutez la ligne de la clé dans ~svc\/\.ssh/),
  })
  user.authorizedKeys = `${made.authorized_key}\n`
  const after = await checked()
  expect(after).toMatchObject({ authenticated: { ok: true }, elevation: { ok: true }, apt: { ok: true } })
  expect(await services.setupToken.matches(setup_token)).toBe(true)

  await answered(await install(), 201)
  expect(await services.settings.sshAccount()).toMatchObject({ username: 'svc', password: '' })
  expect(await services.settings.sshKeys()).toMatchObject({
    current: { publicKey: made.ssh_public_key },
    next: undefined,
  })
  const host = createHost({ settings: services.settings, log: services.log })
  onTestFinished(() => host.close())
  expect((await host.exec(['id', '-u'])).stdout).toBe('1300\n')
  expect(`${JSON.stringify([await stored(), made])}${lines().join()}`).not.toMatch(/OPENSSH|PRIVATE KEY/)
  expect(demo.signIns).toEqual([])
})

test('where sudo wants a password, the check says so, with the rule to add', async () => {
  const { make, checked, user } = await start({ sudo: 'password' })
  user.authorizedKeys = (await make()).authorized_key

  const { elevation } = await checked()

  expect(elevation).toMatchObject({
    ok: false,
    message: expect.stringContaining('sudo demande le mot de passe de svc'),
  })
  expect(elevation?.message).toContain('svc ALL=(root) NOPASSWD: /usr/sbin/ops-panel-host')
})

test('a password beside the key serves sudo', async () => {
  const { make, checked, install, user, services } = await start({ sudo: 'password' })
  user.authorizedKeys = (await make()).authorized_key

  expect(await checked({ ssh_password: 'pw' })).toMatchObject({ elevation: { ok: true } })
  await answered(await install({ ssh_password: 'pw' }), 201)

  expect(await services.settings.sshAccount()).toMatchObject({
    password: 'pw',
    key: expect.stringContaining('OPENSSH'),
  })
})

test('an installation by password does not use the key that the wizard has made', async () => {
  const { make, install, services } = await start({}, 'password')
  await make()

  await answered(await install({ auth: 'password', ssh_password: 'pw' }), 201)

  expect(await services.settings.sshAccount()).toEqual(expect.not.objectContaining({ key: expect.anything() }))
  expect(await services.settings.sshKeys()).toEqual({ current: undefined, next: undefined })
})

test('a host that takes keys only is told to an installer with a password', async () => {
  const { checked } = await start()

  const { authenticated } = await checked({ auth: 'password', ssh_password: 'pw' })

  expect(authenticated).toMatchObject({ ok: false, message: expect.stringContaining('par une clé') })
})

test('a key that the host refuses is not installed, and the wizard goes on', async () => {
  const { make, install, stored, setup_token, services } = await start()
  await make()

  await refused(await install(), 502, 'host_check_failed')

  expect(Object.keys(await stored())).toEqual(['ssh_key_next'])
  expect(await services.setupToken.matches(setup_token)).toBe(true)
})

test('without a key of the wizard, a check and an installation by key are refused before the host is asked', async () => {
  const { post, install, demo, stored } = await start()

  await refused(await post('/api/install/check'), 409, 'ssh_key_missing')
  await refused(await install(), 409, 'ssh_key_missing')

  expect(demo.connections).toBe(0)
  expect(await stored()).toEqual({})
})

test('a wrong setup token makes no key, and an installed service none either', async () => {
  const { request, stored, setup_token, make, install, user } = await start()

  await refused(await request('POST', '/api/install/key', { body: { setup_token: 'wrong' } }), 403, 'setup_token_wrong')
  expect(await stored()).toEqual({})

  user.authorizedKeys = (await make()).authorized_key
  await answered(await install(), 201)
  await refused(await request('POST', '/api/install/key', { body: { setup_token } }), 409, 'already_installed')
})

test.each([{}, { ssh_password: '' }])('a password is needed unless the key is asked for: %j', async (more) => {
  const { post, stored } = await start()

  const { details } = await refused(
    await post('/api/install/check', { auth: 'password', ...more }),
    400,
    'invalid_request',
  )

  expect(details?.map(({ field }) => field)).toEqual(['ssh_password'])
  expect(await stored()).toEqual({})
})
