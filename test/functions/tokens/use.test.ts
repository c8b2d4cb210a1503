import { expect, test } from 'vitest'
import * as z from 'zod'
import logout from '../../../functions/auth/logout.post.ts'
import preferences from '../../../functions/auth/preferences.patch.ts'
import sessions from '../../../functions/auth/sessions.get.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import run from '../../../functions/runs/run.post.ts'
import setSettings from '../../../functions/settings/settings.patch.ts'
import { defineFunction } from '../../../functions/services.ts'
import settings from '../../../functions/settings/settings.get.ts'
import { SshError } from '../../../ssh/connection.ts'
import type { FakeAccount } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { meStatus, storedSessions } from '../auth/client.ts'
import { ADMIN, expectRefused, OPERATOR, startWithOwners, VIEWER, WEB } from './owner.ts'

const MINUTE = 60_000

test('a token acts for its owner, with the lesser of both rights', async () => {
  const { signedIn, meOf } = await startWithOwners()
  const [alice, web] = [await signedIn('alice'), await signedIn('webmaster', WEB)]

  expect(await meOf((await alice.make({ role: 'viewer' })).token)).toEqual({ username: 'alice', role: 'viewer' })
  expect(await meOf((await alice.make({ role: 'operator', targets: ['host'] })).token)).toEqual({
    username: 'alice',
    role: 'operator',
    operates: ['host'],
  })
  expect(await meOf((await alice.make({ role: 'admin' })).token)).toEqual({ username: 'alice', role: 'admin' })
  expect(await meOf((await web.make({ role: 'operator', targets: ['lxc:102'] })).token)).toMatchObject({
    role: 'operator',
    operates: ['lxc:102'],
  })
})

test('the role and the targets of a token decide at real endpoints', async () => {
  const { signedIn, use } = await startWithOwners([settings, setSettings, startChecks, run])
  const alice = await signedIn('alice')
  const viewer = (await alice.make()).token
  const bound = (await alice.make({ role: 'operator', targets: ['lxc:101'] })).token
  const boundAdmin = (await alice.make({ role: 'admin', targets: ['lxc:101'] })).token
  const admin = (await alice.make({ role: 'admin' })).token
  const post = (target: string) => ({ method: 'POST', body: { target } })

  await refused(await use(viewer, '/api/updates/checks', post('lxc:101')), 403, 'forbidden')
  await refused(await use(bound, '/api/updates/checks', post('host')), 403, 'target_forbidden')
  await refused(await use(bound, '/api/updates/checks', post('all')), 403, 'target_forbidden')
  await refused(await use(bound, '/api/updates/run', post('lxc:102')), 403, 'target_forbidden')
  expect((await use(bound, '/api/updates/checks', post('lxc:101'))).status).toBe(202)
  await refused(await use(boundAdmin, '/api/settings'), 403, 'target_forbidden')
  expect((await use(admin, '/api/settings')).status).toBe(200)
  await refused(await use(admin, '/api/settings', { method: 'PATCH', body: {} }), 403, 'forbidden')
})

test('rights that the owner loses or gains reach a token within 15 minutes, and within ten seconds once they are stored', async () => {
  const { signedIn, meOf, say, advance, asked, db } = await startWithOwners()
  const alice = await signedIn('alice')
  const { token } = await alice.make({ role: 'admin' })
  expect(await meOf(token)).toMatchObject({ role: 'admin' })
  asked.length = 0

  say('alice', VIEWER)
  advance(13 * MINUTE)
  expect(await meOf(token)).toMatchObject({ role: 'admin' })
  expect(asked).toEqual([])
  advance(MINUTE)
  expect(await meOf(token)).toEqual({ username: 'alice', role: 'viewer' })
  expect(asked).toEqual(['alice'])
  say('alice', ADMIN)
  advance(14 * MINUTE)
  expect(await meOf(token)).toMatchObject({ role: 'admin' })

  await db.run('UPDATE users SET is_admin = 0, operates = ? WHERE id > 0', ['["host"]'])
  advance(10_000)
  expect(await meOf(token)).toMatchObject({ role: 'operator', operates: ['host'] })
})

test('a token is listed with the role that is left of it', async () => {
  const { signedIn, say, advance, db } = await startWithOwners()
  const alice = await signedIn('alice')
  await alice.make({ role: 'admin', expires_in_days: 1 })
  const Roles = z.array(z.object({ role: z.string(), effective_role: z.string().nullable() }))
  const roles = async (client: Pick<typeof alice, 'send'>) =>
    Roles.parse(await answered(await client.send('GET', '/api/auth/tokens'), 200))

  say('alice', OPERATOR)
  const again = await signedIn('alice', OPERATOR)
  expect(await roles(again)).toEqual([{ role: 'admin', effective_role: 'operator' }])
  await db.run('UPDATE users SET kept_out = 1 WHERE id > 0')
  expect(await roles(again)).toEqual([{ role: 'admin', effective_role: 'viewer' }])
  advance(86_400_000)
  expect(await roles(await signedIn('alice'))).toEqual([{ role: 'admin', effective_role: null }])
})

test.each<[string, FakeAccount, string]>([
  ['is gone', null, 'gone'],
  ['is another account', { uid: 2000, groups: ['admins'] }, 'replaced'],
  ['is locked', { uid: 1000, groups: ['admins'], localPassword: false }, 'locked'],
  ['is in no admitted group any more', { uid: 1000, groups: ['others'] }, 'uninvited'],
])('a token whose owner %s is refused within 15 minutes, and the owner’s sessions end', async (_, word, reason) => {
  const { signedIn, use, say, advance, db, app } = await startWithOwners()
  const alice = await signedIn('alice')
  const { token } = await alice.make({ role: 'admin' })
  const witness = (await (await signedIn('bob')).make()).token

  say('alice', word)
  advance(14 * MINUTE)
  await expectRefused(await use(token))

  expect(await meStatus(app, alice)).toBe(401)
  expect((await audited(db)).filter(({ action }) => action === 'account_ended')).toMatchObject([
    { target: 'alice', details: { reason } },
  ])
  // Also for an instance that knows nothing of it but what is stored.
  expect(await rows(db, `SELECT rights_at FROM users WHERE username = 'alice'`)).toEqual([{ rights_at: null }])
  expect((await use(witness)).status).toBe(200)
})

test('a refused owner is asked about once a minute, and accepted again once the host confirms the account', async () => {
  const { signedIn, use, say, advance, asked } = await startWithOwners()
  const { token } = await (await signedIn('alice')).make()
  say('alice', null)
  advance(14 * MINUTE)
  asked.length = 0

  for (let n = 0; n < 6; n += 1) {
    await expectRefused(await use(token))
    advance(9_000)
  }
  expect(asked).toEqual(['alice'])

  say('alice', ADMIN)
  advance(MINUTE)
  expect((await use(token)).status).toBe(200)
})

test('while the host is silent, a token keeps only rights that need no confirmation, and the host is asked once a minute', async () => {
  const { signedIn, meOf, say, advance, asked } = await startWithOwners()
  const { token } = await (await signedIn('alice')).make({ role: 'admin' })
  say('alice', new SshError('unreachable', 'gone'))
  advance(14 * MINUTE)
  asked.length = 0

  expect(await meOf(token)).toMatchObject({ role: 'viewer' })
  advance(30_000)
  expect(await meOf(token)).toMatchObject({ role: 'viewer' })
  expect(asked).toEqual(['alice'])

  say('alice', ADMIN)
  advance(30_000)
  expect(await meOf(token)).toMatchObject({ role: 'admin' })
})

test('the tokens of an account that is replaced are not those of the next one', async () => {
  const { signedIn, use, db } = await startWithOwners()
  const alice = await signedIn('alice')
  const { token } = await alice.make({ role: 'admin' })
  await alice.send('DELETE', `/api/auth/sessions/${alice.sid}`)

  await signedIn('alice', { uid: 2000, groups: ['admins'] })

  await expectRefused(await use(token))
  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([])
  expect((await audited(db)).filter(({ action }) => action === 'account_ended')).toHaveLength(1)
})

test('the sockets of the tokens of an account that is replaced close with its sessions', async () => {
  const { signedIn, services } = await startWithOwners()
  const [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
  const closed: string[] = []
  for (const { id } of [await alice.make(), await alice.make(), await bob.make()])
    services.sessions.onEnd(`token:${id}`, () => closed.push(`token:${id}`))

  await signedIn('alice', { uid: 2000, groups: ['admins'] })

  expect(closed.sort()).toEqual(['token:1', 'token:2'])
})

test('a token is refused from the moment it expires, is revoked, or its owner is barred', async () => {
  const { signedIn, use, advance, db, services } = await startWithOwners()
  const alice = await signedIn('alice')
  const short = (await alice.make({ expires_at: '2026-03-01T12:00:05.000Z' })).token
  const revoked = await alice.make()
  const kept = await alice.make()
  for (const token of [short, revoked.token, kept.token]) expect((await use(token)).status).toBe(200)

  await alice.send('DELETE', `/api/auth/tokens/${revoked.id}`)
  await expectRefused(await use(revoked.token))
  advance(4_999)
  expect((await use(short)).status).toBe(200)
  advance(1)
  await expectRefused(await use(short))

  await db.run('UPDATE users SET barred_at = ? WHERE id > 0', ['2026-03-01T12:00:05.000Z'])
  await services.sessions.endTokens({ userId: alice.userId })
  await expectRefused(await use(kept.token))
})

test('logging out with a token ends nothing, and a token has no preferences or sessions', async () => {
  const { signedIn, use, app } = await startWithOwners([logout, preferences, sessions])
  const alice = await signedIn('alice')
  const { token } = await alice.make({ role: 'admin' })

  expect((await use(token, '/api/auth/logout', { method: 'POST' })).status).toBe(200)
  expect(await storedSessions(app)).toHaveLength(1)
  expect((await use(token)).status).toBe(200)
  await refused(await use(token, '/api/auth/sessions'), 403, 'forbidden')
  await refused(
    await use(token, '/api/auth/preferences', { method: 'PATCH', body: { theme: 'light' } }),
    403,
    'forbidden',
  )
})

test('the last use is noted at most once a minute, and when the address changes', async () => {
  const { signedIn, use, advance, db } = await startWithOwners()
  const { token } = await (await signedIn('alice')).make()
  const noted = async () => (await rows(db, 'SELECT last_used_at, last_ip FROM api_tokens'))[0]
  const from = (address: string) => use(token, '/api/auth/me', { from: address })

  await from('192.0.2.1')
  await expect.poll(noted).toEqual({ last_used_at: '2026-03-01T12:00:00.000Z', last_ip: '192.0.2.1' })
  advance(59_999)
  await from('192.0.2.1')
  expect(await noted()).toMatchObject({ last_used_at: '2026-03-01T12:00:00.000Z' })
  await from('192.0.2.2')
  await expect.poll(noted).toEqual({ last_used_at: '2026-03-01T12:00:59.999Z', last_ip: '192.0.2.2' })
  advance(60_000)
  await from('192.0.2.2')
  await expect.poll(noted).toMatchObject({ last_used_at: '2026-03-01T12:01:59.999Z' })
})

test('what a token does is audited as its owner’s, with the token', async () => {
  const { signedIn, use, db } = await startWithOwners([startChecks])
  const { id, token } = await (await signedIn('alice')).make({ role: 'operator' })

  await answered(await use(token, '/api/updates/checks', { method: 'POST', body: { target: 'host' } }), 202)

  expect((await audited(db)).at(-1)).toMatchObject({
    action: 'check_start',
    username: 'alice',
    details: { credential: `token:${id}` },
  })
})

test('a verified token costs no query for ten seconds', async () => {
  const { signedIn, services, advance, db } = await startWithOwners()
  const { token } = await (await signedIn('alice')).make()
  const first = await services.sessions.verify(token)
  const original = db.query
  let queries = 0
  db.query = (...asked) => {
    queries += 1
    return original(...asked)
  }

  advance(9_999)
  expect(services.sessions.verify(token)).toBe(first)
  expect(queries).toBe(0)
  advance(1)
  await Promise.all([1, 2, 3].map(() => services.sessions.verify(token)))
  expect(queries).toBe(1)
})

test('invented tokens count against their address; real ones are verified even then', async () => {
  const { signedIn, use } = await startWithOwners()
  const { token } = await (await signedIn('alice')).make()
  const from = '203.0.113.7'
  const invented = (n: number) => `opt_${String(n).padStart(43, 'A')}`
  for (let n = 0; n < 120; n += 1) await expectRefused(await use(invented(n), '/api/auth/me', { from }))

  await refused(await use(invented(120), '/api/auth/me', { from }), 429, 'rate_limited')
  expect((await use(token, '/api/auth/me', { from })).status).toBe(200)
})

test.each([
  'opt_',
  'opt_x',
  `opt_${'A'.repeat(42)}`,
  `opt_${'A'.repeat(44)}`,
  `opt_${'A'.repeat(42)}~`,
  `OPT_${'A'.repeat(43)}`,
])('%s is no token', async (token) => {
  const { use } = await startWithOwners()
  await expectRefused(await use(token))
})

const rare = defineFunction({
  method: 'GET',
  path: '/api/rare',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'user',
  targets: 'none',
  rateLimit: { limit: 4, seconds: 60, by: 'user' },
  response: z.object({}),
  handler: () => ({}),
})

test('programs that use up the limit of a user’s tokens do not lock out the user', async () => {
  const { signedIn, use } = await startWithOwners([rare])
  const alice = await signedIn('alice')
  const tokens = [(await alice.make()).token, (await alice.make()).token]
  for (const token of [...tokens, ...tokens]) expect((await use(token, '/api/rare')).status).toBe(200)

  for (const token of tokens) await refused(await use(token, '/api/rare'), 429, 'rate_limited')
  expect((await alice.send('GET', '/api/rare')).status).toBe(200)
})
