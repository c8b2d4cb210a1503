import { expect, test } from 'vitest'
import stepUp from '../../../functions/access/step-up.post.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import removeFactor from '../../../functions/factors/factor.delete.ts'
import factors from '../../../functions/factors/factors.get.ts'
import beginPasskeyFunction from '../../../functions/factors/passkey-options.post.ts'
import addPasskey from '../../../functions/factors/passkeys.post.ts'
import { testApp } from '../../app.ts'
import { type Cbor, type Claims, createAuthenticator, encoded } from '../../authenticator.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { answerByPasskey, askedPasskey, Begun, beginPasskey, ENV, enrolPasskey, PANEL } from './passkey-person.ts'
import { givePassword, signedBy, signIn, tokenOf } from './person.ts'

const ALL = [login, loginAnswers, beginPasskeyFunction, addPasskey, removeFactor, factors, stepUp]
const OTHER = 'https://evil.example'
const MINUTE = 60_000

async function bobWithPasskey(settings: Parameters<typeof createAuthenticator>[0] = { origin: PANEL }) {
  const app = await testApp(ALL, { env: ENV })
  const token = await signIn(app)
  return { app, token, ...(await enrolPasskey(app, token, { authenticator: createAuthenticator(settings) })) }
}

test('the creation options ask for user verification, no attestation and three algorithms, for the name of the panel', async () => {
  const { app, token, authenticator } = await bobWithPasskey()

  const { challenge, options } = await beginPasskey(app, token)

  expect(challenge).toMatch(/^[\w-]{43}$/)
  expect(options).toEqual({
    rp: { id: 'panel.example', name: 'ops-panel (panel.example)' },
    user: { id: expect.stringMatching(/^[\w-]{22}$/), name: 'bob', displayName: 'bob' },
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: 240_000,
    attestation: 'none',
    excludeCredentials: [{ type: 'public-key', id: authenticator.id, transports: ['internal', 'hybrid'] }],
    authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
  })
})

test('the first passkey comes with recovery codes, the second without, and both are in the list and in the audit log', async () => {
  const app = await testApp(ALL, { env: ENV })
  const token = await signIn(app)

  const first = await enrolPasskey(app, token)
  const second = await enrolPasskey(app, token, { name: 'Clé bleue' })

  expect([first.codes.length, second.codes.length]).toEqual([10, 0])
  expect(
    await answered(await app.request('GET', '/api/auth/factors', { headers: signedBy(token) }), 200),
  ).toMatchObject({
    factors: [
      { id: first.id, kind: 'passkey', name: 'Portable', last_used_at: null },
      { id: second.id, kind: 'passkey', name: 'Clé bleue', last_used_at: null },
    ],
  })
  expect(await audited(app.db)).toContainEqual(
    expect.objectContaining({ action: 'factor_add', username: 'bob', details: { kind: 'passkey', name: 'Clé bleue' } }),
  )
})

test.each(['ES256', 'EdDSA', 'RS256'] as const)(
  'a passkey of %s is the second factor of a sign-in',
  async (algorithm) => {
    const { app, authenticator } = await bobWithPasskey({ origin: PANEL, algorithm })

    const asked = await askedPasskey(await givePassword(app, 'bob'))

    expect(asked.factors).toEqual(['passkey', 'recovery'])
    expect(asked.passkey).toMatchObject({ rpId: 'panel.example', userVerification: 'required' })
    expect(asked.passkey.allowCredentials.map(({ id }) => id)).toEqual([authenticator.id])

    const response = await answerByPasskey(app, asked.challenge, authenticator.get(asked.passkey))

    await tokenOf(response)
    expect(response.headers.get('set-cookie')).toMatch(/^svc_refresh=/)
    expect((await audited(app.db)).at(-1)).toMatchObject({ action: 'login_success', details: { by: 'passkey' } })
    expect(await rows(app.db, `SELECT counter, last_used_at FROM factors`)).toEqual([
      { counter: 2, last_used_at: '2026-03-01T12:00:00.000Z' },
    ])
  },
)

test('a passkey without a counter signs in any number of times', async () => {
  const { app, authenticator } = await bobWithPasskey({ origin: PANEL, counts: false })

  for (let n = 0; n < 3; n += 1) {
    app.advance(MINUTE)
    const { challenge, passkey } = await askedPasskey(await givePassword(app, 'bob'))
    await tokenOf(await answerByPasskey(app, challenge, authenticator.get(passkey)))
  }

  expect(await rows(app.db, 'SELECT counter FROM factors')).toEqual([{ counter: 0 }])
})

const elsewhere = createAuthenticator({ origin: PANEL })
const FLAWS: [flaw: string, what: string, claims: Claims][] = [
  ['origin', 'a page of another origin', { origin: OTHER }],
  ['origin', 'another port of the same host', { origin: `${PANEL}:8443` }],
  ['origin', 'the same host without TLS', { origin: 'http://panel.example' }],
  ['relying_party', 'the name of another panel', { rpId: 'evil.example' }],
  ['challenge', 'another challenge', { challenge: 'b3RoZXI' }],
  ['verification', 'an owner whom the authenticator did not recognize', { verified: false }],
  ['presence', 'nobody there', { present: false }],
  ['framed', 'a page inside of another one', { crossOrigin: true }],
  ['framed', 'a page inside of another one, which is named', { crossOrigin: true, topOrigin: OTHER }],
  ['malformed', 'the answer to creation options', { type: 'webauthn.create' }],
  ['signature', 'a signature of another key', { signedBy: elsewhere }],
  ['counter', 'a counter that was seen before', { counter: 1 }],
  ['counter', 'a counter that is 0 again', { counter: 0 }],
  ['unknown_passkey', 'a passkey that nobody has', { id: elsewhere.id }],
  ['other_user', 'the handle of another user', { userHandle: 'b3RoZXI' }],
]

test.each(FLAWS)(
  'refused as %s: %s; nothing opens, the reason is audited, and the same challenge takes a right answer',
  async (flaw, _, claims) => {
    const { app, authenticator } = await bobWithPasskey()
    const { challenge, passkey } = await askedPasskey(await givePassword(app, 'bob'))
    const before = await rows(app.db, 'SELECT id FROM sessions')

    await refused(await answerByPasskey(app, challenge, authenticator.get(passkey, claims)), 403, 'factor_wrong')

    expect(await rows(app.db, 'SELECT id FROM sessions')).toEqual(before)
    expect(await rows(app.db, 'SELECT counter, last_used_at FROM factors')).toEqual([
      { counter: 1, last_used_at: null },
    ])
    expect(await rows(app.db, 'SELECT answers FROM factor_challenges')).toEqual([{ answers: 1 }])
    expect((await audited(app.db)).at(-1)).toMatchObject({
      action: 'login_failed',
      username: 'bob',
      details: { factor: 'passkey', reason: flaw },
    })
    await tokenOf(await answerByPasskey(app, challenge, authenticator.get(passkey, { counter: 9 })))
  },
)

test('a copy of the authenticator is refused once the original has gone on', async () => {
  const { app, authenticator } = await bobWithPasskey()
  const first = await askedPasskey(await givePassword(app, 'bob'))
  await tokenOf(await answerByPasskey(app, first.challenge, authenticator.get(first.passkey, { counter: 5 })))

  const second = await askedPasskey(await givePassword(app, 'bob'))
  const copied = authenticator.get(second.passkey, { counter: 5 })

  await refused(await answerByPasskey(app, second.challenge, copied), 403, 'factor_wrong')
  expect((await audited(app.db)).at(-1)).toMatchObject({ details: { reason: 'counter' } })
})

test('one answer sent twice at the same time opens one session', async () => {
  const { app, authenticator } = await bobWithPasskey({ origin: PANEL, counts: false })
  const { challenge, passkey } = await askedPasskey(await givePassword(app, 'bob'))
  const assertion = authenticator.get(passkey)

  const responses = await Promise.all([1, 2, 3].map(() => answerByPasskey(app, challenge, assertion)))

  expect(responses.map(({ status }) => status).sort()).toEqual([200, 410, 410])
  expect(await rows(app.db, `SELECT count(*) AS n FROM sessions WHERE proven_by = 'passkey'`)).toEqual([{ n: 1 }])
})

test('an answer is refused when the challenge has expired or was used', async () => {
  const { app, authenticator } = await bobWithPasskey({ origin: PANEL, counts: false })
  const used = await askedPasskey(await givePassword(app, 'bob'))
  const assertion = authenticator.get(used.passkey)
  await tokenOf(await answerByPasskey(app, used.challenge, assertion))
  const expired = await askedPasskey(await givePassword(app, 'bob'))
  app.advance(5 * MINUTE)

  await refused(await answerByPasskey(app, used.challenge, assertion), 410, 'challenge_over')
  await refused(
    await answerByPasskey(app, expired.challenge, authenticator.get(expired.passkey)),
    410,
    'challenge_over',
  )
})

test('a passkey does not answer the challenge of another user', async () => {
  const { app, authenticator } = await bobWithPasskey()
  const carol = await enrolPasskey(app, await signIn(app, 'carol'))
  const { challenge, passkey } = await askedPasskey(await givePassword(app, 'carol'))

  await refused(await answerByPasskey(app, challenge, authenticator.get(passkey)), 403, 'factor_wrong')

  expect((await audited(app.db)).at(-1)).toMatchObject({ username: 'carol', details: { reason: 'other_user' } })
  await tokenOf(await answerByPasskey(app, challenge, carol.authenticator.get(passkey)))
})

test('a passkey proves the user of a session again', async () => {
  const { app, token, authenticator } = await bobWithPasskey()
  app.advance(14 * MINUTE)
  const headers = signedBy(token)
  const { challenge, passkey } = await askedPasskey(
    await app.request('POST', '/api/auth/step-up', { headers, body: {} }),
  )
  const wrong = { challenge, factor: 'passkey', assertion: authenticator.get(passkey, { verified: false }) }
  const right = { challenge, factor: 'passkey', assertion: authenticator.get(passkey) }

  await refused(await app.request('POST', '/api/auth/step-up', { headers, body: wrong }), 403, 'factor_wrong')
  expect(await audited(app.db)).toContainEqual(
    expect.objectContaining({ action: 'step_up_refused', details: { factor: 'passkey', reason: 'verification' } }),
  )
  await tokenOf(await app.request('POST', '/api/auth/step-up', { headers, body: right }))

  expect(await rows(app.db, 'SELECT proven_by FROM sessions')).toEqual([{ proven_by: 'passkey' }])
  await refused(await app.request('POST', '/api/auth/step-up', { headers, body: right }), 410, 'challenge_over')
})

const REFUSED_KEYS: [
  what: string,
  reason: string,
  claims: Parameters<ReturnType<typeof createAuthenticator>['create']>[1],
][] = [
  ['another origin', 'origin', { origin: OTHER }],
  ['another relying party', 'relying_party', { rpId: 'evil.example' }],
  ['another challenge', 'challenge', { challenge: 'b3RoZXI' }],
  ['no user verification', 'verification', { verified: false }],
  ['a page inside of another one', 'framed', { crossOrigin: true }],
  ['an answer to request options', 'malformed', { type: 'webauthn.get' }],
  ['an attestation of a foreign format', 'attestation', { format: 'tpm' }],
  [
    'an attestation with a certificate',
    'attestation',
    { format: 'packed', statement: new Map([['x5c', [Buffer.from('30', 'hex')]]]) },
  ],
  ['an attestation that nothing signs', 'malformed', { format: 'packed' }],
]

test.each(REFUSED_KEYS)('a new passkey is refused with %s, and audited', async (_, reason, claims) => {
  const app = await testApp(ALL, { env: ENV })
  const token = await signIn(app)
  const { challenge, options } = await beginPasskey(app, token)
  const response = createAuthenticator({ origin: PANEL }).create(options, claims)

  const body = { challenge, name: 'Portable', response }
  await refused(
    await app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body }),
    422,
    'passkey_invalid',
  )

  expect(await rows(app.db, 'SELECT * FROM factors')).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM recovery_codes')).toEqual([])
  const details = { kind: 'passkey', name: 'Portable', reason }
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'factor_refused',
    username: 'bob',
    target: 'bob',
    details,
  })
})

const BROKEN: [what: string, object: Buffer][] = [
  ['random bytes', Buffer.from('00ff17', 'hex')],
  ['a number', encoded(7)],
  ['a map without its fields', encoded(new Map([['fmt', 'none']]))],
  ['arrays in arrays, 10,000 deep', Buffer.alloc(10_000, 0x81)],
  ['an array of 4,294,967,295 items that are not there', Buffer.from('9affffffff', 'hex')],
  ['bytes that are cut off', encoded(new Map<string, Cbor>([['authData', Buffer.alloc(37)]])).subarray(0, 20)],
]

test.each(BROKEN)('a new passkey is refused, quickly, with an attestation of %s', async (_, object) => {
  const app = await testApp(ALL, { env: ENV })
  const token = await signIn(app)
  const { challenge, options } = await beginPasskey(app, token)
  const { response, ...credential } = createAuthenticator({ origin: PANEL }).create(options)
  const broken = { ...credential, response: { ...response, attestationObject: object.toString('base64url') } }
  const body = { challenge, name: 'Portable', response: broken }

  const began = performance.now()
  const answer = await app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body })

  await refused(answer, 422, 'passkey_invalid')
  expect(performance.now() - began).toBeLessThan(2_000)
})

test('a passkey is stored once, and for one user', async () => {
  const { app, authenticator } = await bobWithPasskey()
  const token = await signIn(app, 'carol')
  const { challenge, options } = await beginPasskey(app, token)

  const body = { challenge, name: 'Portable', response: authenticator.create(options) }
  await refused(
    await app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body }),
    409,
    'passkey_known',
  )

  expect(await rows(app.db, 'SELECT user_id FROM factors')).toEqual([{ user_id: 1 }])
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'factor_refused',
    username: 'carol',
    details: { reason: 'known' },
  })
})

test('the challenge of a new passkey belongs to the user who asked, and is used once', async () => {
  const app = await testApp(ALL, { env: ENV })
  const [bob, carol] = [await signIn(app), await signIn(app, 'carol')]
  const { challenge, options } = await beginPasskey(app, bob)
  const send = (token: string) => {
    const response = createAuthenticator({ origin: PANEL }).create(options)
    const body = { challenge, name: 'Portable', response }
    return app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body })
  }

  await refused(await send(carol), 410, 'challenge_over')
  const statuses = (await Promise.all([send(bob), send(bob)])).map(({ status }) => status)

  expect(statuses.sort()).toEqual([200, 410])
  expect(await rows(app.db, 'SELECT user_id FROM factors')).toEqual([{ user_id: 1 }])
})

test.each([
  ['by an IPv4 address', { host: '192.0.2.7:8443', 'x-forwarded-proto': 'https' }],
  ['by an IPv6 address', { host: '[2001:db8::7]', 'x-forwarded-proto': 'https' }],
  ['by an address in another notation', { host: '0xC0000207', 'x-forwarded-proto': 'https' }],
  ['without TLS', { host: 'panel.example' }],
  ['by a name that is none', { host: 'panel example', 'x-forwarded-proto': 'https' }],
])('a panel that is opened %s has no passkeys, and says so', async (_, headers) => {
  const app = await testApp(ALL, { env: { PANEL_TRUSTED_PROXIES: '' } })
  const token = await signIn(app)

  await refused(
    await app.request('POST', '/api/auth/factors/passkeys/options', { headers: { ...headers, ...signedBy(token) } }),
    409,
    'passkeys_need_name',
  )
})

test('behind a proxy, the name is that of PANEL_PUBLIC_URL alone', async () => {
  const app = await testApp(ALL)
  const headers = { host: 'panel.example', 'x-forwarded-proto': 'https', ...signedBy(await signIn(app)) }

  await refused(await app.request('POST', '/api/auth/factors/passkeys/options', { headers }), 409, 'passkeys_need_name')
})

test.each([
  ['https://panel.example', { host: 'panel.example', 'x-forwarded-proto': 'https' }],
  ['http://localhost:8080', { host: 'localhost:8080' }],
])('without a proxy, %s is known by the name of the request', async (origin, headers) => {
  const app = await testApp(ALL, { env: { PANEL_TRUSTED_PROXIES: '' } })
  const all = { ...headers, ...signedBy(await signIn(app)) }
  const begun = await app.request('POST', '/api/auth/factors/passkeys/options', { headers: all })
  const { challenge, options } = Begun.parse(await answered(begun, 200))
  const response = createAuthenticator({ origin }).create(options)

  const body = { challenge, name: 'Portable', response }
  await answered(await app.request('POST', '/api/auth/factors/passkeys', { headers: all, body }), 200)
})

test('a page of PANEL_ORIGINS below the same name may use passkeys, one of another name not', async () => {
  const env = { ...ENV, PANEL_ORIGINS: 'https://app.panel.example,https://evil.example' }
  const app = await testApp(ALL, { env })
  const token = await signIn(app)
  await enrolPasskey(app, token, { authenticator: createAuthenticator({ origin: 'https://app.panel.example' }) })
  const { challenge, options } = await beginPasskey(app, token)

  const response = createAuthenticator({ origin: OTHER }).create(options)
  const body = { challenge, name: 'Portable', response }
  await refused(
    await app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body }),
    422,
    'passkey_invalid',
  )
})

test('a passkey of another name of the panel is not offered, and its user is still asked', async () => {
  const { app } = await bobWithPasskey()
  await app.db.run(`UPDATE factors SET rp_id = 'former.example'`)

  const response = await givePassword(app, 'bob')

  expect(await response.json()).toMatchObject({ code: 'factor_required', factors: ['recovery'] })
})

test('passkeys take the place in the list of factors that one-time passwords take: at most ten', async () => {
  const app = await testApp(ALL, { env: ENV })
  const token = await signIn(app)
  for (let n = 0; n < 10; n += 1) await enrolPasskey(app, token, { name: `Clé ${n}` })

  const headers = signedBy(token)
  await refused(await app.request('POST', '/api/auth/factors/passkeys/options', { headers }), 409, 'factors_full')
})

test('ten wrong answers lock passkeys for an hour, and the recovery codes not', async () => {
  const { app, authenticator, codes } = await bobWithPasskey()
  const answer = async (claims: Claims) => {
    app.advance(MINUTE)
    const { challenge, passkey } = await askedPasskey(await givePassword(app, 'bob'))
    return { challenge, response: await answerByPasskey(app, challenge, authenticator.get(passkey, claims)) }
  }
  for (let n = 0; n < 10; n += 1) await refused((await answer({ verified: false })).response, 403, 'factor_wrong')

  const { challenge, response } = await answer({})
  await refused(response, 429, 'factor_locked')
  const body = { challenge, factor: 'recovery', answers: [codes[0]] }
  await tokenOf(await app.request('POST', '/api/auth/login/answers', { body }))

  app.advance(60 * MINUTE)
  await tokenOf((await answer({})).response)
})
