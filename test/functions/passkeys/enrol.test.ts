import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import { CreationOptions, RequestOptions } from '../../../functions/factors/passkey-shapes.ts'
import beginEnrolment from '../../../functions/passkeys/enrol-options.post.ts'
import enrol from '../../../functions/passkeys/enrol.post.ts'
import beginSignIn from '../../../functions/passkeys/sign-in-options.post.ts'
import signInByPasskey from '../../../functions/passkeys/sign-in.post.ts'
import { CommandError } from '../../../runtime/command.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { createAuthenticator } from '../../authenticator.ts'
import { answered, audited, decoded, refused, rows } from '../answers.ts'
import { startDemo } from '../../runtime/demo.ts'
import { OPERATOR, typeCommand } from '../console.ts'
import { type App, ENV, PANEL } from '../factors/passkey-person.ts'
import { signIn, tokenOf } from '../factors/person.ts'

const ALL = [login, beginEnrolment, enrol, beginSignIn, signInByPasskey]
const PATH = '/api/auth/enrol'
const MINUTE = 60_000

/** A host on which nobody has a password. */
async function keyHost(env: Record<string, string> = {}) {
  const seen: { account(username: string): FakeAccount } = {
    account: () => ({ uid: 1000, groups: ['alice', 'sudo'], localPassword: false }),
  }
  const { demo, ssh } = await consoleHost()
  const app = await testApp(ALL, {
    env: { ...ENV, PANEL_PASSKEY_SIGN_IN: 'on', ...env },
    fake: { signIn: () => undefined, inspect: (username) => seen.account(username) },
    ssh,
  })
  return { app, seen, demo }
}

/** The host that the console asks. It knows alice and bob; eve may not work there. */
async function consoleHost() {
  const user = { password: 'never typed', groups: ['people'] }
  const demo = await startDemo({
    users: {
      alice: { ...user, uid: 1000 },
      bob: { ...user, uid: 1001 },
      eve: { ...user, uid: 1002, shell: 'nologin' },
    },
  })
  return { demo, ssh: { host: `127.0.0.1:${demo.port}`, ...demo.service } }
}

async function linkFor(app: App, username = 'alice') {
  const { text } = await typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'enrol', username])
  const [, code = ''] = /^https:\/\/panel\.example\/enrol#code=([\w-]{43})$/m.exec(text) ?? []
  expect(code).not.toBe('')
  return code
}

const Begun = z.object({ username: z.string(), options: CreationOptions })
const Asked = z.object({ challenge: z.string(), options: RequestOptions })

let addresses = 0
function post(app: App, path: string, body: object): Promise<Response> {
  addresses += 1
  return app.request('POST', path, { body, from: `198.18.1.${addresses % 250}` })
}

async function begin(app: App, code: string) {
  return Begun.parse(await answered(await post(app, `${PATH}/options`, { code }), 200))
}

/** Uses a link up, and returns the authenticator with the new passkey. */
async function useLink(app: App, code: string) {
  const authenticator = createAuthenticator({ origin: PANEL })
  const { options } = await begin(app, code)
  const response = await post(app, PATH, { code, name: 'Portable', response: authenticator.create(options) })
  return { authenticator, response }
}

async function signInBy(app: App, authenticator: ReturnType<typeof createAuthenticator>) {
  const { challenge, options } = Asked.parse(
    await answered(await post(app, '/api/auth/login/passkey/options', {}), 200),
  )
  return post(app, '/api/auth/login/passkey', { challenge, response: authenticator.get(options) })
}

test('a link of the console gives a person without a password a passkey, with which the person signs in', async () => {
  const { app } = await keyHost()
  const code = await linkFor(app)

  const begun = await begin(app, code)
  expect(begun).toMatchObject({ username: 'alice', options: { rp: { id: 'panel.example' }, user: { name: 'alice' } } })
  // Without a user name, only a passkey that the authenticator finds by itself signs in.
  expect(begun.options.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'required' })
  const { authenticator, response } = await useLink(app, code)

  expect(response.headers.get('set-cookie')).toBeNull()
  expect(await answered(response, 200)).toEqual({
    username: 'alice',
    factor: expect.objectContaining({ kind: 'passkey', name: 'Portable' }),
    recovery_codes: expect.objectContaining({ length: 10 }),
  })
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
  const token = await tokenOf(await signInBy(app, authenticator))
  expect(decoded(token).claims).toMatchObject({ username: 'alice', role: 'admin' })
  expect((await audited(app.db)).map(({ action, username, target }) => [action, username, target])).toEqual([
    ['enrolment_link_made', OPERATOR, 'alice'],
    ['enrolment_link_used', 'alice', 'alice'],
    ['factor_add', 'alice', 'alice'],
    ['recovery_codes_made', 'alice', null],
    ['rights_changed', 'alice', 'alice'],
    ['login_success', 'alice', null],
  ])
})

test('the rights of a person without a password are those that the host tells, at each sign-in', async () => {
  const { app, seen } = await keyHost()
  const { authenticator } = await useLink(app, await linkFor(app))
  seen.account = () => ({ uid: 1000, groups: ['alice'], localPassword: false })

  expect(decoded(await tokenOf(await signInBy(app, authenticator))).claims).toMatchObject({ role: 'operator' })
  seen.account = () => null
  await refused(await signInBy(app, authenticator), 403, 'account_unusable')
})

test('a link is used once, also by two requests at the same time, and expires after 30 minutes', async () => {
  const { app } = await keyHost()
  const code = await linkFor(app)
  const statuses = (await Promise.all([useLink(app, code), useLink(app, code)])).map(({ response }) => response.status)
  expect(statuses.sort()).toEqual([200, 410])
  await refused(await post(app, `${PATH}/options`, { code }), 410, 'challenge_over')

  const late = await linkFor(app)
  app.advance(30 * MINUTE)
  await refused(await post(app, `${PATH}/options`, { code: late }), 410, 'challenge_over')
  expect(await rows(app.db, 'SELECT count(*) AS n FROM factors')).toEqual([{ n: 1 }])
})

test.each([
  ['the code of no link', () => 'A'.repeat(43), 410, 'challenge_over'],
  ['what is longer than any code', () => 'A'.repeat(65), 400, 'invalid_request'],
  [
    'the challenge of a sign-in',
    async (app: App) => {
      const asked = await answered(await post(app, '/api/auth/login/passkey/options', {}), 200)
      return Asked.parse(asked).challenge
    },
    400,
    'invalid_request',
  ],
])('%s opens nothing', async (_, codeOf, status, refusal) => {
  const { app } = await keyHost()

  await refused(await post(app, `${PATH}/options`, { code: await codeOf(app) }), status, refusal)
})

test.each([
  ['does not know the account', () => null],
  ['has given the account no shell', () => ({ uid: 1000, groups: [], shell: '/bin/false' })],
  ['has let the account expire', () => ({ uid: 1000, groups: [], overdue: 'expired' as const })],
  ['calls the account otherwise', () => ({ name: 'alicia', uid: 1000, groups: [] })],
])('a link opens nothing when the host %s', async (_, account) => {
  const { app, seen } = await keyHost()
  const code = await linkFor(app)
  const { options } = await begin(app, code)
  seen.account = account

  await refused(await post(app, `${PATH}/options`, { code }), 409, 'host_account_missing')
  const response = createAuthenticator({ origin: PANEL }).create(options)
  await refused(await post(app, PATH, { code, name: 'Portable', response }), 409, 'host_account_missing')

  expect(await rows(app.db, 'SELECT * FROM factors')).toEqual([])
})

test('a link opens nothing while the host does not tell, and stays', async () => {
  const { app, seen } = await keyHost()
  const code = await linkFor(app)
  const { account } = seen
  seen.account = () => {
    throw new SshError('unreachable', 'nobody answers')
  }
  await refused(await post(app, `${PATH}/options`, { code }), 503, 'host_silent')

  seen.account = account
  await answered((await useLink(app, code)).response, 200)
})

test('a link that was made for a former account of this name ends with everything that this one has left', async () => {
  const { app, seen } = await keyHost()
  const former = await useLink(app, await linkFor(app))
  await tokenOf(await signInBy(app, former.authenticator))
  seen.account = () => ({ uid: 2000, groups: ['alice'], localPassword: false })

  await refused((await useLink(app, await linkFor(app))).response, 410, 'challenge_over')

  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM factors')).toEqual([])
  await refused(await signInBy(app, former.authenticator), 401, 'passkey_refused')
  const { authenticator } = await useLink(app, await linkFor(app))
  await tokenOf(await signInBy(app, authenticator))
})

test('a foreign passkey is refused, the fifth ends the link', async () => {
  const { app } = await keyHost()
  const code = await linkFor(app)
  const { options } = await begin(app, code)
  const wrong = () => createAuthenticator({ origin: 'https://evil.example' }).create(options)
  for (let n = 0; n < 5; n += 1)
    await refused(await post(app, PATH, { code, name: 'Portable', response: wrong() }), 422, 'passkey_invalid')

  await refused(await post(app, `${PATH}/options`, { code }), 410, 'challenge_over')
  expect((await audited(app.db)).filter(({ action }) => action === 'factor_refused')).toMatchObject(
    Array.from({ length: 5 }, () => ({ username: 'alice', ip: expect.any(String), details: { reason: 'origin' } })),
  )
})

test('the code of a link is neither in the database nor in the log', async () => {
  const { app } = await keyHost()
  const code = await linkFor(app)
  await answered((await useLink(app, code)).response, 200)
  const left = await linkFor(app)

  const tables = ['users', 'factors', 'factor_challenges', 'audit']
  const stored = await Promise.all(tables.map((table) => rows(app.db, `SELECT * FROM ${table}`)))
  for (const each of [code, left]) expect(JSON.stringify([stored, app.lines()])).not.toContain(each)
})

test('a link for somebody who signs in by password leaves the account as it is until it is used', async () => {
  const { ssh } = await consoleHost()
  const app = await testApp(ALL, { env: { ...ENV, PANEL_PASSKEY_SIGN_IN: 'on' }, ssh })
  await signIn(app, 'bob')
  const before = await rows(app.db, `SELECT * FROM users WHERE username = 'bob'`)

  await linkFor(app, 'bob')

  expect(await rows(app.db, `SELECT * FROM users WHERE username = 'bob'`)).toEqual(before)
})

test.each([
  ['an impossible name', {}, 'a/b', /ne peut pas être le nom/],
  ['passkeys that do not sign in', { PANEL_PASSKEY_SIGN_IN: 'off' }, 'alice', /PANEL_PASSKEY_SIGN_IN=on/],
  ['a proxy without a public address', { PANEL_PUBLIC_URL: '' }, 'alice', /PANEL_PUBLIC_URL/],
  ['a public address without TLS', { PANEL_PUBLIC_URL: 'http://panel.example' }, 'alice', /https:/],
  ['a public IP address', { PANEL_PUBLIC_URL: 'https://192.0.2.7' }, 'alice', /adresse IP/],
])('the console makes no link with %s', async (_, env, username, message) => {
  const { app } = await keyHost(env)

  const typed = typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'enrol', username])

  await expect(typed).rejects.toThrow(CommandError)
  await expect(typed).rejects.toThrow(message)
  expect(await rows(app.db, 'SELECT * FROM factor_challenges')).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
})

test.each([
  ['does not know', 'alcie', /ne connaît pas de compte « alcie »/],
  ['lets do nothing', 'eve', /« eve » ne peut pas travailler sur l’hôte/],
])('the console makes no link for an account that the host %s, and leaves nothing of it', async (_, name, message) => {
  const { app } = await keyHost()

  const typed = typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'enrol', name])

  await expect(typed).rejects.toThrow(CommandError)
  await expect(typed).rejects.toThrow(message)
  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM factor_challenges')).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test('the console makes no link while the host does not tell whether it knows the account', async () => {
  const { app, demo } = await keyHost()
  demo.accepting = false

  const typed = typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'enrol', 'alice'])

  await expect(typed).rejects.toThrow(/n’a pas dit s’il connaît/)
  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
})

test('the console makes no link for a barred account', async () => {
  const { app } = await keyHost()
  await linkFor(app)
  await app.db.run(`UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z' WHERE id > 0`)

  const typed = typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'enrol', 'alice'])

  await expect(typed).rejects.toThrow(/a exclu/)
})
