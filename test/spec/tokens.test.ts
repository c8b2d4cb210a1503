import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { answered, refused } from '../functions/answers.ts'
import { DAY_MS, startPanel } from './client.ts'

const panel = await startPanel()

const KEYS = '/.well-known/jwks.json'
const Keys = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })
const keySet = createRemoteJWKSet(new URL(`${panel.url}${KEYS}`))

const me = (token: string) => panel.send('GET', '/api/auth/me', { token })
const kids = async () => Keys.parse(await answered(await panel.send('GET', KEYS), 200)).keys.map(({ kid }) => kid)

test('authentication 2: the access token is a JWT signed with RS256, and its header names the key', async () => {
  const { token } = await panel.login(panel.freshName())

  const { alg, kid } = decodeProtectedHeader(token)

  expect(alg).toBe('RS256')
  expect(await kids()).toContain(kid)
})

test('authentication 2: claims carry the user id, the username and is_admin; contract: and sid, iat, exp, iss, aud, jti; updates.md: and the role', async () => {
  const { id, username, sid, token } = await panel.login(panel.freshName())

  expect(decodeJwt(token)).toEqual({
    sub: String(id),
    username,
    is_admin: false,
    role: 'operator',
    operates: 'all',
    proven: expect.any(Number),
    enrolling: false,
    sid: String(sid),
    iat: expect.any(Number),
    exp: expect.any(Number),
    iss: expect.any(String),
    aud: expect.any(String),
    jti: expect.any(String),
  })
})

test('authentication 2: is_admin is the claim of an administrator', async () => {
  expect(decodeJwt((await panel.login('demo')).token)).toMatchObject({ username: 'demo', is_admin: true })
})

test('authentication 2: its lifetime is 15 minutes', async () => {
  const before = Math.floor(Date.now() / 1000)

  const { iat = 0, exp = 0 } = decodeJwt((await panel.login('guest')).token)

  expect(exp - iat).toBe(900)
  expect(iat).toBeGreaterThanOrEqual(before)
  expect(iat).toBeLessThanOrEqual(Date.now() / 1000)
})

test('contract: no two tokens have the same jti, whether of login or of refresh', async () => {
  const { token, cookie } = await panel.login('guest')
  const again = await panel.login('guest')
  const refreshed = z
    .object({ access_token: z.string() })
    .parse(await answered(await panel.send('POST', '/api/auth/refresh', { cookie }), 200))

  const all = [token, cookie, again.token, again.cookie, refreshed.access_token].map((text) => decodeJwt(text).jti)

  expect(new Set(all).size).toBe(5)
})

test('contract: the refresh token is a JWT of its own type, of 7 days', async () => {
  const { id, cookie } = await panel.login(panel.freshName())

  const { sub, typ, iat = 0, exp = 0 } = decodeJwt(cookie)

  expect({ sub, typ }).toEqual({ sub: String(id), typ: 'refresh' })
  expect(exp - iat).toBe((7 * DAY_MS) / 1000)
})

test('contract: /.well-known/jwks.json verifies an access token', async () => {
  const { id, username, token } = await panel.login(panel.freshName())

  const { payload, protectedHeader } = await jwtVerify(token, keySet, { algorithms: ['RS256'] })

  expect(payload).toMatchObject({ sub: String(id), username })
  expect(protectedHeader.alg).toBe('RS256')
})

test('contract: /.well-known/jwks.json does not verify a changed token', async () => {
  const { token } = await panel.login('guest')
  const [header, , signature] = token.split('.')
  const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), is_admin: true })).toString('base64url')
  const changed = `${header}.${claims}.${signature}`

  await expect(jwtVerify(changed, keySet)).rejects.toThrow(/signature/)
  await refused(await me(changed), 401, 'unauthenticated')
})

test('contract: the key set contains only public halves, and needs no token', async () => {
  const { keys } = Keys.parse(await answered(await panel.send('GET', KEYS), 200))

  expect(keys).toHaveLength(1)
  for (const key of keys) {
    expect(key).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig' })
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  }
})

test('contract: the private half of the signing key is not in the database in clear text', async () => {
  const rows = await panel.db.query(z.object({ private_sealed: z.string() }), 'SELECT private_sealed FROM signing_keys')

  expect(rows).toHaveLength(1)
  for (const { private_sealed } of rows) expect(private_sealed).not.toMatch(/PRIVATE KEY|"d"/)
})

test('contract: a refresh token is no access token', async () => {
  const { cookie, token } = await panel.login('guest')

  await refused(await me(cookie), 401, 'unauthenticated')
  expect((await me(token)).status).toBe(200)
})

test('contract: an access token is no refresh token', async () => {
  const { token } = await panel.login('guest')

  await refused(await panel.send('POST', '/api/auth/refresh', { cookie: token }), 401, 'refresh_invalid')
})

test('contract: a token with the service’s key id but signed with a shared secret is refused', async () => {
  const { token } = await panel.login('guest')
  const [kid = ''] = await kids()
  const claims = { ...decodeJwt(token), is_admin: true }
  const key = new TextEncoder().encode(JSON.stringify(await answered(await panel.send('GET', KEYS), 200)))

  await refused(
    await me(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(key)),
    401,
    'unauthenticated',
  )
  const none = Buffer.from(JSON.stringify({ alg: 'none', kid })).toString('base64url')
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  await refused(await me(`${none}.${body}.`), 401, 'unauthenticated')
})

test('contract: the scheme of the Authorization header is Bearer, case-insensitive', async () => {
  const { token } = await panel.login('guest')
  const status = async (authorization: string) =>
    (await panel.send('GET', '/api/auth/me', { headers: { authorization } })).status

  expect(await status(`bearer ${token}`)).toBe(200)
  expect(await status(token)).toBe(401)
  expect(await status(`Token ${token}`)).toBe(401)
})

test('contract: a token of one instance is valid at another one of the same database', async () => {
  const { token, cookie } = await panel.login('guest')

  const other = await startPanel({ beside: panel }, onTestFinished)

  expect((await other.send('GET', '/api/auth/me', { token })).status).toBe(200)
  expect((await other.send('POST', '/api/auth/refresh', { cookie })).status).toBe(200)
  expect(Keys.parse(await answered(await other.send('GET', KEYS), 200)).keys.map(({ kid }) => kid)).toEqual(
    await kids(),
  )
})
