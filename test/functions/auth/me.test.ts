import { generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, decoded, refused } from '../answers.ts'

const PATH = '/api/auth/me'

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('the profile is the token’s user with the stored preferences, without a last login if there was none', async () => {
  const app = await testApp([me])

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual({
    id: 1,
    username: 'bob',
    is_admin: false,
    role: 'operator',
    lang: 'fr',
    theme: 'dark',
    sidebar_position: 'left',
  })
  expect(app.ran).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test('after a login the profile contains its time', async () => {
  const app = await testApp([login, me])
  const body = { username: 'bob', password: 'x' }
  const signedIn = await answered(await app.request('POST', '/api/auth/login', { body }), 200)
  const { access_token } = z.object({ access_token: z.string() }).parse(signedIn)

  const profile = await answered(await app.request('GET', PATH, bearing(access_token)), 200)

  expect(profile).toMatchObject({ username: 'bob', last_login_at: START.toISOString() })
})

test('id, username and flag come from the token, the rest from the storage', async () => {
  const app = await testApp([me])
  const token = await app.tokenFor('admin')
  await app.db.run(`UPDATE users SET username = 'renamed', is_admin = 0, lang = 'en', theme = 'light',
    sidebar_position = 'right', last_login_at = '2026-01-02 03:04:05' WHERE id > 0`)

  expect(await answered(await app.request('GET', PATH, bearing(token)), 200)).toEqual({
    id: 1,
    username: 'alice',
    is_admin: true,
    role: 'admin',
    lang: 'en',
    theme: 'light',
    sidebar_position: 'right',
    last_login_at: '2026-01-02 03:04:05',
  })
})

test('a token is accepted for 900 s, repeatedly', async () => {
  const app = await testApp([me])
  const token = await app.tokenFor('user')
  const unused = await app.tokenFor('user')
  expect((await app.request('GET', PATH, bearing(token))).status).toBe(200)

  app.advance(899_000)
  expect((await app.request('GET', PATH, bearing(token))).status).toBe(200)
  app.advance(1_000)
  await refused(await app.request('GET', PATH, bearing(token)), 401, 'unauthenticated')
  await refused(await app.request('GET', PATH, bearing(unused)), 401, 'unauthenticated')
})

test('the scheme is case-insensitive; any other scheme counts as no token', async () => {
  const app = await testApp([me])
  const token = await app.tokenFor('user')

  expect((await app.request('GET', PATH, { headers: { authorization: `bearer ${token}` } })).status).toBe(200)
  for (const authorization of [token, `Basic ${token}`, `Bearer ${token} more`, 'Bearer ', '']) {
    await refused(await app.request('GET', PATH, { headers: { authorization } }), 401, 'unauthenticated')
  }
})

test('a changed or unsigned token, or one of another key, gives 401', async () => {
  const app = await testApp([me])
  const token = await app.tokenFor('user')
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { header: read, claims } = decoded(token)
  const { kid } = z.object({ kid: z.string() }).parse(read)
  const known = z.record(z.string(), z.unknown()).parse(claims)
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const forged = encode({ ...known, is_admin: true })
  const { privateKey } = await generateKeyPair('RS256')
  const foreign = await new SignJWT(known).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)
  const symmetric = await new SignJWT(known).setProtectedHeader({ alg: 'HS256', kid }).sign(Buffer.alloc(32, 7))

  for (const bad of [
    `${header}.${forged}.${signature}`,
    `${header}.${payload}.`,
    `${encode({ alg: 'none' })}.${forged}.`,
    `${encode({ alg: 'none', kid })}.${forged}.${signature}`,
    foreign,
    symmetric,
  ]) {
    await refused(await app.request('GET', PATH, bearing(bad)), 401, 'unauthenticated')
  }
  expect((await app.request('GET', PATH, bearing(token))).status).toBe(200)
})
