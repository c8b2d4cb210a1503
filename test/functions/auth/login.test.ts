import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import { createHost } from '../../../ssh/host.ts'
import { createLimiter } from '../../../runtime/rate-limit.ts'
import { SshError } from '../../../ssh/connection.ts'
import { mount, START, testApp } from '../../app.ts'
import { startDemo } from '../../runtime/demo.ts'
import { answered, audited, auditedActions, decoded, refused, rows } from '../answers.ts'

const PATH = '/api/auth/login'
const BOB = { username: 'bob', password: 'right horse' }
const NOW = START.toISOString()
const IN_A_WEEK = '2026-03-08T12:00:00.000Z'

const Answer = z.object({ access_token: z.string() })

type App = Awaited<ReturnType<typeof testApp>>

function cookieOf(response: Response) {
  const [cookie = '', ...more] = response.headers.getSetCookie()
  expect(more).toEqual([])
  const [value = '', ...attributes] = cookie.split('; ')
  return { token: value.slice('svc_refresh='.length), name: value.split('=')[0], attributes: attributes.sort() }
}

async function nobodySignedIn({ db }: App) {
  expect(await rows(db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
  expect(await rows(db, 'SELECT * FROM sessions')).toEqual([])
}

test('a login returns an access token of 900 s and the user, and nothing else', async () => {
  const passwords: string[] = []
  const app = await testApp([login], {
    fake: {
      signIn(_, password) {
        passwords.push(password)
        return { uid: 1000, groups: ['bob'] }
      },
    },
  })

  const response = await app.request('POST', PATH, { body: BOB })

  expect(await answered(response, 200)).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    expires_in: 900,
    user: { id: 1, username: 'bob', is_admin: false },
  })
  expect(app.signIns).toEqual(['bob'])
  expect(passwords).toEqual([BOB.password])
  expect(app.ran).toEqual([])
})

test('the access token is RS256, lasts 15 minutes, and has the claims of the user and the session', async () => {
  const app = await testApp([login, me])

  const { access_token } = Answer.parse(await answered(await app.request('POST', PATH, { body: BOB }), 200))

  const [key] = await rows(app.db, 'SELECT kid FROM signing_keys')
  const seconds = START.getTime() / 1000
  expect(decoded(access_token)).toEqual({
    header: { alg: 'RS256', typ: 'JWT', kid: key?.kid },
    claims: {
      sub: '1',
      username: 'bob',
      is_admin: false,
      role: 'operator',
      operates: 'all',
      proven: seconds,
      enrolling: false,
      sid: '1',
      iat: seconds,
      exp: seconds + 900,
      iss: 'ops-panel',
      aud: 'ops-panel',
      jti: expect.any(String),
    },
  })
  const headers = { authorization: `Bearer ${access_token}` }
  expect(await answered(await app.request('GET', '/api/auth/me', { headers }), 200)).toMatchObject({ username: 'bob' })
})

test('the session contains the hash of the cookie’s token, its expiry, user agent and address', async () => {
  const app = await testApp([login])

  const response = await app.request('POST', PATH, {
    body: BOB,
    from: '203.0.113.9',
    headers: { 'user-agent': 'Navigateur/1.0' },
  })

  const { token } = cookieOf(response)
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([
    {
      id: 1,
      user_id: 1,
      token_hash: createHash('sha256').update(token).digest('hex'),
      expires_at: IN_A_WEEK,
      user_agent: 'Navigateur/1.0',
      ip: '203.0.113.9',
      created_at: NOW,
      last_used_at: NOW,
      proven_at: NOW,
      proven_by: 'password',
    },
  ])
  expect(decoded(token).claims).toMatchObject({ sub: '1', typ: 'refresh', exp: Date.parse(IN_A_WEEK) / 1000 })
  expect(await response.text()).not.toContain(token)
})

test('the cookie has exactly the specified attributes, and expires with the session', async () => {
  const app = await testApp([login])

  const { name, token, attributes } = cookieOf(await app.request('POST', PATH, { body: BOB }))

  expect(name).toBe('svc_refresh')
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(attributes).toEqual([
    'Expires=Sun, 08 Mar 2026 12:00:00 GMT',
    'HttpOnly',
    'Path=/api/auth/',
    'SameSite=Strict',
  ])
})

test.each([
  ['X-Forwarded-Proto: https', { 'x-forwarded-proto': 'https' }, false, true],
  ['X-Forwarded-Proto: http', { 'x-forwarded-proto': 'http' }, false, false],
  ['no such header', {}, false, false],
  ['TLS and no such header', {}, true, true],
])('with %s, the cookie is Secure', async (_, headers: Record<string, string>, encrypted, secure) => {
  const { app } = await testApp([login])

  // The peer is no trusted proxy, and the header counts anyway.
  const peer = { address: '198.51.100.4', encrypted }
  const response = await app.request(PATH, { method: 'POST', headers, body: JSON.stringify(BOB) }, { peer })

  expect(response.status).toBe(200)
  expect(cookieOf(response).attributes.includes('Secure')).toBe(secure)
})

test('a session lasts as long as PANEL_REFRESH_DAYS says', async () => {
  const app = await testApp([login], { env: { PANEL_REFRESH_DAYS: '30' } })

  const { attributes } = cookieOf(await app.request('POST', PATH, { body: BOB }))

  expect(attributes).toContain('Expires=Tue, 31 Mar 2026 12:00:00 GMT')
  expect(await rows(app.db, 'SELECT expires_at FROM sessions')).toEqual([{ expires_at: '2026-03-31T12:00:00.000Z' }])
})

test('the first login creates the user with default preferences and stores its time', async () => {
  const app = await testApp([login])

  await app.request('POST', PATH, { body: BOB })

  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([
    {
      id: 1,
      username: 'bob',
      is_admin: 0,
      lang: 'fr',
      theme: 'dark',
      sidebar_position: 'left',
      preferences_chosen: 0,
      created_at: NOW,
      last_login_at: NOW,
      uid: 1000,
      kept_out: 0,
      own_word: 'user',
      shadow_counts: 1,
      operates: '"all"',
      barred_at: null,
      barred_by: null,
      asking_until: null,
      rights_at: NOW,
    },
  ])
})

test('each later login overwrites the administrator flag and the time, and keeps the preferences', async () => {
  const identity = { uid: 1000, groups: ['bob'] }
  const app = await testApp([login], { fake: { signIn: () => identity, inspect: () => identity } })
  const flag = async () => {
    const answer = await answered(await app.request('POST', PATH, { body: BOB }), 200)
    const [user] = await rows(app.db, 'SELECT is_admin, last_login_at, theme, id FROM users WHERE id > 0')
    return { user, said: z.object({ user: z.object({ is_admin: z.boolean() }) }).parse(answer).user.is_admin }
  }

  expect((await flag()).said).toBe(false)
  await app.db.run(`UPDATE users SET theme = 'light'`)
  identity.groups = ['bob', 'sudo']
  app.advance(1000)
  expect(await flag()).toEqual({
    said: true,
    user: { id: 1, is_admin: 1, theme: 'light', last_login_at: '2026-03-01T12:00:01.000Z' },
  })
  identity.groups = ['bob']
  app.advance(1000)
  expect(await flag()).toEqual({
    said: false,
    user: { id: 1, is_admin: 0, theme: 'light', last_login_at: '2026-03-01T12:00:02.000Z' },
  })
})

test('two logins of one user are two sessions with separate tokens', async () => {
  const app = await testApp([login])

  const first = cookieOf(await app.request('POST', PATH, { body: BOB }))
  const second = cookieOf(await app.request('POST', PATH, { body: BOB }))

  expect(second.token).not.toBe(first.token)
  expect(await rows(app.db, 'SELECT id, user_id FROM sessions ORDER BY id')).toEqual([
    { id: 1, user_id: 1 },
    { id: 2, user_id: 1 },
  ])
  expect(await rows(app.db, 'SELECT username FROM users WHERE id > 0')).toEqual([{ username: 'bob' }])
})

test('a login is audited, and its password is neither in the audit log nor in the log', async () => {
  const app = await testApp([login])

  await app.request('POST', PATH, { body: BOB, from: '203.0.113.9' })

  expect(await audited(app.db)).toEqual([
    {
      at: NOW,
      action: 'login_success',
      user_id: 1,
      username: 'bob',
      target: null,
      ip: '203.0.113.9',
      details: null,
    },
  ])
  expect(app.lines().join('\n')).not.toContain(BOB.password)
})

test.each([
  ['nothing', ''],
  ['half a document', '{"username":"bob"'],
  ['a form', 'username=bob&password=x'],
])('a body of %s is unreadable, and the host is not asked', async (_, body) => {
  const app = await testApp([login])

  const { error } = await refused(await app.request('POST', PATH, { body }), 400, 'invalid_json')

  expect(error).toBe('Le corps de la requête est illisible.')
  expect(app.signIns).toEqual([])
  expect(await audited(app.db)).toEqual([])
  await nobodySignedIn(app)
})

test.each([
  ['an empty username', { username: '', password: 'x' }, ['username']],
  ['an empty password', { username: 'bob', password: '' }, ['password']],
  ['both empty', { username: '', password: '' }, ['username', 'password']],
  ['no fields', {}, ['username', 'password']],
  ['no password', { username: 'bob' }, ['password']],
  ['null for a username', { username: null, password: 'x' }, ['username']],
  ['a number as password', { username: 'bob', password: 1234 }, ['password']],
])('a body with %s is refused with the fields named, and the host is not asked', async (_, body, fields) => {
  const app = await testApp([login])

  const { error, details } = await refused(await app.request('POST', PATH, { body }), 400, 'credentials_missing')

  expect(error).toBe('Le nom d’utilisateur et le mot de passe sont obligatoires.')
  expect(details?.map(({ field }) => field)).toEqual(fields)
  expect(app.signIns).toEqual([])
  expect(await audited(app.db)).toEqual([])
  await nobodySignedIn(app)
})

test.each([['null'], ['[]'], ['"bob"']])('%s is not a body with credentials', async (body) => {
  const app = await testApp([login])

  await refused(await app.request('POST', PATH, { body }), 400, 'credentials_missing')

  expect(app.signIns).toEqual([])
})

test('a password of spaces is not empty: the host checks it', async () => {
  const app = await testApp([login])

  expect((await app.request('POST', PATH, { body: { username: 'bob', password: '  ' } })).status).toBe(200)
})

test.each([
  ['of 1,024 characters', 'aB3 '.repeat(256)],
  ['of words, spaces at both ends and other alphabets', ' Ünïcödé пароль 密码 🔑 "\\$(id)\' '],
  ['of one character', '0'],
])('a password %s reaches the host exactly as it was typed', async (_, password) => {
  const demo = await startDemo({ users: { bob: { password, uid: 1001, groups: ['bob'] } } })
  const { services } = await testApp([login], { ssh: { host: `127.0.0.1:${demo.port}`, ...demo.service } })
  const host = createHost(services)
  const app = mount([login], { ...services, host })
  const status = async (given: string, n: number) =>
    (
      await app.request(PATH, {
        method: 'POST',
        body: JSON.stringify({ username: 'bob', password: given }),
        headers: { 'x-forwarded-for': `192.0.2.${n}` },
      })
    ).status
  const others = [
    password.trim(),
    password.toLowerCase(),
    password.slice(0, 72),
    password.normalize('NFD'),
    `${password}x`,
  ]

  expect(await status(password, 0)).toBe(200)
  for (const [n, other] of others.entries())
    if (other !== password) expect(await status(other, n + 1)).toBe(other.length > 1_024 ? 400 : 401)
  host.close()
})

test('a password of more than 1,024 characters is refused, and not cut', async () => {
  const app = await testApp([login])

  const response = await app.request('POST', PATH, { body: { username: 'bob', password: 'x'.repeat(1_025) } })

  await refused(response, 400, 'credentials_missing')
  expect(app.signIns).toEqual([])
})

test('without ssh_host the answer is 503, and every attempt reads the setting again', async () => {
  const { services, db } = await testApp([login], { ssh: { host: '' } })
  const host = createHost(services)
  const app = mount([login], { ...services, host })
  const attempt = () => app.request(PATH, { method: 'POST', body: JSON.stringify(BOB) })

  const { error } = await refused(await attempt(), 503, 'ssh_host_missing')

  expect(error).toBe('L’hôte SSH n’est pas configuré.')
  expect(await audited(db)).toEqual([])
  expect(await rows(db, 'SELECT * FROM users WHERE id > 0')).toEqual([])

  // Nothing listens on port 1: an attempt that reaches it has read the setting.
  await db.run(`INSERT INTO settings VALUES ('ssh_host', '127.0.0.1:1', '')`)
  await refused(await attempt(), 401, 'ssh_unreachable')
  await db.run(`UPDATE settings SET value = '' WHERE key = 'ssh_host'`)
  await refused(await attempt(), 503, 'ssh_host_missing')
  host.close()
})

test.each([
  ['bad_credentials', 'bad_credentials', 'Nom d’utilisateur ou mot de passe incorrect.'],
  ['unreachable', 'ssh_unreachable', 'Connexion impossible : l’hôte SSH ne répond pas.'],
  ['lost', 'ssh_unreachable', 'Connexion impossible : l’hôte SSH ne répond pas.'],
  [
    'host_key_changed',
    'host_key_changed',
    'Connexion refusée : la clé de l’hôte SSH a changé. Prévenez un administrateur.',
  ],
] as const)('a check that fails with %s is 401 %s; only the audit entry has the cause', async (reason, code, text) => {
  const app = await testApp([login], {
    fake: {
      signIn() {
        throw new SshError(reason, 'cause from the host')
      },
    },
  })

  const { error } = await refused(await app.request('POST', PATH, { body: BOB, from: '203.0.113.9' }), 401, code)

  expect(error).toBe(text)
  expect(await audited(app.db)).toEqual([
    {
      at: NOW,
      action: 'login_failed',
      user_id: null,
      username: 'bob',
      target: null,
      ip: '203.0.113.9',
      details: { reason, error: 'cause from the host' },
    },
  ])
  expect(app.lines().join('\n')).not.toContain(BOB.password)
  await nobodySignedIn(app)
})

test('a wrong password leaves flag and last login of a known user unchanged', async () => {
  let right = true
  const app = await testApp([login], {
    fake: {
      signIn() {
        if (!right) throw new SshError('bad_credentials', 'no')
        return { uid: 1000, groups: [] }
      },
    },
  })
  await app.request('POST', PATH, { body: BOB })
  const before = await rows(app.db, 'SELECT * FROM users WHERE id > 0')
  right = false
  app.advance(5000)

  await refused(await app.request('POST', PATH, { body: BOB }), 401, 'bad_credentials')

  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual(before)
  expect(await rows(app.db, 'SELECT id FROM sessions')).toEqual([{ id: 1 }])
})

test('an error of the service itself is not reported as a failed login', async () => {
  const app = await testApp([login], {
    fake: {
      signIn() {
        throw new TypeError('a mistake')
      },
    },
  })

  const { error } = await refused(await app.request('POST', PATH, { body: BOB }), 500, 'internal')

  expect(error).not.toContain('a mistake')
  expect(await audited(app.db)).toEqual([])
})

test('when too many checks are queued, the answer is 503 with Retry-After', async () => {
  const app = await testApp([login], { fake: { signIn: () => undefined } })

  const response = await app.request('POST', PATH, { body: BOB })

  expect(response.headers.get('retry-after')).toBe('12')
  const { error } = await refused(response, 503, 'login_busy')
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect(error).toBe('Trop de connexions en cours. Réessayez dans 12 s.')
  expect(await audited(app.db)).toEqual([])
  await nobodySignedIn(app)
})

test.each([['users'], ['sessions']])('a failing table %s gives 500 without a cookie or a success', async (table) => {
  const app = await testApp([login])
  await app.db.script(`ALTER TABLE ${table} RENAME TO gone`)

  const { error } = await refused(await app.request('POST', PATH, { body: BOB }), 500, 'storage_failed')

  expect(error).toBe('La base de données ne répond pas.')
  expect(await auditedActions(app.db)).toEqual([])
})

test('a login that cannot be audited fails and sets no cookie', async () => {
  const app = await testApp([login])
  await app.db.script('ALTER TABLE audit RENAME TO gone')

  await refused(await app.request('POST', PATH, { body: BOB }), 500, 'storage_failed')
})

test('the sixth attempt within 60 s from one address is refused, audited, and never reaches the host', async () => {
  const app = await testApp([login])
  const attempt = () => app.request('POST', PATH, { body: BOB, from: '203.0.113.9' })
  for (let n = 0; n < 5; n++) expect((await attempt()).status).toBe(200)

  const response = await attempt()

  expect(response.headers.get('retry-after')).toBe('60')
  const { error } = await refused(response, 429, 'login_rate_limited')
  expect(error).toBe('Trop de tentatives de connexion. Réessayez dans 60 s.')
  expect(app.signIns).toHaveLength(5)
  expect(await rows(app.db, 'SELECT id FROM sessions')).toHaveLength(5)
  expect((await audited(app.db)).slice(5)).toEqual([
    {
      at: NOW,
      action: 'login_rate_limited',
      user_id: null,
      username: null,
      target: null,
      ip: '203.0.113.9',
      details: null,
    },
  ])
})

test('the window slides: each attempt is forgotten 60 s after it was made', async () => {
  const app = await testApp([login])
  const attempt = async () => (await app.request('POST', PATH, { body: BOB })).status
  expect(await attempt()).toBe(200)
  app.advance(30_000)
  for (let n = 0; n < 4; n++) expect(await attempt()).toBe(200)

  app.advance(29_999)
  const late = await app.request('POST', PATH, { body: BOB })
  expect(late.headers.get('retry-after')).toBe('1')
  await refused(late, 429, 'login_rate_limited')

  app.advance(1)
  expect(await attempt()).toBe(200)
  expect(await attempt()).toBe(429)
  app.advance(30_000)
  expect(await attempt()).toBe(200)
})

test('refused attempts do not extend the wait', async () => {
  const app = await testApp([login])
  const attempt = async () => (await app.request('POST', PATH, { body: BOB })).status
  for (let n = 0; n < 5; n++) await attempt()

  for (let second = 0; second < 59; second++) {
    app.advance(1000)
    expect(await attempt()).toBe(429)
  }
  app.advance(1000)

  expect(await attempt()).toBe(200)
})

test('malformed, incomplete and failed attempts count like successful ones', async () => {
  const app = await testApp([login], {
    fake: {
      signIn() {
        throw new SshError('bad_credentials', 'no')
      },
    },
  })
  await refused(await app.request('POST', PATH, { body: '{' }), 400, 'invalid_json')
  await refused(await app.request('POST', PATH, { body: '{' }), 400, 'invalid_json')
  await refused(await app.request('POST', PATH, { body: {} }), 400, 'credentials_missing')
  await refused(await app.request('POST', PATH, { body: BOB }), 401, 'bad_credentials')
  await refused(await app.request('POST', PATH, { body: BOB }), 401, 'bad_credentials')

  await refused(await app.request('POST', PATH, { body: '{' }), 429, 'login_rate_limited')

  expect(app.signIns).toHaveLength(2)
  expect(await auditedActions(app.db)).toEqual(['login_failed', 'login_failed', 'login_rate_limited'])
})

test('X-Forwarded-For of an untrusted peer does not evade the limit', async () => {
  const { app, db } = await testApp([login])
  const peer = { address: '198.51.100.4', encrypted: false }
  const attempt = (n: number) => {
    const headers = { 'x-forwarded-for': `203.0.113.${n}` }
    return app.request(PATH, { method: 'POST', headers, body: JSON.stringify(BOB) }, { peer })
  }
  for (let n = 0; n < 5; n++) expect((await attempt(n)).status).toBe(200)

  await refused(await attempt(5), 429, 'login_rate_limited')

  expect(await rows(db, 'SELECT DISTINCT ip FROM sessions')).toEqual([{ ip: '198.51.100.4' }])
})

test('the count holds across instances that share a database', async () => {
  const first = await testApp([login])
  for (let n = 0; n < 5; n++) await first.request('POST', PATH, { body: BOB })
  const { services } = first
  const app = mount([login], { ...services, limiter: createLimiter(first.db, services.clock) })

  await refused(await app.request(PATH, { method: 'POST', body: JSON.stringify(BOB) }), 429, 'login_rate_limited')

  expect(first.signIns).toHaveLength(5)
})
