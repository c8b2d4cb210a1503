import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { selfSigned } from './certificate.ts'
import { cookieOf, newAddress, type Panel, parseCookie, startPanel } from './client.ts'

const panel = await startPanel()

const LOGIN = '/api/auth/login'
const LOGOUT = '/api/auth/logout'

/** The service with its own certificate. */
async function startTls(): Promise<Panel> {
  const folder = await temporaryFolder()
  const { cert, key } = selfSigned()
  const env = { PANEL_TLS_CERT: join(folder, 'cert.pem'), PANEL_TLS_KEY: join(folder, 'key.pem') }
  await writeFile(env.PANEL_TLS_CERT, cert)
  await writeFile(env.PANEL_TLS_KEY, key)
  return startPanel({ env, beside: { demo: panel.demo, folder } }, onTestFinished)
}

/** Sends a POST over TLS without verifying the certificate. */
function post(url: string, body: object | undefined, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; cookies: string[] }>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode, cookies: response.headers['set-cookie'] ?? [] }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

const GUEST = { username: 'guest', password: 'guest' }

test('cookie table, Name: svc_refresh', async () => {
  expect(cookieOf(await panel.attempt('guest', 'guest')).name).toBe('svc_refresh')
})

test('cookie table, Value: the refresh token, whose SHA-256 the session holds', async () => {
  const username = panel.freshName()

  const { value } = cookieOf(await panel.attempt(username, username))

  const [session] = await panel.sessionsOf(username)
  expect(session?.token_hash).toBe(createHash('sha256').update(value).digest('hex'))
})

test('cookie table, Path: /api/auth/, which covers every endpoint that reads the cookie', async () => {
  const { attributes } = cookieOf(await panel.attempt('guest', 'guest'))

  expect(attributes.path).toBe('/api/auth/')
  for (const path of [LOGOUT, '/api/auth/refresh', '/api/auth/sessions'])
    expect(path.startsWith(attributes.path ?? 'none')).toBe(true)
})

test('cookie table, HttpOnly: yes', async () => {
  expect(cookieOf(await panel.attempt('guest', 'guest')).attributes).toHaveProperty('httponly', '')
})

test('cookie table, SameSite: Strict', async () => {
  expect(cookieOf(await panel.attempt('guest', 'guest')).attributes.samesite).toBe('Strict')
})

test('cookie table, Expires: the session’s expires_at, and the token’s', async () => {
  const username = panel.freshName()

  const { value, attributes } = cookieOf(await panel.attempt(username, username))

  const [session] = await panel.sessionsOf(username)
  expect(attributes.expires).toMatch(/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/)
  expect(Date.parse(attributes.expires ?? '')).toBe(Date.parse(session?.expires_at ?? ''))
  expect(decodeJwt(value).exp).toBe(Date.parse(session?.expires_at ?? '') / 1000)
})

test('cookie table: there are no other attributes (no Domain, which would widen it, and no Max-Age)', async () => {
  const { attributes } = cookieOf(await panel.attempt('guest', 'guest'))

  expect(Object.keys(attributes).sort()).toEqual(['expires', 'httponly', 'path', 'samesite'])
})

test.each([
  ['without TLS and without X-Forwarded-Proto', undefined, false],
  ['with X-Forwarded-Proto: https', 'https', true],
  ['with X-Forwarded-Proto: http', 'http', false],
])('cookie table, Secure: %s', async (_, proto, secure) => {
  const headers: Record<string, string> = proto === undefined ? {} : { 'x-forwarded-proto': proto }

  const set = cookieOf(await panel.attempt('guest', 'guest', { headers }))
  const cleared = cookieOf(await panel.send('POST', LOGOUT, { headers }))

  expect('secure' in set.attributes).toBe(secure)
  expect('secure' in cleared.attributes).toBe(secure)
})

test('cookie table, Secure, contract: X-Forwarded-Proto counts from any sender', async () => {
  const alone = await startPanel(
    { env: { PANEL_TRUSTED_PROXIES: '' }, beside: { demo: panel.demo, folder: await temporaryFolder() } },
    onTestFinished,
  )

  const { attributes } = cookieOf(await alone.attempt('guest', 'guest', { headers: { 'x-forwarded-proto': 'https' } }))

  expect(attributes).toHaveProperty('secure', '')
})

test('cookie table, Secure: yes when the connection is TLS, whatever X-Forwarded-Proto says', async () => {
  const { url } = await startTls()
  expect(url).toMatch(/^https:/)

  for (const headers of [{}, { 'x-forwarded-proto': 'http' }]) {
    const { status, cookies } = await post(`${url}${LOGIN}`, GUEST, headers)
    expect(status).toBe(200)
    const { name, value, attributes } = parseCookie(cookies)
    expect(name).toBe('svc_refresh')
    expect(value).not.toBe('')
    expect(attributes).toMatchObject({ secure: '', httponly: '', samesite: 'Strict', path: '/api/auth/' })
  }
})

test('cookie, cleared over TLS: Secure too', async () => {
  const { url } = await startTls()

  const { status, cookies } = await post(`${url}${LOGOUT}`, undefined)

  expect(status).toBe(200)
  const { value, attributes } = parseCookie(cookies)
  expect(value).toBe('')
  expect(attributes).toMatchObject({ secure: '', 'max-age': '-1' })
})

test('cookie, clearing: an empty value, the same Path, HttpOnly, an expiry at the epoch and Max-Age -1', async () => {
  const { token, cookie, from } = await panel.login('guest')

  const { name, value, attributes } = cookieOf(await panel.send('POST', LOGOUT, { token, cookie, from }))

  expect({ name, value }).toEqual({ name: 'svc_refresh', value: '' })
  expect(attributes).toEqual({
    path: '/api/auth/',
    httponly: '',
    samesite: 'Strict',
    expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
    'max-age': '-1',
  })
})

test('cookie: only login and logout set it; no other answer to a signed-in caller does', async () => {
  const { token, cookie } = await panel.login(panel.freshName())

  const answers = [
    await panel.send('POST', '/api/auth/refresh', { cookie }),
    await panel.send('GET', '/api/auth/me', { token, cookie }),
    await panel.send('PATCH', '/api/auth/preferences', { token, cookie, body: { theme: 'light' } }),
    await panel.send('GET', '/api/auth/sessions', { token, cookie }),
    await panel.send('GET', '/api/health', { token, cookie }),
    await panel.send('GET', '/.well-known/jwks.json', { cookie }),
    await panel.send('GET', '/api/updates/history', { token, cookie }),
  ]

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toEqual([])
})

test('cookie: a refused login neither sets nor clears it, even if the request has one', async () => {
  const from = newAddress()
  const { cookie } = await panel.login('guest')

  const answers = [
    await panel.send('POST', LOGIN, { from, cookie, body: '{' }),
    await panel.attempt('', '', { from, cookie }),
    await panel.attempt('guest', 'wrong', { from, cookie }),
    await panel.withSetting('ssh_host', '', () => panel.attempt('guest', 'guest', { from, cookie })),
    await panel.without('users', () => panel.attempt('guest', 'guest', { from, cookie })),
    await panel.attempt('guest', 'guest', { from, cookie }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 401, 503, 500, 429])
  expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toEqual([])
})
