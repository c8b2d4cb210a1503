import { generateKeyPairSync } from 'node:crypto'
import { importPKCS8, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { parseCommandLine, runCommand } from '../../../cli/command-line.ts'
import { readSigningKeys } from '../../../db/signing-keys.ts'
import jwks from '../../../functions/auth/jwks.get.ts'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { commands } from '../../../functions/index.ts'
import { readConfig } from '../../../platform/config.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { type CommandContext, CommandError } from '../../../runtime/command.ts'
import { createSessions } from '../../../sessions/sessions.ts'
import { START, testApp } from '../../app.ts'
import { audited, decoded, rows } from '../answers.ts'
import { type App, type Client, meStatus, refreshStatus, signIn, storedSessions } from './client.ts'
import { bearerOf } from '../../bearer.ts'

const start = () => testApp([login, me, refresh, jwks])

/** No question is asked. */
const never = () => Promise.reject(new Error('a question'))
const NO_PROMPT = { interactive: false, ask: never, askSecret: never, say() {}, startOver() {}, close() {} }

/** Runs a command next to the running service of the test. */
async function type(app: App, line: string, more: Partial<CommandContext> = {}): Promise<string> {
  const { command, typed } = parseCommandLine(commands, line.split(' '))
  const { config, clock, log } = app.services
  const context = { db: app.db, secrets: app.secrets, config, clock, log, prompt: NO_PROMPT, operator: 'operator' }
  return (await runCommand(command, typed, { ...context, ...more })).text
}

/** Starts another instance on the same database. */
const another = ({ services, secrets }: App) =>
  createSessions({ ...services, secrets, jwtKey: undefined, refreshDays: 7 })

const kids = async (app: App) => (await readSigningKeys(app.db)).map(({ kid }) => kid)
const kidOf = (token: string) => z.object({ kid: z.string() }).parse(decoded(token).header).kid
const bearer = ({ token }: Pick<Client, 'token'>) => ({ headers: { authorization: `Bearer ${token}` } })

/** Returns a forged token for an administrator and a session that never existed, signed with a leaked private key. */
async function forged(app: App, kid: string): Promise<string> {
  const row = (await readSigningKeys(app.db)).find((key) => key.kid === kid)
  const key = await importPKCS8(app.secrets.open(`signing_key:${kid}`, row?.private_sealed ?? ''), 'RS256')
  const at = Math.floor(app.services.clock().getTime() / 1000)
  return new SignJWT({
    username: 'root',
    is_admin: true,
    role: 'admin',
    operates: 'all',
    proven: at,
    enrolling: false,
    sid: '4711',
  })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setSubject('1')
    .setIssuer('ops-panel')
    .setAudience('ops-panel')
    .setIssuedAt(at)
    .setExpirationTime(at + 900)
    .setJti('x')
    .sign(key)
}

test('keys list shows the keys, newest first, and marks the signing key', async () => {
  const app = await start()
  const [first = ''] = await kids(app)
  app.advance(1_000)
  await type(app, 'keys rotate')
  const [second = ''] = await kids(app)
  const before = await rows(app.db, 'SELECT * FROM signing_keys')

  expect(await type(app, 'keys list')).toBe(
    `${second}  2026-03-01T12:00:01.000Z  signe\n${first}  ${START.toISOString()}  vérifie`,
  )
  expect(await rows(app.db, 'SELECT * FROM signing_keys')).toEqual(before)
  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['keys_rotated'])
})

test('keys list reports that there is no key', async () => {
  const app = await start()
  await app.db.run('DELETE FROM signing_keys')

  expect(await type(app, 'keys list')).toBe('Aucune clé.')
  expect(await kids(app)).toEqual([])
})

test('a newer key that cannot be decrypted does not sign', async () => {
  const app = await start()
  const [own = ''] = await kids(app)
  app.advance(1_000)
  await createSessions({
    ...app.services,
    secrets: createSecrets(Buffer.alloc(32, 8)),
    jwtKey: undefined,
    refreshDays: 7,
  })

  const lines = (await type(app, 'keys list')).split('\n')

  expect(lines).toEqual([expect.stringMatching(/ vérifie$/), expect.stringMatching(/ signe$/)])
  expect(lines[1]).toContain(own)
})

test('keys rotate adds a key, reports it, and audits the operating system account', async () => {
  const app = await start()
  const [first = ''] = await kids(app)
  const bob = await signIn(app)
  app.advance(1_000)

  const text = await type(app, 'keys rotate')

  const [second = '', ...others] = await kids(app)
  expect(others).toEqual([first])
  expect(text.split('\n')).toEqual([
    `Nouvelle clé de signature : ${second}`,
    'Les services en marche la prennent en moins d’une minute.',
    'Les jetons déjà émis restent valables jusqu’à leur expiration.',
  ])
  expect((await audited(app.db)).slice(1)).toEqual([
    {
      at: '2026-03-01T12:00:01.000Z',
      action: 'keys_rotated',
      user_id: null,
      username: 'operator',
      target: second,
      ip: 'console',
      details: null,
    },
  ])
  expect(await storedSessions(app)).toEqual([bob.sid])
})

test('the database contains the private half of the new key only sealed', async () => {
  const app = await start()

  const text = await type(app, 'keys rotate')

  expect(JSON.stringify([text, await rows(app.db, 'SELECT * FROM signing_keys')])).not.toContain('PRIVATE KEY')
  expect(app.lines().join('\n')).not.toContain('PRIVATE KEY')
})

test('after keys rotate old tokens verify, and a running service signs with the new key within 31 s', async () => {
  const app = await start()
  const bob = await signIn(app)
  const other = await another(app)
  app.advance(1_000)
  await type(app, 'keys rotate')
  const [second] = await kids(app)

  expect([await meStatus(app, bob), await refreshStatus(app, bob)]).toEqual([200, 200])
  app.advance(31_000)

  for (const sessions of [app.services.sessions, other]) {
    const fresh = await sessions.accessToken(
      bearerOf({ id: bob.userId, username: 'bob', isAdmin: false, sid: String(bob.sid) }, START),
    )
    expect(kidOf(fresh)).toBe(second)
    expect(kidOf((await sessions.refreshToken(bob.userId)).token)).toBe(second)
    expect(await sessions.verify(fresh)).toMatchObject({ username: 'bob' })
    expect(await sessions.verify(bob.token)).toMatchObject({ username: 'bob' })
  }
  expect([await meStatus(app, bob), await refreshStatus(app, bob)]).toEqual([200, 200])
})

test('an instance that has not read the new key yet accepts its tokens at once', async () => {
  const app = await start()
  const bob = await signIn(app)
  app.advance(1_000)
  await type(app, 'keys rotate')

  const fresh = await (await another(app)).accessToken(
    bearerOf({ id: bob.userId, username: 'bob', isAdmin: false, sid: '1' }, START),
  )

  expect(kidOf(fresh)).toBe((await kids(app))[0])
  expect((await app.request('GET', '/api/auth/me', bearer({ token: fresh }))).status).toBe(200)
})

test('keys rotate --revoke removes the other keys, ends every session and reports their number', async () => {
  const app = await start()
  const [bob] = [await signIn(app), await signIn(app, 'alice')]
  app.advance(1_000)

  const text = await type(app, 'keys rotate --revoke')

  const [kid, ...others] = await kids(app)
  expect(others).toEqual([])
  expect(kid).not.toBe(kidOf(bob.token))
  expect(text.split('\n')).toEqual([
    `Nouvelle clé de signature : ${kid}`,
    'Les services en marche la prennent en moins d’une minute.',
    'Anciennes clés révoquées : 1. Sessions terminées : 2.',
  ])
  expect(await storedSessions(app)).toEqual([])
  expect((await audited(app.db)).at(-1)).toMatchObject({ username: 'operator', details: { revoked: 1, sessions: 2 } })
})

test('after --revoke every old token and every refresh is refused within 31 s, on all instances', async () => {
  const app = await start()
  const bob = await signIn(app)
  const other = await another(app)
  const stolen = await forged(app, kidOf(bob.token))
  // Both accept it and cache it as verified.
  for (const token of [bob.token, stolen]) {
    expect(await app.services.sessions.verify(token)).toBeDefined()
    expect(await other.verify(token)).toBeDefined()
  }
  const unseen = await forged(app, kidOf(bob.token))
  const ended: string[] = []
  app.services.sessions.onEnd(String(bob.sid), () => ended.push('here'))
  other.onEnd(String(bob.sid), () => ended.push('elsewhere'))
  app.advance(1_000)

  await type(app, 'keys rotate --revoke')
  app.advance(31_000)

  for (const token of [bob.token, stolen, unseen]) {
    expect((await app.request('GET', '/api/auth/me', bearer({ token }))).status).toBe(401)
    expect(await other.verify(token)).toBeUndefined()
  }
  expect(await refreshStatus(app, bob)).toBe(401)
  expect(ended.sort()).toEqual(['elsewhere', 'here'])
})

test('a token is not cached as valid when its key is removed during the verification', async () => {
  const app = await start()
  const bob = await signIn(app)
  const stolen = await Promise.all(Array.from({ length: 3 }, () => forged(app, kidOf(bob.token))))
  app.advance(1_000)
  await type(app, 'keys rotate --revoke')

  const { sessions } = app.services
  await Promise.all([...stolen.map((token) => sessions.verify(token)), sessions.refresh()])

  expect(await Promise.all(stolen.map((token) => sessions.verify(token)))).toEqual(stolen.map(() => undefined))
})

test('a login after --revoke works, with the new key', async () => {
  const app = await start()
  await signIn(app)
  app.advance(1_000)
  await type(app, 'keys rotate --revoke')
  app.advance(31_000)

  const bob = await signIn(app)

  expect(kidOf(bob.token)).toBe((await kids(app))[0])
  expect([await meStatus(app, bob), await refreshStatus(app, bob)]).toEqual([200, 200])
})

const pem = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const signedBy = (app: App, jwtKey: string) =>
  createSessions({ ...app.services, secrets: app.secrets, jwtKey, refreshDays: 7 })
const ROOT = bearerOf({ id: 1, username: 'bob', isAdmin: true, sid: '4711' }, START)

test('a rotated key precedes PANEL_JWT_KEY, known to the console or not, also after a restart', async () => {
  const app = await start()
  const own = pem()
  const service = await signedBy(app, own)
  const before = await service.accessToken(ROOT)
  expect(kidOf(before)).toBe((await kids(app))[0])

  await type(app, 'keys rotate')
  app.advance(31_000)

  const [added] = await kids(app)
  expect(kidOf(await service.accessToken(ROOT))).toBe(added)
  expect(kidOf(await (await signedBy(app, own)).accessToken(ROOT))).toBe(added)
  expect(await service.verify(before)).toMatchObject({ username: 'bob' })
  const config = readConfig({ PANEL_JWT_KEY: own })
  for (const more of [{}, { config }]) expect((await type(app, 'keys list', more)).split('\n')[0]).toMatch(/ signe$/)
})

test.each(['knows of it', 'does not know of it'])(
  'a leaked PANEL_JWT_KEY is worth nothing after --revoke, though services go on with it; the console %s',
  async (knows) => {
    const app = await start()
    const leaked = pem()
    const [one, two] = [await signedBy(app, leaked), await signedBy(app, leaked)]
    const stolen = await one.accessToken(ROOT)
    for (const sessions of [one, two]) expect(await sessions.verify(stolen)).toMatchObject({ username: 'bob' })

    const config = readConfig(knows === 'knows of it' ? { PANEL_JWT_KEY: leaked } : {})
    await type(app, 'keys rotate --revoke', { config })
    app.advance(31_000)

    const restarted = await signedBy(app, leaked)
    const token = await one.accessToken(ROOT)
    expect(await kids(app)).toEqual([kidOf(token)])
    for (const sessions of [one, two, restarted]) {
      expect(await sessions.verify(stolen)).toBeUndefined()
      expect(await sessions.verify(token)).toMatchObject({ username: 'bob' })
    }
    expect(app.lines().filter((line) => line.includes('PANEL_JWT_KEY is revoked'))).toHaveLength(3)
  },
)

test('a login a moment after --revoke stays signed in', async () => {
  const app = await start()
  await signIn(app)
  app.advance(1_001)
  await type(app, 'keys rotate --revoke')

  const bob = await signIn(app)
  app.advance(60_000)

  expect([await meStatus(app, bob), await refreshStatus(app, bob)]).toEqual([200, 200])
})

test('keys list reports that no key can be decrypted', async () => {
  const app = await start()

  const text = await type(app, 'keys list', { secrets: createSecrets(Buffer.alloc(32, 8)) })

  expect(text.split('\n')).toEqual([expect.stringMatching(/ vérifie$/), expect.stringContaining('PANEL_SECRET_KEY')])
})

test('a console whose clock is slow adds the key that signs', async () => {
  const app = await start()
  const clock = () => new Date(app.services.clock().getTime() - 3_600_000)

  await type(app, 'keys rotate', { clock })
  app.advance(31_000)

  expect(kidOf((await signIn(app)).token)).toBe((await kids(app))[0])
})

test('rotation with a PANEL_SECRET_KEY other than the service’s is refused and changes nothing', async () => {
  const app = await start()
  const bob = await signIn(app)
  const before = await kids(app)
  const secrets = createSecrets(Buffer.alloc(32, 8))

  for (const line of ['keys rotate', 'keys rotate --revoke']) {
    const error = await type(app, line, { secrets }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CommandError)
    expect(error).toMatchObject({ message: expect.stringContaining('PANEL_SECRET_KEY') })
  }

  expect(await kids(app)).toEqual(before)
  expect(await storedSessions(app)).toEqual([bob.sid])
  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['login_success'])
})

test('rotation creates the first key when there is none', async () => {
  const app = await start()
  await app.db.run('DELETE FROM signing_keys')

  await type(app, 'keys rotate')

  expect(await kids(app)).toHaveLength(1)
})

test('sessions end signs out one user within 31 s on all instances, and nobody else', async () => {
  const app = await start()
  const [one, two, alice] = [await signIn(app), await signIn(app), await signIn(app, 'alice')]
  const other = await another(app)
  for (const { token } of [one, two, alice]) expect(await other.verify(token)).toBeDefined()

  const text = await type(app, 'sessions end bob')
  app.advance(31_000)

  expect(text).toContain('Sessions de bob terminées : 2.')
  expect(await storedSessions(app)).toEqual([alice.sid])
  for (const client of [one, two]) {
    expect([await meStatus(app, client), await refreshStatus(app, client)]).toEqual([401, 401])
    expect(await other.verify(client.token)).toBeUndefined()
  }
  expect([await meStatus(app, alice), await refreshStatus(app, alice)]).toEqual([200, 200])
  expect(await other.verify(alice.token)).toBeDefined()
  expect((await audited(app.db)).slice(3)).toEqual([
    {
      at: START.toISOString(),
      action: 'sessions_ended',
      user_id: null,
      username: 'operator',
      target: 'bob',
      ip: 'console',
      details: { sessions: 2 },
    },
  ])
})

test('sessions end reports a user without sessions, and refuses an unknown user', async () => {
  const app = await start()
  const bob = await signIn(app)
  await app.db.run('DELETE FROM sessions')

  expect(await type(app, 'sessions end bob')).toBe('bob n’a aucune session.')
  for (const name of ['Bob', '%', `${bob.userId}`]) {
    await expect(type(app, `sessions end ${name}`)).rejects.toThrow(CommandError)
  }

  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['login_success', 'sessions_ended'])
})
