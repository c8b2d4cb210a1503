import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { ErrorCode } from '../../functions/services.ts'
import { refused, rows, sealWithAnotherKey } from '../functions/answers.ts'
import { later, newAddress, startPanel } from './client.ts'

const panel = await startPanel()
const user = await panel.login('guest')
const admin = await panel.login('demo')
const { token } = user

const LOGIN = '/api/auth/login'
const REFRESH = '/api/auth/refresh'
const ME = '/api/auth/me'
const PREFERENCES = '/api/auth/preferences'
const SESSIONS = '/api/auth/sessions'
const TARGETS = '/api/updates/targets'
const PACKAGES = '/api/updates/packages'
const RUN = '/api/updates/run'
const HISTORY = '/api/updates/history'

const run = (body: unknown) => panel.send('POST', RUN, { token, body })
const packages = (query: string) => panel.send('GET', `${PACKAGES}${query}`, { token })
const preferences = (body: unknown) => panel.send('PATCH', PREFERENCES, { token, body })
const refresh = (cookie?: string) => panel.send('POST', REFRESH, cookie === undefined ? {} : { cookie })
const rawLogin = (body: unknown) => panel.send('POST', LOGIN, { body, from: newAddress() })

const French = z.string().regex(/^[A-ZÀ-Ý]/)

interface Row {
  condition: string
  endpoint: string
  code: ErrorCode
  send(): Promise<Response>
}

/** One test for each row, with its title. */
function check(status: number, list: readonly Row[]): void {
  test.each(list)(`errors, ${status}, $condition: $endpoint`, async ({ code, send }) => {
    const { error } = await refused(await send(), status, code)
    French.parse(error)
  })
}

/** Returns a refresh token of a revoked session. */
async function revokedCookie(): Promise<string> {
  const { sid, token: own, cookie } = await panel.login(panel.freshName())
  await panel.send('DELETE', `${SESSIONS}/${sid}`, { token: own })
  return cookie
}

check(400, [
  { condition: 'unreadable body', endpoint: 'login', code: 'invalid_json', send: () => rawLogin('{') },
  { condition: 'unreadable body', endpoint: 'preferences', code: 'invalid_json', send: () => preferences('{') },
  { condition: 'unreadable body', endpoint: 'update run', code: 'invalid_json', send: () => run('{') },
  { condition: 'no body', endpoint: 'update run', code: 'invalid_json', send: () => run(undefined) },
  {
    condition: 'empty username',
    endpoint: 'login',
    code: 'credentials_missing',
    send: () => rawLogin({ username: '', password: 'x' }),
  },
  {
    condition: 'empty password',
    endpoint: 'login',
    code: 'credentials_missing',
    send: () => rawLogin({ username: 'guest', password: '' }),
  },
  ...['lang', 'theme', 'sidebar_position'].map(
    (field): Row => ({
      condition: `invalid ${field}`,
      endpoint: 'preferences',
      code: 'preference_invalid',
      send: () => preferences({ [field]: 'x' }),
    }),
  ),
  { condition: 'target missing', endpoint: 'packages', code: 'target_missing', send: () => packages('') },
  { condition: 'target empty', endpoint: 'packages', code: 'target_missing', send: () => packages('?target=') },
  { condition: 'target missing', endpoint: 'update run', code: 'target_missing', send: () => run({}) },
  { condition: 'target empty', endpoint: 'update run', code: 'target_missing', send: () => run({ target: '' }) },
  ...['all', 'lxc', 'lxc:', 'HOST', 'vm:100'].map(
    (target): Row => ({
      condition: `target not host or lxc:<id> (${target})`,
      endpoint: 'packages',
      code: 'target_invalid',
      send: () => packages(`?target=${target}`),
    }),
  ),
])

check(401, [
  {
    condition: 'bad credentials',
    endpoint: 'login',
    code: 'bad_credentials',
    send: () => panel.attempt('guest', 'wrong'),
  },
  { condition: 'refresh cookie missing', endpoint: 'refresh', code: 'refresh_missing', send: () => refresh() },
  { condition: 'token invalid', endpoint: 'refresh', code: 'refresh_invalid', send: () => refresh('a.b.c') },
  {
    condition: 'token expired',
    endpoint: 'refresh',
    code: 'refresh_invalid',
    send: async () => refresh((await (await panel.signer(8 * 86_400)).refreshToken(user.id)).token),
  },
  {
    condition: 'token revoked',
    endpoint: 'refresh',
    code: 'session_ended',
    send: async () => refresh(await revokedCookie()),
  },
  {
    condition: 'user gone',
    endpoint: 'refresh',
    code: 'user_missing',
    async send() {
      const { username, cookie } = await panel.login(panel.freshName())
      await panel.forgetUser(username)
      return refresh(cookie)
    },
  },
  { condition: 'no claims', endpoint: 'me', code: 'unauthenticated', send: () => panel.send('GET', ME) },
  { condition: 'no claims', endpoint: 'sessions', code: 'unauthenticated', send: () => panel.send('GET', SESSIONS) },
  {
    condition: 'no claims',
    endpoint: 'revoke',
    code: 'unauthenticated',
    send: () => panel.send('DELETE', `${SESSIONS}/${user.sid}`),
  },
  ...[
    { endpoint: 'preferences', send: () => panel.send('PATCH', PREFERENCES, { body: {} }) },
    { endpoint: 'targets', send: () => panel.send('GET', TARGETS) },
    { endpoint: 'packages', send: () => panel.send('GET', `${PACKAGES}?target=host`) },
    { endpoint: 'update run', send: () => panel.send('POST', RUN, { body: { target: 'host' } }) },
    { endpoint: 'history', send: () => panel.send('GET', HISTORY) },
    { endpoint: 'audit', send: () => panel.send('GET', '/api/audit') },
  ].map((row): Row => ({ ...row, condition: 'no claims (contract)', code: 'unauthenticated' })),
])

check(404, [
  {
    condition: 'stored profile missing',
    endpoint: 'me',
    code: 'profile_missing',
    async send() {
      const { username, token: own } = await panel.login(panel.freshName())
      await panel.db.run('DELETE FROM users WHERE username = ?', [username])
      return panel.send('GET', ME, { token: own })
    },
  },
  {
    condition: 'session not found for this user (of no user)',
    endpoint: 'revoke',
    code: 'session_missing',
    send: () => panel.send('DELETE', `${SESSIONS}/987654`, { token }),
  },
  {
    condition: 'session not found for this user (another’s)',
    endpoint: 'revoke',
    code: 'session_missing',
    send: () => panel.send('DELETE', `${SESSIONS}/${admin.sid}`, { token }),
  },
])

check(429, [
  {
    condition: 'more than 5 login attempts per minute per address',
    endpoint: 'login',
    code: 'login_rate_limited',
    async send() {
      const from = newAddress()
      for (let n = 0; n < 5; n++) await panel.send('POST', LOGIN, { body: '{', from })
      const response = await panel.attempt('guest', 'guest', { from })
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      return response
    },
  },
])

check(500, [
  {
    condition: 'user record fails',
    endpoint: 'login',
    code: 'storage_failed',
    send: () => panel.without('users', () => panel.attempt('guest', 'guest')),
  },
  {
    condition: 'token generation fails',
    endpoint: 'login',
    code: 'storage_failed',
    send: () => panel.without('signing_keys', () => later(61_000, () => panel.attempt('guest', 'guest'))),
  },
  {
    condition: 'session cannot be stored',
    endpoint: 'login',
    code: 'storage_failed',
    send: () => panel.without('sessions', () => panel.attempt('guest', 'guest')),
  },
  {
    condition: 'settings cannot be read',
    endpoint: 'login',
    code: 'storage_failed',
    send: () => panel.without('settings', () => panel.attempt('guest', 'guest')),
  },
  {
    condition: 'attempts cannot be counted',
    endpoint: 'login',
    code: 'storage_failed',
    send: () => panel.without('rate_hits', () => panel.attempt('guest', 'guest')),
  },
  {
    condition: 'storage reading fails (sessions)',
    endpoint: 'refresh',
    code: 'storage_failed',
    send: () => panel.without('sessions', () => refresh(user.cookie)),
  },
  {
    condition: 'storage reading fails (users)',
    endpoint: 'refresh',
    code: 'storage_failed',
    send: () => panel.without('users', () => refresh(user.cookie)),
  },
  {
    condition: 'token generation fails',
    endpoint: 'refresh',
    code: 'storage_failed',
    send: () => panel.without('signing_keys', () => later(61_000, () => refresh(user.cookie))),
  },
  {
    condition: 'storage reading fails',
    endpoint: 'sessions',
    code: 'storage_failed',
    send: () => panel.without('sessions', () => panel.send('GET', SESSIONS, { token })),
  },
  {
    condition: 'storage fails',
    endpoint: 'revoke',
    code: 'storage_failed',
    send: () => panel.without('sessions', () => panel.send('DELETE', `${SESSIONS}/${user.sid}`, { token })),
  },
  {
    condition: 'storage reading fails',
    endpoint: 'history',
    code: 'storage_failed',
    send: () => panel.without('jobs', () => panel.send('GET', HISTORY, { token })),
  },
])

test('errors, 500, storage reading failures: a failure of the token’s own storage is 500 and not 401', async () => {
  await panel.without('ended_sessions', () =>
    later(61_000, async () => refused(await panel.send('GET', SESSIONS, { token }), 500, 'storage_failed')),
  )
})

test('errors, 500, storage fails: a long lock by another process, at refresh', async () => {
  await panel.whileLocked(async () => refused(await refresh(user.cookie), 500, 'storage_failed'))

  expect((await refresh(user.cookie)).status).toBe(200)
})

test('errors, 500: the answer reveals nothing of the cause', async () => {
  const { error } = await panel.without('jobs', async () =>
    refused(await panel.send('GET', HISTORY, { token }), 500, 'storage_failed'),
  )

  expect(error).toBe('La base de données ne répond pas.')
})

test('errors, 500: the service recovers with its database', async () => {
  await panel.without('sessions', () => panel.send('GET', SESSIONS, { token }))

  expect((await panel.send('GET', SESSIONS, { token })).status).toBe(200)
  expect((await panel.attempt('guest', 'guest')).status).toBe(200)
})

test.each(['host', 'lxc:101'])(
  'errors, 502, SSH failure (a silent host): packages of %s, as `Erreur SSH : <message>`',
  async (target) => {
    await panel.withSetting('ssh_host', '127.0.0.1:1', async () => {
      const { error } = await refused(await packages(`?target=${target}`), 502, 'ssh_failed')
      expect(error).toMatch(/^Erreur SSH : .*ECONNREFUSED/)
    })
  },
)

test('errors, 502, SSH failure (a wrong service password): packages', async () => {
  await panel.withSetting('ssh_username', 'nobody-here', async () => {
    const { error } = await refused(await packages('?target=host'), 502, 'ssh_failed')
    expect(error).toMatch(/^Erreur SSH : \S/)
  })
})

test('errors, 502, SSH failure (contract: a command with an exit code other than 0): packages, with its last line', async () => {
  panel.demo.override = (words, process) =>
    words.includes('apt') || words.includes('list')
      ? process.stderr('E: first line\nE: last line\n').then(() => 100)
      : undefined
  onTestFinished(() => {
    panel.demo.override = undefined
  })

  const { error } = await refused(await packages('?target=host'), 502, 'ssh_failed')

  expect(error).toBe('Erreur SSH : E: last line')
})

test('errors, 502 is only for packages: targets list only the host with 200 when SSH fails', async () => {
  await panel.withSetting('ssh_host', '127.0.0.1:1', async () => {
    const response = await panel.send('GET', TARGETS, { token })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual([{ id: 'host', name: 'Hôte', status: 'running' }])
  })
})

check(503, [
  {
    condition: 'ssh_host empty',
    endpoint: 'login',
    code: 'ssh_host_missing',
    send: () => panel.withSetting('ssh_host', '', () => panel.attempt('guest', 'guest')),
  },
])

const NEEDS_SSH: [endpoint: string, send: () => Promise<Response>][] = [
  ['targets', () => panel.send('GET', TARGETS, { token })],
  ['packages', () => packages('?target=host')],
  ['update run', () => run({ target: 'host' })],
]

check(
  503,
  NEEDS_SSH.flatMap(([endpoint, send]) => [
    ...[
      { setting: 'ssh_host', condition: 'SSH host missing' },
      { setting: 'ssh_username', condition: 'SSH user missing' },
      { setting: 'ssh_password', condition: 'SSH password missing' },
    ].map(
      ({ setting, condition }): Row => ({
        condition,
        endpoint,
        code: 'ssh_incomplete',
        send: () => panel.withSetting(setting, '', send),
      }),
    ),
    {
      condition: 'the stored password cannot be decrypted (not of the form)',
      endpoint,
      code: 'ssh_password_unreadable',
      send: () => panel.withSetting('ssh_password', 'rubbish', send),
    },
    {
      condition: 'the stored password cannot be decrypted (of another key)',
      endpoint,
      code: 'ssh_password_unreadable',
      send: () =>
        panel.withSetting('ssh_password', '', async () => {
          await sealWithAnotherKey(panel.db)
          return send()
        }),
    },
  ]),
)

test('errors, 503: a refused update run records no job and audits nothing', async () => {
  const from = newAddress()
  const before = await rows(panel.db, 'SELECT id FROM jobs')

  const response = await panel.withSetting('ssh_password', '', () =>
    panel.send('POST', RUN, { token, from, body: { target: 'host' } }),
  )

  await refused(response, 503, 'ssh_incomplete')
  expect(await rows(panel.db, 'SELECT id FROM jobs')).toEqual(before)
  expect(await panel.auditOf(from)).toEqual([])
})

test('errors, order at packages, contract: 400 without a target, then 503, then 400 for an invalid one', async () => {
  await panel.withSetting('ssh_host', '', async () => {
    await refused(await packages(''), 400, 'target_missing')
    await refused(await packages('?target=nonsense'), 503, 'ssh_incomplete')
  })
  await refused(await packages('?target=nonsense'), 400, 'target_invalid')
})

test('errors: an invalid target string is not rejected at update run', async () => {
  expect((await run({ target: 'nonsense' })).status).toBe(202)
})

test('errors, contract: an unknown route is 404', async () => {
  for (const path of ['/nothing', '/api', '/api/auth', '/api/auth/login/', '/api/auth/nothing', '/API/auth/me'])
    await refused(await panel.send('GET', path, { token }), 404, 'not_found')
})

test.each([
  ['GET', LOGIN, 'POST'],
  ['GET', '/api/auth/logout', 'POST'],
  ['GET', REFRESH, 'POST'],
  ['POST', ME, 'GET'],
  ['PUT', PREFERENCES, 'GET, PATCH'],
  ['DELETE', SESSIONS, 'GET'],
  ['GET', `${SESSIONS}/1`, 'DELETE'],
])('errors, contract: %s %s is 405 with Allow: %s', async (method, path, allow) => {
  const response = await panel.send(method, path, { token })

  expect(response.headers.get('allow')).toBe(allow)
  await refused(response, 405, 'method_not_allowed')
})

test('errors, contract: a body over the limit is 413, before any login', async () => {
  const body = JSON.stringify({ username: 'guest', password: 'guest', more: 'x'.repeat(2 * 1024 * 1024) })

  await refused(await rawLogin(body), 413, 'body_too_large')
  await refused(await preferences(body), 413, 'body_too_large')
})

test('errors, contract: every answer has its own X-Request-Id', async () => {
  const answers = [
    await panel.send('GET', ME, { token }),
    await panel.send('GET', ME),
    await panel.send('GET', '/none'),
  ]

  const ids = answers.map(({ headers }) => headers.get('x-request-id'))

  expect(new Set(ids).size).toBe(3)
  expect(ids).not.toContain(null)
})
