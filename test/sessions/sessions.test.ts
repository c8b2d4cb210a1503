import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, exportSPKI, importJWK, importPKCS8, SignJWT } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import type { Database } from '../../db/libsql/database.ts'
import { readSigningKeys } from '../../db/signing-keys.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { createSessions } from '../../sessions/sessions.ts'
import { ACCESS_SECONDS, tokenHash } from '../../sessions/tokens.ts'
import { NOW, openMigrated } from '../db/database.ts'
import { bearerOf } from '../bearer.ts'

const BOB = bearerOf({ id: 7, username: 'bob', sid: '3' }, new Date(NOW))
const { log } = createLog({ level: 'silent', write: () => {} })

let db: Database
let now: number

beforeEach(async () => {
  db = await openMigrated()
  now = Date.parse(NOW)
})

function instance({ key = 1, jwtKey, on = db }: { key?: number; jwtKey?: string; on?: Database } = {}) {
  const secrets = createSecrets(Buffer.alloc(32, key))
  return createSessions({ db: on, secrets, clock: () => new Date(now), log, jwtKey, refreshDays: 7 })
}

function newPem(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

async function publicKey() {
  const [row] = await readSigningKeys(db)
  const jwk = z
    .object({ kty: z.string(), n: z.string(), e: z.string(), kid: z.string() })
    .parse(JSON.parse(row?.public_jwk ?? ''))
  return { jwk, kid: row?.kid ?? '' }
}

/** Returns a token with valid claims, signed as the test chooses. */
function forge(claims: Record<string, unknown> = {}) {
  const at = Math.floor(now / 1000)
  return new SignJWT({
    sub: '1',
    username: 'root',
    is_admin: true,
    role: 'admin',
    operates: 'all',
    proven: at,
    enrolling: false,
    sid: '1',
    iss: 'ops-panel',
    aud: 'ops-panel',
    iat: at,
    exp: at + 900,
    jti: 'x',
    ...claims,
  })
}

test('an access token identifies its user, for fifteen minutes, and verifies', async () => {
  const sessions = await instance()

  const token = await sessions.accessToken(BOB)

  const seconds = now / 1000
  expect(decodeJwt(token)).toEqual({
    sub: '7',
    username: 'bob',
    is_admin: false,
    role: 'operator',
    operates: 'all',
    proven: seconds,
    enrolling: false,
    sid: '3',
    iss: 'ops-panel',
    aud: 'ops-panel',
    iat: seconds,
    exp: seconds + ACCESS_SECONDS,
    jti: expect.stringMatching(/^[0-9a-f-]{36}\.[\w-]{22}$/),
  })
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'JWT', kid: (await publicKey()).kid })
  expect(await sessions.verify(token)).toEqual({
    ...BOB,
    targets: 'all',
    credential: 'session',
    expires: seconds + ACCESS_SECONDS,
  })
})

test('an expired token is refused, even if its signature was verified before', async () => {
  const sessions = await instance()
  const cached = await sessions.accessToken(BOB)
  const unseen = await sessions.accessToken(BOB)
  expect(await sessions.verify(cached)).toBeDefined()

  now += ACCESS_SECONDS * 1000 - 1
  expect(await sessions.verify(cached)).toBeDefined()
  now += 1
  expect(await sessions.verify(cached)).toBeUndefined()
  expect(await sessions.verify(unseen)).toBeUndefined()
  expect(await sessions.verify(cached)).toBeUndefined()
})

test('a token without a signature is refused', async () => {
  const sessions = await instance()
  const [, payload] = (await sessions.accessToken(BOB)).split('.')
  const header = (alg: string) => Buffer.from(JSON.stringify({ alg, typ: 'JWT' })).toString('base64url')

  for (const alg of ['none', 'None', 'RS256'])
    expect(await sessions.verify(`${header(alg)}.${payload}.`)).toBeUndefined()
})

test('a token signed with the public key as if it were a shared secret is refused', async () => {
  const sessions = await instance()
  const { jwk, kid } = await publicKey()
  const key = await importJWK(jwk, 'RS256', { extractable: true })
  if (key instanceof Uint8Array) throw new Error('not a public key')

  for (const secret of [await exportSPKI(key), JSON.stringify(jwk), jwk.n]) {
    const token = await forge().setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(Buffer.from(secret))
    expect(await sessions.verify(token)).toBeUndefined()
  }
})

test('a token of another key is refused, whatever key it names or contains', async () => {
  const sessions = await instance()
  const { kid } = await publicKey()
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = z.looseObject({ kty: z.string() }).parse(pair.publicKey.export({ format: 'jwk' }))
  const headers = [{}, { kid }, { kid: 'unknown' }, { kid, jwk }, { jwk }, { jku: 'http://127.0.0.1:1/jwks' }]

  for (const header of headers) {
    const token = await forge()
      .setProtectedHeader({ alg: 'RS256', ...header })
      .sign(pair.privateKey)
    expect(await sessions.verify(token)).toBeUndefined()
  }
})

test('a changed token is refused, wherever it was changed', async () => {
  const sessions = await instance()
  const token = await sessions.accessToken(BOB)
  await sessions.verify(token)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const admin = Buffer.from(JSON.stringify({ ...decodeJwt(token), is_admin: true })).toString('base64url')

  expect(await sessions.verify(`${header}.${admin}.${signature}`)).toBeUndefined()
  for (let at = 0; at < signature.length - 2; at += 7) {
    const other = signature[at] === 'A' ? 'B' : 'A'
    const changed = signature.slice(0, at) + other + signature.slice(at + 1)
    expect(await sessions.verify(`${header}.${payload}.${changed}`)).toBeUndefined()
  }
  for (const text of ['', '.', '..', 'x', `${token}.x`, token.slice(0, -8)]) {
    expect(await sessions.verify(text)).toBeUndefined()
  }
})

test('a refresh token is no access token; it is stored as a hash and lasts as configured', async () => {
  const sessions = await instance()

  const { token, hash, expires } = await sessions.refreshToken(7)

  expect(await sessions.verify(token)).toBeUndefined()
  expect(decodeJwt(token)).toMatchObject({ sub: '7', typ: 'refresh' })
  expect(hash).toBe(tokenHash(token))
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(expires).toEqual(new Date(now + 7 * 86_400_000))
  expect((await sessions.refreshToken(7)).token).not.toBe(token)
})

test.each([
  ['another issuer', { iss: 'other' }],
  ['another audience', { aud: 'other' }],
  ['a refresh token’s audience', { aud: 'ops-panel/refresh' }],
  ['no expiry', { exp: undefined }],
  ['no session', { sid: undefined }],
  ['a subject that is no number', { sub: 'root' }],
  ['an administrator flag that is no boolean', { is_admin: 'yes' }],
])('a token of the service’s own key with %s is refused', async (_, claims) => {
  const pem = newPem()
  const sessions = await instance({ jwtKey: pem })
  const { kid } = decodeProtectedHeader(await sessions.accessToken(BOB))
  const key = await importPKCS8(pem, 'RS256')
  const sign = (more: Record<string, unknown>) =>
    forge(more)
      .setProtectedHeader({ alg: 'RS256', kid: kid ?? '' })
      .sign(key)

  expect(await sessions.verify(await sign({}))).toBeDefined()
  expect(await sessions.verify(await sign(claims))).toBeUndefined()
})

test('instances that share a database and a secret key share the signing key', async () => {
  const one = await instance()
  const two = await instance()

  expect(await two.verify(await one.accessToken(BOB))).toMatchObject({ username: 'bob' })
  expect(await readSigningKeys(db)).toHaveLength(1)
})

test('the private half is not in the database in clear text', async () => {
  const pem = newPem()
  await instance({ jwtKey: pem })

  const stored = JSON.stringify(await readSigningKeys(db))

  expect(stored).not.toContain('PRIVATE KEY')
  const { d } = z.object({ d: z.string() }).parse(createPrivateKey(pem).export({ format: 'jwk' }))
  expect(stored).not.toContain(d)
})

test('a private half that cannot be decrypted stays, a new key signs, and tokens of the old one still verify', async () => {
  const before = await instance({ key: 1 })
  const old = await before.accessToken(BOB)
  now += 60_000

  const after = await instance({ key: 2 })
  const fresh = await after.accessToken(BOB)

  expect(await readSigningKeys(db)).toHaveLength(2)
  expect(decodeProtectedHeader(fresh).kid).not.toBe(decodeProtectedHeader(old).kid)
  expect(await after.verify(old)).toMatchObject({ username: 'bob' })
  expect(await after.verify(fresh)).toMatchObject({ username: 'bob' })

  now += 60_000
  const back = await instance({ key: 1 })
  expect(decodeProtectedHeader(await back.accessToken(BOB)).kid).toBe(decodeProtectedHeader(old).kid)
  expect(await readSigningKeys(db)).toHaveLength(2)
})

test('an instance learns of a key that another one created later', async () => {
  const one = await instance({ key: 1 })
  const two = await instance({ key: 2 })
  const token = await two.accessToken(BOB)

  now += 10_000

  expect(await one.verify(token)).toMatchObject({ username: 'bob' })
})

test('an impossible key id is not looked up; an unknown but possible one never keeps a new key out', async () => {
  let reads = 0
  const counting: Database = {
    ...db,
    query: (row, sql, args) => {
      reads += 1
      return db.query(row, sql, args)
    },
  }
  const sessions = await instance({ on: counting })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const stranger = (kid: string) => forge().setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)
  reads = 0

  expect(await sessions.verify(await stranger('unknown'))).toBeUndefined()
  expect(reads).toBe(0)
  expect(await sessions.verify(await stranger('A'.repeat(43)))).toBeUndefined()
  const fresh = await (await instance({ key: 2 })).accessToken(BOB)
  expect(await sessions.verify(fresh)).toMatchObject({ username: 'bob' })
})

test('PANEL_JWT_KEY signs, identically after each start; tokens of the previous key still verify', async () => {
  const pem = newPem()
  const before = await instance()
  const old = await before.accessToken(BOB)
  now += 1_000

  const one = await instance({ jwtKey: pem })
  const two = await instance({ jwtKey: pem })

  const token = await one.accessToken(BOB)
  expect(decodeProtectedHeader(token).kid).not.toBe(decodeProtectedHeader(old).kid)
  expect(await two.verify(token)).toMatchObject({ username: 'bob' })
  expect(await two.verify(old)).toMatchObject({ username: 'bob' })
  expect(await readSigningKeys(db)).toHaveLength(2)
})

test('a token of this service is recognised without its signature, by every instance and after a restart', async () => {
  const token = await (await instance()).accessToken(BOB)
  const other = await instance()
  const claims = decodeJwt(token)
  const stranger = await forge({ ...claims, jti: `${randomUUID()}.${'A'.repeat(22)}` })
    .setProtectedHeader({ alg: 'HS256', kid: 'x' })
    .sign(Buffer.alloc(32))
  const longer = await forge({ ...claims, exp: Number(claims.exp) + 900 })
    .setProtectedHeader({ alg: 'HS256', kid: 'x' })
    .sign(Buffer.alloc(32))

  expect(other.isPlausible(token)).toBe(true)
  for (const none of [stranger, longer, '', 'a.b.c', `a.${Buffer.from('null').toString('base64url')}.c`])
    expect(other.isPlausible(none)).toBe(false)
  now += ACCESS_SECONDS * 1000
  expect(other.isPlausible(token)).toBe(false)
})
