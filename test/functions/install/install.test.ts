import { readdir } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../db/settings.ts'
import type { DemoHost } from '../../../demo/host.ts'
import { createHost } from '../../../ssh/host.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, audited, refused } from '../answers.ts'
import { startRecordingHost } from './recording-host.ts'
import { ACCOUNTS, installed, notInstalled } from './wizard.ts'

const PATH = '/api/install'
const KEY = `SHA256:${'A'.repeat(43)}`
const TOKEN = 'panel@pve!ops=01234567-89ab-cdef-0123-456789abcdef'

type App = Awaited<ReturnType<typeof notInstalled>>

/** The final request of the wizard, for a demo host whose key the person has compared. */
const bodyFor = ({ setup_token }: App, { port, hostKey, service }: DemoHost) => ({
  setup_token,
  ssh_host: `127.0.0.1:${port}`,
  ssh_username: service.username,
  ssh_password: service.password,
  ssh_host_key: hostKey.split(' ')[1],
})
const install = (app: App, body: unknown) => app.request('POST', PATH, { body })
const stored = async ({ db }: App) => Object.fromEntries(await readSettings(db))

/** Checks that nothing was stored or logged, and that the token is still valid. */
async function untouched(app: App) {
  expect(await stored(app)).toEqual({})
  expect(await audited(app.db)).toEqual([])
  expect(await app.services.setupToken.matches(app.setup_token)).toBe(true)
}

test('the installation stores the host with the type of its key and the sealed password, and spends the token', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  const body = bodyFor(app, demo)

  const response = await app.request('POST', PATH, { body, from: '192.0.2.9' })

  expect(await answered(response, 201)).toEqual({
    message: 'Installation terminée : connectez-vous avec un compte de l’hôte.',
  })
  const { ssh_password = '', ...others } = await stored(app)
  expect(others).toEqual({ ssh_host: body.ssh_host, ssh_username: 'panel', ssh_host_key: demo.hostKey })
  expect(demo.hostKey).toMatch(/^ssh-ed25519 SHA256:/)
  expect(app.secrets.open('ssh_password', ssh_password)).toBe(demo.service.password)
  expect(await readdir(app.dataDir)).toEqual([])
  expect(await answered(await app.request('GET', '/api/install/status'), 200)).toEqual({ installed: true })
  expect(await audited(app.db)).toMatchObject([
    { action: 'installed', user_id: null, username: null, target: body.ssh_host, ip: '192.0.2.9', details: null },
  ])
  expect(app.lines().join()).not.toContain(demo.service.password)
  expect(app.lines().join()).not.toContain(app.setup_token)
  await expect.poll(() => demo.connections).toBe(0)
})

test('afterwards the accounts of the host can sign in, and no other host is trusted', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  await answered(await install(app, bodyFor(app, demo)), 201)
  const host = createHost({ settings: app.services.settings, log: app.services.log })
  onTestFinished(() => host.close())

  expect(await host.signIn('demo', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
  host.renew()
  const { port } = demo
  await demo.close()
  const other = await startDemo({ port })

  await expect(host.signIn('demo', 'demo')).rejects.toMatchObject({ reason: 'host_key_changed' })
  expect(other.commands).toEqual([])
})

test('the key may include its type', async () => {
  const app = await notInstalled()
  const demo = await startDemo()

  await answered(await install(app, { ...bodyFor(app, demo), ssh_host_key: demo.hostKey }), 201)

  expect(await stored(app)).toMatchObject({ ssh_host_key: demo.hostKey })
})

test('the values of the hypervisor are stored with the others, the token sealed', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  const hypervisor_url = 'https://pve.example:8006'

  await answered(await install(app, { ...bodyFor(app, demo), hypervisor_url, hypervisor_token: TOKEN }), 201)

  const { hypervisor_token = '', ...others } = await stored(app)
  expect(others).toMatchObject({ hypervisor_url })
  expect(hypervisor_token).not.toContain('pve')
  expect(app.secrets.open('hypervisor_token', hypervisor_token)).toBe(TOKEN)
})

test('empty values of the hypervisor count as absent', async () => {
  const app = await notInstalled()
  const demo = await startDemo()

  await answered(await install(app, { ...bodyFor(app, demo), hypervisor_url: '', hypervisor_token: '' }), 201)

  expect(Object.keys(await stored(app)).sort()).toEqual(['ssh_host', 'ssh_host_key', 'ssh_password', 'ssh_username'])
})

test('an account without rights can be installed: accounts can already sign in', async () => {
  const app = await notInstalled()
  const demo = await startDemo({ users: ACCOUNTS })
  const body = { ...bodyFor(app, demo), ssh_username: 'none', ssh_password: 'pw-of-none' }

  await answered(await install(app, body), 201)

  expect(await stored(app)).toMatchObject({ ssh_username: 'none' })
})

test('a key other than the confirmed one gives 502: that host gets no password, and nothing is stored', async () => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  const { setup_token } = app
  const body = { setup_token, ssh_host: host.address, ssh_username: 'a', ssh_password: 'pw', ssh_host_key: KEY }

  const { error } = await refused(await install(app, body), 502, 'host_check_failed')

  expect(error).toContain('L’hôte ne peut pas être utilisé')
  expect(error).toContain('ssh-keygen -lf')
  expect(host.connections()).toBe(1)
  expect(host.shown).toEqual([])
  await untouched(app)
})

test('a fingerprint of another type of key does not match', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  const [, digest] = demo.hostKey.split(' ')

  const body = { ...bodyFor(app, demo), ssh_host_key: `ssh-rsa ${digest}` }
  await refused(await install(app, body), 502, 'host_check_failed')

  expect(demo.commands).toEqual([])
  await untouched(app)
})

test('a wrong password gives 502, and nothing is stored; the right one works at once', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  const body = bodyFor(app, demo)

  const answer = await install(app, { ...body, ssh_password: 'not-this-one' })

  const { error } = await refused(answer, 502, 'host_check_failed')
  expect(error).toContain('L’hôte refuse panel')
  expect(error).not.toContain('not-this-one')
  expect(demo.commands).toEqual([])
  await untouched(app)
  await answered(await install(app, body), 201)
})

test('a silent host gives 502, and nothing is stored', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  await demo.close()

  await refused(await install(app, bodyFor(app, demo)), 502, 'host_check_failed')

  await untouched(app)
})

test.each([['x'.repeat(24)], [''], ['é']])('the token %j is 403, and the host is not touched', async (setup_token) => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  const body = { setup_token, ssh_host: host.address, ssh_username: 'a', ssh_password: 'b', ssh_host_key: KEY }

  await refused(await install(app, body), 403, 'setup_token_wrong')

  expect(host.connections()).toBe(0)
  await untouched(app)
})

test.each([
  ['ssh_host', 'a b'],
  ['ssh_username', ''],
  ['ssh_password', ''],
  ['ssh_host_key', undefined],
  ['ssh_host_key', ''],
  ['ssh_host_key', 'SHA256:short'],
  ['hypervisor_url', 'pve.example'],
  ['hypervisor_url', 'https://user:secret@pve.example'],
  ['hypervisor_token', 'secret'],
])('with %s of %j the answer is 400, and the host is not touched', async (field, value) => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  const right = { ssh_host: host.address, ssh_username: 'a', ssh_password: 'b', ssh_host_key: KEY }

  const answer = await install(app, { setup_token: app.setup_token, ...right, [field]: value })

  const { details } = await refused(answer, 400, 'invalid_request')
  expect(new Set(details?.map((detail) => detail.field))).toEqual(new Set([field]))
  expect(host.connections()).toBe(0)
  await untouched(app)
})

test.each([
  ['an unreadable body', '{'],
  ['no body', ''],
  ['a body that is too long', 'x'.repeat(1024 * 1024 + 1)],
  ['nothing in it', {}],
  ['a wrong token', { setup_token: 'x', ssh_host: 'pve', ssh_username: 'a', ssh_password: 'b', ssh_host_key: KEY }],
])('after the installation the answer is 409 before anything else, also with %s', async (_, body) => {
  const app = await installed()
  const before = await readSettings(app.db)

  await refused(await app.request('POST', PATH, { body }), 409, 'already_installed')

  expect(await readSettings(app.db)).toEqual(before)
  expect(await audited(app.db)).toEqual([])
})

test('a second installation gives 409 and changes nothing', async () => {
  const app = await notInstalled()
  const [one, two] = [await startDemo(), await startDemo()]
  await answered(await install(app, bodyFor(app, one)), 201)
  const before = await stored(app)

  await refused(await install(app, bodyFor(app, two)), 409, 'already_installed')

  expect(await stored(app)).toEqual(before)
  expect(await audited(app.db)).toHaveLength(1)
  expect(two.commands).toEqual([])
})

test('of two simultaneous calls exactly one installs, and all settings are its own', async () => {
  const app = await notInstalled()
  const demos = [await startDemo(), await startDemo()]

  const answers = await Promise.all(demos.map((demo) => install(app, bodyFor(app, demo))))

  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  const winner = demos[answers.findIndex(({ status }) => status === 201)]
  const { ssh_password = '', ...others } = await stored(app)
  expect(others).toMatchObject({ ssh_host: `127.0.0.1:${winner?.port}`, ssh_host_key: winner?.hostKey })
  expect(app.secrets.open('ssh_password', ssh_password)).toBe(winner?.service.password)
  expect(await audited(app.db)).toHaveLength(1)
})

test('a storage failure at one value stores none, and the token stays valid', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  await app.db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = 'ssh_password'
                       BEGIN SELECT raise(ABORT, 'refused'); END`)

  await refused(await install(app, bodyFor(app, demo)), 500, 'storage_failed')

  await untouched(app)
})

test('an installation that cannot be put in the audit log fails, and the token stays valid', async () => {
  const app = await notInstalled()
  const demo = await startDemo()
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)

  await refused(await install(app, bodyFor(app, demo)), 500, 'storage_failed')

  await untouched(app)
})
