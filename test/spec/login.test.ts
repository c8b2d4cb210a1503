import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'
import { answered, refused } from '../functions/answers.ts'
import { cookieOf, DAY_MS, later, newAddress, RFC_3339, startPanel } from './client.ts'

const panel = await startPanel()

const PATH = '/api/auth/login'

/** Checks for everything that a failed login must not leave behind. */
async function nothingOf(username: string, from: string) {
  expect(await panel.userOf(username)).toBeUndefined()
  expect(await panel.sessionsOf(username)).toEqual([])
  expect((await panel.auditOf(from)).map(({ action }) => action)).not.toContain('login_success')
}

test('login, rule 1: more than 5 attempts of an address in a minute give 429 and login_rate_limited, without the host being asked', async () => {
  const from = newAddress()
  for (let n = 0; n < 5; n++) await refused(await panel.send('POST', PATH, { from, body: '{' }), 400, 'invalid_json')
  const username = panel.freshName()
  const asked = panel.asked()

  const response = await panel.attempt(username, username, { from })

  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  await refused(response, 429, 'login_rate_limited')
  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['login_rate_limited'])
  expect(panel.asked()).toBe(asked)
  await nothingOf(username, from)
})

test('login, rules in order: the limit (1) comes before an unreadable body (2), empty fields (3) and an empty ssh_host (4)', async () => {
  const from = newAddress()
  for (let n = 0; n < 5; n++) await panel.send('POST', PATH, { from, body: '{' })

  await panel.withSetting('ssh_host', '', async () => {
    for (const body of ['{', { username: '', password: '' }, { username: 'demo', password: 'demo' }])
      await refused(await panel.send('POST', PATH, { from, body }), 429, 'login_rate_limited')
  })
})

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['half an object', '{"username":"demo","password":"demo"'],
  ['a form', 'username=demo&password=demo'],
  ['an object in single quotes', `{'username':'demo'}`],
])(
  'login, rule 2: an unreadable body (%s) gives 400, without a request to the host or an audit entry',
  async (_, body) => {
    const from = newAddress()
    const asked = panel.asked()

    const { error } = await refused(await panel.send('POST', PATH, { from, body }), 400, 'invalid_json')

    expect(error).toBe('Le corps de la requête est illisible.')
    expect(await panel.auditOf(from)).toEqual([])
    expect(panel.asked()).toBe(asked)
  },
)

test.each([
  ['an empty username', { username: '', password: 'x' }, ['username']],
  ['an empty password', { username: 'demo', password: '' }, ['password']],
  ['both empty', { username: '', password: '' }, ['username', 'password']],
  ['no username', { password: 'x' }, ['username']],
  ['no password', { username: 'demo' }, ['password']],
  ['a username of null', { username: null, password: 'x' }, ['username']],
  ['a password that is a number', { username: 'demo', password: 1 }, ['password']],
  ['a username with a length that is no number', { username: { length: { toString: '' } }, password: 'x' }, ['']],
])('login, rule 3: %s gives 400, without a request to the host or an audit entry', async (_, body, fields) => {
  const from = newAddress()
  const asked = panel.asked()

  const { details } = await refused(await panel.send('POST', PATH, { from, body }), 400, 'credentials_missing')

  expect(details?.map(({ field }) => field)).toEqual(fields)
  expect(await panel.auditOf(from)).toEqual([])
  expect(panel.asked()).toBe(asked)
})

test('login, rules in order: an unreadable body (2) and empty fields (3) come before an empty ssh_host (4)', async () => {
  await panel.withSetting('ssh_host', '', async () => {
    const from = newAddress()
    await refused(await panel.send('POST', PATH, { from, body: '{' }), 400, 'invalid_json')
    await refused(await panel.attempt('', '', { from }), 400, 'credentials_missing')
  })
})

test('login, rule 4: ssh_host is read at every login, and an empty one gives 503', async () => {
  const username = panel.freshName()
  const from = newAddress()

  const { error } = await panel.withSetting('ssh_host', '', async () =>
    refused(await panel.attempt(username, username, { from }), 503, 'ssh_host_missing'),
  )

  expect(error).toBe('L’hôte SSH n’est pas configuré.')
  expect(await panel.auditOf(from)).toEqual([])
  await nothingOf(username, from)
  expect((await panel.attempt(username, username, { from })).status).toBe(200)
})

test('login, rules in order: an empty ssh_host (4) comes before wrong credentials (5)', async () => {
  const from = newAddress()
  await panel.withSetting('ssh_host', '', async () => {
    await refused(await panel.attempt('demo', 'wrong', { from }), 503, 'ssh_host_missing')
  })
  expect(await panel.auditOf(from)).toEqual([])
})

test('login, rule 5: a wrong password gives 401 and login_failed, whose details carry the error text', async () => {
  const username = panel.freshName()
  const from = newAddress()
  const asked = panel.asked()

  const { error } = await refused(await panel.attempt(username, 'a wrong password', { from }), 401, 'bad_credentials')

  expect(panel.asked()).toBe(asked + 1)
  expect(error).toBe('Nom d’utilisateur ou mot de passe incorrect.')
  const entries = await panel.auditOf(from)
  expect(entries).toMatchObject([
    { action: 'login_failed', username, user_id: null, target: null, details: { error: expect.stringMatching(/\w/) } },
  ])
  expect(JSON.stringify(entries)).not.toContain('a wrong password')
  await nothingOf(username, from)
})

test('login, rule 5: an unknown name gives exactly the same answer as a wrong password', async () => {
  const unknown = await refused(await panel.attempt('nobody-at-all', 'x'), 401, 'bad_credentials')
  const wrong = await refused(await panel.attempt('guest', 'x'), 401, 'bad_credentials')

  expect(unknown).toEqual(wrong)
  expect(await panel.userOf('nobody-at-all')).toBeUndefined()
})

test('login, rule 5: an expired account gives 401 and login_failed', async () => {
  const from = newAddress()

  await refused(await panel.attempt('expired', 'expired', { from }), 401, 'bad_credentials')

  expect((await panel.auditOf(from)).map(({ action }) => action)).toEqual(['login_failed'])
  await nothingOf('expired', from)
})

test('login, rule 5: a silent host gives 401 and login_failed, and only the audit log has the cause', async () => {
  const username = panel.freshName()
  const from = newAddress()

  const { error } = await panel.withSetting('ssh_host', '127.0.0.1:1', async () =>
    refused(await panel.attempt(username, username, { from }), 401, 'ssh_unreachable'),
  )

  expect(error).not.toContain('ECONNREFUSED')
  expect(await panel.auditOf(from)).toMatchObject([
    { action: 'login_failed', username, details: { error: expect.stringContaining('ECONNREFUSED') } },
  ])
  await nothingOf(username, from)
})

test('login, rule 5: a host with another key gives 401 and login_failed', async () => {
  const username = panel.freshName()
  const from = newAddress()
  const other = `ssh-ed25519 SHA256:${'A'.repeat(43)}`
  await panel.login('guest')

  await panel.withSetting('ssh_host_key', other, async () =>
    refused(await panel.attempt(username, username, { from }), 401, 'host_key_changed'),
  )

  expect(await panel.auditOf(from)).toMatchObject([
    { action: 'login_failed', username, details: { error: expect.stringContaining(panel.demo.hostKey) } },
  ])
  await nothingOf(username, from)
})

test('login, rule 5: a failed login leaves the user, the sessions and last_login_at unchanged', async () => {
  const { username } = await panel.login(panel.freshName())
  const before = [await panel.userOf(username), await panel.sessionsOf(username)]

  await refused(await panel.attempt(username, 'wrong'), 401, 'bad_credentials')

  expect([await panel.userOf(username), await panel.sessionsOf(username)]).toEqual(before)
})

test('login, rule 6: the user record is created at the first login, with the default preferences', async () => {
  const username = panel.freshName()
  expect(await panel.userOf(username)).toBeUndefined()

  const { id } = await panel.login(username)

  expect(await panel.userOf(username)).toEqual({
    id,
    username,
    is_admin: 0,
    lang: 'fr',
    theme: 'dark',
    sidebar_position: 'left',
    last_login_at: expect.stringMatching(RFC_3339),
  })
})

test('login, rule 6: a later login updates the record of that name, and the preferences stay', async () => {
  const username = panel.freshName()
  const { id } = await panel.login(username)
  await panel.db.run(`UPDATE users SET lang = 'en', theme = 'light', sidebar_position = 'right' WHERE id = ?`, [id])

  const again = await panel.login(username)

  expect(again.id).toBe(id)
  expect(await panel.userOf(username)).toMatchObject({ id, lang: 'en', theme: 'light', sidebar_position: 'right' })
})

test.each([
  ['guest', 1, 0],
  ['demo', 0, 1],
])(
  'login, rule 6: is_admin of %s is overwritten from the host (stored %i, then %i)',
  async (username, stored, found) => {
    await panel.login(username)
    await panel.db.run('UPDATE users SET is_admin = ? WHERE username = ?', [stored, username])

    const response = await panel.attempt(username, username)

    expect(await answered(response, 200)).toMatchObject({ user: { is_admin: found === 1 } })
    expect(await panel.userOf(username)).toMatchObject({ is_admin: found })
  },
)

test.each([
  ['uid 0', 'superuser', true],
  ['group sudo', 'demo', true],
  ['group wheel, which sudo makes root', 'wheel', true],
  ['group wheel, which has no rights', 'leftover', false],
  ['group admin, not the first one', 'manager', true],
  ['no such group', 'operator', false],
  ['group sudo and a shell that runs nothing', 'shellless', false],
])('login, contract: a user with %s is an administrator: %s, %s', async (_, username, admin) => {
  expect(await answered(await panel.attempt(username, username), 200)).toMatchObject({ user: { is_admin: admin } })
  expect(await panel.userOf(username)).toMatchObject({ is_admin: admin ? 1 : 0 })
})

test('login, rule 6: a failure to store the user gives 500, without a session, a cookie or login_success', async () => {
  const username = panel.freshName()
  const from = newAddress()

  await panel.without('users', async () =>
    refused(await panel.attempt(username, username, { from }), 500, 'storage_failed'),
  )

  expect(await panel.auditOf(from)).toEqual([])
  await nothingOf(username, from)
})

test('login, rule 7: a failure to create the tokens gives 500, without a session, a cookie or login_success', async () => {
  const username = panel.freshName()
  const from = newAddress()

  // The keys are read again after at most half a minute.
  await panel.without('signing_keys', () =>
    later(61_000, async () => refused(await panel.attempt(username, username, { from }), 500, 'storage_failed')),
  )

  expect(await panel.sessionsOf(username)).toEqual([])
  expect(await panel.auditOf(from)).toEqual([])
})

test('login, rule 8: the session holds the token’s SHA-256, the expiry, the user agent, the address and last_used_at', async () => {
  const username = panel.freshName()
  const from = newAddress()
  const before = Date.now()

  const { cookie, id, sid } = await panel.login(username, username, {
    from,
    headers: { 'user-agent': 'Navigateur/1.0' },
  })

  const after = Date.now()
  const rows = await panel.sessionsOf(username)
  expect(rows).toEqual([
    {
      id: sid,
      user_id: id,
      token_hash: createHash('sha256').update(cookie).digest('hex'),
      expires_at: expect.stringMatching(RFC_3339),
      user_agent: 'Navigateur/1.0',
      ip: from,
      created_at: expect.stringMatching(RFC_3339),
      last_used_at: expect.stringMatching(RFC_3339),
    },
  ])
  const [{ expires_at = '', created_at = '', last_used_at = '' } = {}] = rows
  expect(last_used_at).toBe(created_at)
  expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(created_at)).toBeLessThanOrEqual(after)
  // A token's times are whole seconds.
  expect(Date.parse(expires_at)).toBeGreaterThan(before + 7 * DAY_MS - 1000)
  expect(Date.parse(expires_at)).toBeLessThanOrEqual(after + 7 * DAY_MS)
})

test('login, rule 8: the refresh token itself is stored nowhere in the database', async () => {
  const { cookie } = await panel.login(panel.freshName())
  const signature = cookie.split('.').at(-1) ?? 'none'

  for (const table of ['users', 'sessions', 'audit', 'settings', 'rate_hits', 'ended_sessions', 'signing_keys']) {
    const rows = await panel.db.query(z.unknown(), `SELECT * FROM ${table}`)
    expect(JSON.stringify(rows)).not.toContain(signature)
  }
})

test('login, rule 8: each login stores a new session next to the others', async () => {
  const first = await panel.login(panel.freshName())
  const [before] = await panel.sessionsOf(first.username)

  const second = await panel.login(first.username)

  expect(second.cookie).not.toBe(first.cookie)
  const rows = await panel.sessionsOf(first.username)
  expect(rows.map(({ id }) => id)).toEqual([first.sid, second.sid])
  expect(rows[0]).toEqual(before)
})

test('login, rule 8: last_login_at is set at each successful login', async () => {
  const username = panel.freshName()
  await panel.login(username)
  await panel.db.run(`UPDATE users SET last_login_at = '2020-01-01T00:00:00.000Z' WHERE username = ?`, [username])

  const { sid } = await panel.login(username)

  const session = (await panel.sessionsOf(username)).find(({ id }) => id === sid)
  expect((await panel.userOf(username))?.last_login_at).toBe(session?.created_at)
})

test('login, rule 8: a failure to store the session gives 500, without a cookie, last_login_at or login_success', async () => {
  const username = panel.freshName()
  const from = newAddress()

  await panel.without('sessions', async () =>
    refused(await panel.attempt(username, username, { from }), 500, 'storage_failed'),
  )

  expect(await panel.userOf(username)).toMatchObject({ last_login_at: null })
  expect(await panel.sessionsOf(username)).toEqual([])
  expect(await panel.auditOf(from)).toEqual([])
})

test('login, rule 9: the refresh cookie is set and login_success is written, with that user and that address', async () => {
  const username = panel.freshName()
  const from = newAddress()

  const response = await panel.attempt(username, username, { from })

  const { name, value } = cookieOf(response)
  expect(name).toBe('svc_refresh')
  const [session] = await panel.sessionsOf(username)
  expect(session?.token_hash).toBe(createHash('sha256').update(value).digest('hex'))
  expect(await panel.auditOf(from)).toMatchObject([
    { action: 'login_success', username, user_id: (await panel.userOf(username))?.id },
  ])
})

test('login, response 200: access_token, expires_in 900, user of id, username and is_admin; no refresh token', async () => {
  const username = panel.freshName()

  const response = await panel.attempt(username, username)

  const { value } = cookieOf(response)
  const body = await answered(response, 200)
  expect(body).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    expires_in: 900,
    user: { id: (await panel.userOf(username))?.id, username, is_admin: false },
  })
  expect(JSON.stringify(body)).not.toContain(value)
})

test('login, contract: PANEL_REFRESH_DAYS is the lifetime of session, token and cookie', async () => {
  const short = await startPanel({ env: { PANEL_REFRESH_DAYS: '1' } }, onTestFinished)
  const before = Date.now()

  const { attributes } = cookieOf(await short.attempt('guest', 'guest'))

  const [session] = await short.sessionsOf('guest')
  const expires = Date.parse(session?.expires_at ?? '')
  expect(expires).toBeGreaterThan(before + DAY_MS - 1000)
  expect(expires).toBeLessThanOrEqual(Date.now() + DAY_MS)
  expect(Date.parse(attributes.expires ?? '')).toBe(expires)
})

test('login, contract: PANEL_ADMIN_GROUPS names the groups of administrators, in place of the default ones', async () => {
  const other = await startPanel(
    { env: { PANEL_ADMIN_GROUPS: 'ops' }, beside: { demo: panel.demo, folder: await temporaryFolder() } },
    onTestFinished,
  )

  expect(await answered(await other.attempt('operator', 'operator'), 200)).toMatchObject({ user: { is_admin: true } })
  expect(await answered(await other.attempt('demo', 'demo'), 200)).toMatchObject({ user: { is_admin: false } })
})
