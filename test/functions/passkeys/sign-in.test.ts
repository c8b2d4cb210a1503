import { expect, test } from 'vitest'
import * as z from 'zod'
import pruneChallenges from '../../../functions/factors/prune-challenges.task.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import me from '../../../functions/auth/me.get.ts'
import beginPasskey from '../../../functions/factors/passkey-options.post.ts'
import { RequestOptions } from '../../../functions/factors/passkey-shapes.ts'
import addPasskey from '../../../functions/factors/passkeys.post.ts'
import isEnabled from '../../../functions/passkeys/sign-in.get.ts'
import beginSignIn from '../../../functions/passkeys/sign-in-options.post.ts'
import signInByPasskey from '../../../functions/passkeys/sign-in.post.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, type FakeHost, testApp } from '../../app.ts'
import { type Claims, createAuthenticator } from '../../authenticator.ts'
import { answered, audited, decoded, refused, rows } from '../answers.ts'
import { type App, askedPasskey, ENV, enrolPasskey, PANEL } from '../factors/passkey-person.ts'
import { answer, givePassword, signedBy, signIn, tokenOf } from '../factors/person.ts'

const ALL = [login, loginAnswers, me, beginPasskey, addPasskey, isEnabled, beginSignIn, signInByPasskey]
const ON = { ...ENV, PANEL_PASSKEY_SIGN_IN: 'on' }
const PATH = '/api/auth/login/passkey'
const MINUTE = 60_000

const Asked = z.object({ challenge: z.string(), options: RequestOptions })

async function ask(app: App, from = '203.0.113.1') {
  return Asked.parse(await answered(await app.request('POST', `${PATH}/options`, { from }), 200))
}

let addresses = 0
function send(app: App, challenge: string, response: unknown): Promise<Response> {
  addresses += 1
  return app.request('POST', PATH, { body: { challenge, response }, from: `198.18.0.${addresses % 250}` })
}

/** Somebody with a passkey. From then on `seen` is the word of the host about the account. */
async function bob({
  env = {},
  fake = {},
  counts = true,
}: {
  env?: Record<string, string>
  fake?: FakeHost
  counts?: boolean
} = {}) {
  const seen: { account(): FakeAccount } = { account: () => ({ uid: 1000, groups: ['bob', 'sudo'] }) }
  const app = await testApp(ALL, {
    env: { ...ON, ...env },
    fake: { signIn: () => ({ uid: 1000, groups: ['bob', 'sudo'] }), inspect: () => seen.account(), ...fake },
  })
  const { authenticator, codes } = await enrolPasskey(app, await signIn(app), {
    authenticator: createAuthenticator({ origin: PANEL, counts }),
  })
  return { app, seen, authenticator, codes }
}

const sessionsByPasskey = (app: App) => rows(app.db, `SELECT user_id FROM sessions WHERE proven_by = 'passkey'`)

test('a passkey signs its owner in without a user name and a password, with the rights that the host tells', async () => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  expect(options).toMatchObject({ rpId: 'panel.example', userVerification: 'required', allowCredentials: [] })

  const response = await send(app, challenge, authenticator.get(options))

  expect(response.headers.get('set-cookie')).toMatch(/^svc_refresh=/)
  const token = await tokenOf(response)
  expect(decoded(token).claims).toMatchObject({ username: 'bob', role: 'admin', enrolling: false })
  await answered(await app.request('GET', '/api/auth/me', { headers: signedBy(token) }), 200)
  expect(await sessionsByPasskey(app)).toEqual([{ user_id: 1 }])
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'login_success',
    username: 'bob',
    details: { by: 'passkey' },
  })
  expect(app.signIns).toEqual(['bob'])
})

test('without PANEL_PASSKEY_SIGN_IN there is no such sign-in', async () => {
  const app = await testApp(ALL, { env: ENV })

  expect(await answered(await app.request('GET', PATH), 200)).toEqual({ enabled: false })
  await refused(await app.request('POST', `${PATH}/options`), 403, 'passkey_sign_in_off')
  const { response } = createAuthenticator({ origin: PANEL }).get({ challenge: 'A', rpId: 'panel.example' })
  const body = { challenge: 'A', response: { id: 'A', rawId: 'A', type: 'public-key', response } }
  await refused(await app.request('POST', PATH, { body }), 403, 'passkey_sign_in_off')
})

test('whether passkeys sign in depends on the name of the panel, too', async () => {
  const named = await testApp(ALL, { env: ON })
  const unnamed = await testApp(ALL, { env: { PANEL_PASSKEY_SIGN_IN: 'on' } })

  expect(await answered(await named.request('GET', PATH), 200)).toEqual({ enabled: true })
  expect(await answered(await unnamed.request('GET', PATH), 200)).toEqual({ enabled: false })
  await refused(await unnamed.request('POST', `${PATH}/options`), 409, 'passkeys_need_name')
})

const GONE: [what: string, seen: FakeAccount, status: number, code: string, reason: string][] = [
  ['is gone', null, 403, 'account_unusable', 'gone'],
  ['is locked', { uid: 1000, groups: ['bob'], localPassword: false }, 403, 'account_unusable', 'locked'],
  ['has expired', { uid: 1000, groups: ['bob'], overdue: 'expired' }, 403, 'account_unusable', 'expired'],
  ['is another one of that name', { uid: 1001, groups: ['bob'] }, 403, 'account_unusable', 'replaced'],
  ['has another name now', { name: 'robert', uid: 1000, groups: ['bob'] }, 403, 'account_unusable', 'name'],
  [
    'must change its password',
    { uid: 1000, groups: ['bob'], overdue: 'password' },
    403,
    'account_kept_out',
    'kept_out',
  ],
  ['has no shell', { uid: 1000, groups: ['bob'], shell: '/usr/sbin/nologin' }, 403, 'account_kept_out', 'kept_out'],
  ['has left its groups', { uid: 1000, groups: ['games'] }, 403, 'not_invited', 'uninvited'],
]

test.each(GONE)('an account that %s does not sign in by passkey', async (_, account, status, code, reason) => {
  const { app, seen, authenticator } = await bob({ env: { PANEL_SIGN_IN_GROUPS: 'bob' } })
  seen.account = () => account
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), status, code)

  expect(await sessionsByPasskey(app)).toEqual([])
  expect(await audited(app.db)).toContainEqual(
    expect.objectContaining({ action: 'login_failed', username: 'bob', details: { factor: 'passkey', reason } }),
  )
})

test.each([
  ['had not when it signed in', 0, 'account_unusable'],
  ['had already when its password was accepted all the same', 1, 'account_kept_out'],
])('an expired account that %s does not sign in by passkey', async (_, keptOut, code) => {
  const { app, seen, authenticator } = await bob()
  await app.db.run('UPDATE users SET shadow_counts = 0, kept_out = ?', [keptOut])
  seen.account = () => ({ uid: 1000, groups: ['bob'], overdue: 'expired' })
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), 403, code)

  expect(await sessionsByPasskey(app)).toEqual([])
})

test('nobody signs in by passkey while the host does not tell, and the challenge stays for a second try', async () => {
  const { app, seen, authenticator } = await bob()
  const { account } = seen
  seen.account = () => {
    throw new SshError('unreachable', 'nobody answers')
  }
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), 503, 'host_silent')
  expect(await sessionsByPasskey(app)).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM factor_locks')).toEqual([])

  seen.account = account
  await tokenOf(await send(app, challenge, authenticator.get(options)))
})

test('nobody signs in by passkey without a service account, whatever PANEL_UNCONFIRMED_ADMINISTRATORS says', async () => {
  const { app, authenticator } = await bob({ env: { PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' } })
  await app.db.run(`DELETE FROM settings WHERE key = 'ssh_username'`)
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), 503, 'host_silent')

  expect(await sessionsByPasskey(app)).toEqual([])
})

test('a barred account does not sign in by passkey', async () => {
  const { app, authenticator } = await bob()
  await app.db.run(`UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z'`)
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), 403, 'account_barred')

  expect(await sessionsByPasskey(app)).toEqual([])
})

test('an account that is barred while the host is asked does not sign in by passkey', async () => {
  const { app, seen, authenticator } = await bob()
  const { account } = seen
  let barring: Promise<number> | undefined
  seen.account = () => {
    barring ??= app.db.run(`UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z' WHERE username = 'bob'`)
    return account()
  }
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options)), 403, 'account_barred')

  expect(await sessionsByPasskey(app)).toEqual([])
  expect(await barring).toBe(1)
})

const elsewhere = createAuthenticator({ origin: PANEL })
const FLAWS: [reason: string, claims: Claims][] = [
  ['origin', { origin: 'https://evil.example' }],
  ['relying_party', { rpId: 'evil.example' }],
  ['challenge', { challenge: 'b3RoZXI' }],
  ['verification', { verified: false }],
  ['signature', { signedBy: elsewhere }],
  ['counter', { counter: 1 }],
  ['unknown_passkey', { id: elsewhere.id }],
  ['other_user', { userHandle: 'b3RoZXI' }],
  ['other_user', { userHandle: null }],
]

test.each(FLAWS)('refused as %s: a sign-in by passkey with %j, without asking the host', async (reason, claims) => {
  const { app, seen, authenticator } = await bob()
  let asked = 0
  seen.account = () => {
    asked += 1
    return { uid: 1000, groups: ['bob'] }
  }
  const { challenge, options } = await ask(app)

  await refused(await send(app, challenge, authenticator.get(options, claims)), 401, 'passkey_refused')

  expect(asked).toBe(0)
  expect(await sessionsByPasskey(app)).toEqual([])
  const username = reason === 'unknown_passkey' ? null : 'bob'
  expect(await audited(app.db)).toContainEqual(
    expect.objectContaining({ action: 'login_failed', username, details: { factor: 'passkey', reason } }),
  )
})

test('five wrong answers end a challenge', async () => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  for (let n = 0; n < 5; n += 1) {
    app.advance(MINUTE / 2)
    await refused(await send(app, challenge, authenticator.get(options, { verified: false })), 401, 'passkey_refused')
  }

  await refused(await send(app, challenge, authenticator.get(options)), 410, 'challenge_over')
})

test('a challenge opens one session, also for two requests at the same time, and expires after five minutes', async () => {
  const { app, authenticator } = await bob({ counts: false })
  const { challenge, options } = await ask(app)
  const assertion = authenticator.get(options)

  const statuses = (await Promise.all([1, 2].map(() => send(app, challenge, assertion)))).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 410])
  await refused(await send(app, challenge, assertion), 410, 'challenge_over')

  const late = await ask(app)
  app.advance(5 * MINUTE)
  await refused(await send(app, late.challenge, authenticator.get(late.options)), 410, 'challenge_over')
  expect(await sessionsByPasskey(app)).toEqual([{ user_id: 1 }])
})

test('ten wrong answers lock the passkeys of their owner, and nobody else’s', async () => {
  const { app, authenticator } = await bob()
  const carol = await enrolPasskey(app, await signIn(app, 'carol'))
  const answer = async (by: typeof authenticator, claims: Claims = {}) => {
    app.advance(MINUTE / 2)
    const { challenge, options } = await ask(app)
    return send(app, challenge, by.get(options, claims))
  }
  for (let n = 0; n < 10; n += 1)
    await refused(await answer(authenticator, { verified: false }), 401, 'passkey_refused')

  await refused(await answer(authenticator), 429, 'factor_locked')
  await tokenOf(await answer(carol.authenticator))
})

test('an address asks for twenty challenges a minute, and answers five times', async () => {
  const { app, authenticator } = await bob()
  const from = '203.0.113.77'
  for (let n = 0; n < 20; n += 1) await ask(app, from)
  await refused(await app.request('POST', `${PATH}/options`, { from }), 429, 'login_rate_limited')

  const { challenge, options } = await ask(app)
  const body = { challenge, response: authenticator.get(options, { id: elsewhere.id }) }
  for (let n = 0; n < 5; n += 1) await refused(await app.request('POST', PATH, { from, body }), 401, 'passkey_refused')
  await refused(await app.request('POST', PATH, { from, body }), 429, 'login_rate_limited')
})

test('a page of another origin neither asks nor answers', async () => {
  const { app, authenticator } = await bob()
  const headers = { origin: 'https://evil.example' }
  const { challenge, options } = await ask(app)

  await refused(await app.request('POST', `${PATH}/options`, { headers }), 403, 'origin_forbidden')
  const body = { challenge, response: authenticator.get(options) }
  await refused(await app.request('POST', PATH, { headers, body }), 403, 'origin_forbidden')
})

test.each([
  ['an answer that is none', {}],
  ['a credential id that is too long', { id: 'A'.repeat(2_000), rawId: 'A'.repeat(2_000) }],
  ['client data that are too long', { response: { clientDataJSON: 'A'.repeat(9_000) } }],
  ['another kind of credential', { type: 'password' }],
])('%s is an invalid request', async (_, wrong) => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  const { response, ...assertion } = authenticator.get(options)
  const more = 'response' in wrong ? { ...response, ...wrong.response } : response

  const body = {
    challenge,
    response: Object.keys(wrong).length === 0 ? {} : { ...assertion, ...wrong, response: more },
  }
  await refused(await app.request('POST', PATH, { body }), 400, 'invalid_request')
})

test('requests of anybody are stored nowhere until they are answered, so that a flood pushes none out', async () => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  for (let n = 0; n < 30; n += 1) await ask(app, `203.0.113.${n + 2}`)
  expect(await rows(app.db, `SELECT purpose FROM factor_challenges WHERE purpose <> 'passkey'`)).toEqual([])

  await tokenOf(await send(app, challenge, authenticator.get(options)))
})

test('half an hour of wrong answers stores one row for each that the limit of an address lets through, and two hours later none', async () => {
  const { app, authenticator } = await bob()
  await app.db.run('DELETE FROM factor_challenges')
  const from = '203.0.113.77'
  let asked = 0
  const counted = { wrong: 0, late: 0 }
  for (let minute = 0; minute < 30; minute += 1) {
    for (let n = 0; n < 25; n += 1) {
      const begun = await app.request('POST', `${PATH}/options`, { from })
      if (begun.status === 429) continue
      asked += 1
      const { challenge, options } = Asked.parse(await answered(begun, 200))
      const body = { challenge, response: authenticator.get(options, { id: elsewhere.id }) }
      const { status } = await app.request('POST', PATH, { from, body })
      if (status === 401) counted.wrong += 1
      else if (status === 429) counted.late += 1
    }
    app.advance(MINUTE)
    await pruneChallenges.run(app.services)
  }
  const stored = () => rows(app.db, 'SELECT purpose, answers FROM factor_challenges')

  expect(asked).toBe(30 * 20)
  expect(counted).toEqual({ wrong: 30 * 5, late: 30 * 15 })
  expect(await stored()).toEqual(Array(30 * 5).fill({ purpose: 'passkey_sign_in', answers: 1 }))

  app.advance(125 * MINUTE)
  await pruneChallenges.run(app.services)
  expect(await stored()).toEqual([])
})

test('a used challenge is refused in any spelling, and so is one that was changed, or sealed by another key', async () => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  const assertion = authenticator.get(options)
  await tokenOf(await send(app, challenge, assertion))

  const data = JSON.stringify({ nonce: 'x', expires: '2099-01-01T00:00:00.000Z', data: {} })
  const foreign = createSecrets(Buffer.alloc(32, 9)).seal('challenge passkey_sign_in', data)
  const changed = `${challenge.slice(0, 40)}${challenge[40] === 'A' ? 'B' : 'A'}${challenge.slice(41)}`
  for (const spelt of [challenge, `${challenge}=`, ` ${challenge}`, `${challenge}.x`, changed, foreign])
    await refused(await send(app, spelt, assertion), 410, 'challenge_over')
  const sealed = app.secrets.seal('challenge oidc', data)
  await refused(await send(app, sealed, assertion), 410, 'challenge_over')
})

test('a used challenge stays used for an instance whose clock is behind the one that removes old ones', async () => {
  const { app, authenticator } = await bob()
  const { challenge, options } = await ask(app)
  const assertion = authenticator.get(options)
  await tokenOf(await send(app, challenge, assertion))

  app.advance(3_600_000)
  await pruneChallenges.run(app.services)
  app.advance(-3_600_000)

  await refused(await send(app, challenge, assertion), 410, 'challenge_over')
})

test('somebody who knows only the id of a passkey locks its owner out of no other factor', async () => {
  const { app, authenticator, codes } = await bob()
  const wrong = createAuthenticator({ origin: PANEL })
  for (let n = 0; n < 5; n += 1) {
    const { challenge, options } = await ask(app, `203.0.113.${n + 2}`)
    const assertion = { ...wrong.get(options), id: authenticator.id, rawId: authenticator.id }
    await refused(await send(app, challenge, assertion), 401, 'passkey_refused')
  }
  const { challenge, options } = await ask(app)
  await refused(await send(app, challenge, authenticator.get(options)), 429, 'factor_locked')

  const asked = await askedPasskey(await givePassword(app, 'bob'))
  await tokenOf(await answer(app, asked.challenge, codes[0] ?? '', 'recovery'))
})
