import { expect, test } from 'vitest'
import * as z from 'zod'
import { readSettings } from '../../../db/settings.ts'
import type { DemoHost } from '../../../demo/host.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, audited, refused } from '../answers.ts'
import { startRecordingHost } from './recording-host.ts'
import { ACCOUNTS, installed, notInstalled } from './wizard.ts'

const PATH = '/api/install/check'
const STEPS = ['reachable', 'authenticated', 'elevation', 'apt', 'container_tool']

const Answer = z.strictObject({
  ssh_host_key: z.string(),
  checks: z.array(z.strictObject({ id: z.string(), ok: z.boolean(), message: z.string().min(1) })),
})

/** Checks the service account of a demo host, or another account, and that nothing stays open. */
async function checked(demo: Pick<DemoHost, 'port' | 'service'>, account = demo.service) {
  const app = await notInstalled()
  const { setup_token } = app
  const { username: ssh_username, password: ssh_password } = account
  const body = { setup_token, ssh_host: `127.0.0.1:${demo.port}`, ssh_username, ssh_password }

  const { ssh_host_key, checks } = Answer.parse(await answered(await app.request('POST', PATH, { body }), 200))

  expect(checks.map(({ id }) => id)).toEqual(STEPS)
  expect(await readSettings(app.db)).toEqual(new Map())
  expect(await audited(app.db)).toEqual([])
  expect(app.lines().join()).not.toContain(ssh_password)
  expect(await app.services.setupToken.matches(setup_token)).toBe(true)
  return {
    ssh_host_key,
    failed: checks.filter(({ ok }) => !ok).map(({ id }) => id),
    message: (id: string) => checks.find((check) => check.id === id)?.message,
  }
}

const account = (username: string) => ({ username, password: `pw-of-${username}` })
/** The key without its type, as ssh-keygen shows it. */
const fingerprintOf = ({ hostKey }: DemoHost) => hostKey.split(' ')[1]

test('when everything works, each step reports its finding, and the key can be compared', async () => {
  const demo = await startDemo()

  const { ssh_host_key, failed, message } = await checked(demo)

  expect(failed).toEqual([])
  expect(ssh_host_key).toBe(fingerprintOf(demo))
  expect(ssh_host_key).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
  expect(message('reachable')).toContain(`127.0.0.1:${demo.port}`)
  expect(message('elevation')).toBe('panel est root.')
  expect(message('container_tool')).toBe('pct répond : 3 conteneurs.')
  await expect.poll(() => demo.connections).toBe(0)
})

test.each([
  ['asks', 'avec son mot de passe'],
  ['free', 'sans mot de passe'],
  ['rule', 'apt-get par sudo, ce qui donne tous les droits de root'],
])('the account %s gains its rights by sudo, %s', async (username, words) => {
  const demo = await startDemo({ users: ACCOUNTS })

  const { failed, message } = await checked(demo, account(username))

  expect(failed).toEqual([])
  expect(message('elevation')).toContain(words)
  expect(JSON.stringify(demo.commands)).not.toContain(`pw-of-${username}`)
})

test('an account without rights gets the missing rule; other steps succeed', async () => {
  const demo = await startDemo({ users: ACCOUNTS })

  const { failed, message } = await checked(demo, account('none'))

  expect(failed).toEqual(['elevation', 'container_tool'])
  expect(message('elevation')).toContain('none ALL=(root) NOPASSWD: /usr/sbin/ops-panel-host')
})

test('an account whose shell runs no commands fails every later step', async () => {
  const users = { nologin: { password: 'pw-of-nologin', uid: 1300, groups: ['nologin'], shell: 'nologin' as const } }
  const demo = await startDemo({ users })

  const { failed } = await checked(demo, account('nologin'))

  expect(failed).toEqual(expect.arrayContaining(['elevation', 'apt', 'container_tool']))
})

test('an expired account is refused, and the key is reported anyway', async () => {
  const users = { late: { password: 'pw-of-late', uid: 1301, groups: ['late'], expired: true } }
  const demo = await startDemo({ users })

  const { failed, ssh_host_key } = await checked(demo, account('late'))

  expect(failed).toEqual(STEPS.slice(1))
  expect(ssh_host_key).toBe(fingerprintOf(demo))
})

test('with a silent host, later steps are not tried, and there is no key', async () => {
  const demo = await startDemo()
  await demo.close()

  const { ssh_host_key, failed, message } = await checked(demo)

  expect(failed).toEqual(STEPS)
  expect(ssh_host_key).toBe('')
  expect(message('reachable')).toContain(`Aucun serveur SSH ne répond à 127.0.0.1:${demo.port}`)
  expect(message('authenticated')).toBe('Pas encore vérifié : la connexion.')
})

test('a host that hangs up at once counts as unreachable', async () => {
  const demo = await startDemo()
  demo.accepting = false

  const { ssh_host_key, failed } = await checked(demo)

  expect(failed).toEqual(STEPS)
  expect(ssh_host_key).toBe('')
})

test('with a wrong password, the host is reachable, its key is reported, and no command runs', async () => {
  const demo = await startDemo()

  const { ssh_host_key, failed, message } = await checked(demo, { username: 'demo', password: 'not-this-one' })

  expect(failed).toEqual(STEPS.slice(1))
  expect(ssh_host_key).toBe(fingerprintOf(demo))
  expect(message('authenticated')).toContain('L’hôte refuse demo')
  expect(demo.commands).toEqual([])
})

test('without the container tool only that step fails, with the host’s message', async () => {
  const demo = await startDemo()
  demo.override = ([name], { stderr }) =>
    name === '/usr/sbin/pct' ? stderr('sh: 1: /usr/sbin/pct: not found\n').then(() => 127) : undefined

  const { failed, message } = await checked(demo)

  expect(failed).toEqual(['container_tool'])
  expect(message('container_tool')).toContain('/usr/sbin/pct: not found')
})

test('without apt only that step fails, with the host’s message', async () => {
  const demo = await startDemo()
  demo.override = (words, { stderr }) =>
    words.includes('apt') ? stderr('env: ‘apt’: No such file or directory\n').then(() => 127) : undefined

  const { failed, message } = await checked(demo)

  expect(failed).toEqual(['apt'])
  expect(message('apt')).toContain('No such file or directory')
})

test('the check runs nothing that changes the host', async () => {
  const demo = await startDemo()
  const before = demo.upgradable('host')

  await checked(demo)

  expect(demo.upgradable('host')).toEqual(before)
  expect(demo.commands.flat().filter((word) => /^(update|full-upgrade|dist-upgrade|install|exec)$/.test(word))).toEqual(
    [],
  )
})

test.each([
  ['a wrong one', 'x'.repeat(24)],
  ['an empty one', ''],
  ['a longer one', 'x'.repeat(200)],
  ['bytes beyond ASCII', 'é'.repeat(24)],
])('the token %s is 403, and the host is not touched', async (_, setup_token) => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  const body = { setup_token, ssh_host: host.address, ssh_username: 'panel', ssh_password: 'service' }

  await refused(await app.request('POST', PATH, { body }), 403, 'setup_token_wrong')

  expect(host.connections()).toBe(0)
})

test('without a token file every request is refused', async () => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  await app.services.setupToken.remove()
  const ask = (setup_token: string) =>
    app.request('POST', PATH, {
      body: { setup_token, ssh_host: host.address, ssh_username: 'panel', ssh_password: 'service' },
    })

  await refused(await ask(''), 403, 'setup_token_wrong')
  await refused(await ask(app.setup_token), 403, 'setup_token_wrong')

  expect(host.connections()).toBe(0)
})

test.each([
  ['setup_token', 'x'.repeat(201)],
  ['ssh_host', ''],
  ['ssh_host', 'pve:0'],
  ['ssh_host', 'pve\0'],
  ['ssh_username', ''],
  ['ssh_username', undefined],
  ['ssh_password', ''],
  ['ssh_password', 'a\0b'],
  ['ssh_password', 1],
])('with %s of %j the answer is 400, and the host is not touched', async (field, value) => {
  const app = await notInstalled()
  const host = await startRecordingHost()
  const right = { setup_token: app.setup_token, ssh_host: host.address, ssh_username: 'a', ssh_password: 'b' }

  const answer = await app.request('POST', PATH, { body: { ...right, [field]: value } })

  const { details } = await refused(answer, 400, 'invalid_request')
  expect(new Set(details?.map((detail) => detail.field))).toEqual(new Set([field]))
  expect(host.connections()).toBe(0)
})

test.each([
  ['an unreadable body', '{'],
  ['no body', ''],
  ['a body that is too long', 'x'.repeat(1024 * 1024 + 1)],
  ['no object', '[]'],
  ['a wrong token', { setup_token: 'x', ssh_host: 'pve', ssh_username: 'a', ssh_password: 'b' }],
])('after the installation the answer is 409 before anything else, also with %s', async (_, body) => {
  const app = await installed()

  await refused(await app.request('POST', PATH, { body }), 409, 'already_installed')
})

test('after the installation the token is worthless, and the host is not touched', async () => {
  const app = await installed()
  const host = await startRecordingHost()
  const { setup_token } = app
  const body = { setup_token, ssh_host: host.address, ssh_username: 'panel', ssh_password: 'service' }

  await refused(await app.request('POST', PATH, { body }), 409, 'already_installed')

  expect(host.connections()).toBe(0)
})

test('the 31st guess within a minute gives 429', async () => {
  const app = await notInstalled()
  const body = { setup_token: 'guess', ssh_host: '127.0.0.1:1', ssh_username: 'panel', ssh_password: 'service' }
  const ask = (from: string) => app.request('POST', PATH, { body, from })
  for (let n = 0; n < 30; n += 1) await refused(await ask('192.0.2.1'), 403, 'setup_token_wrong')

  await refused(await ask('192.0.2.1'), 429, 'rate_limited')

  await refused(await ask('192.0.2.2'), 403, 'setup_token_wrong')
})
