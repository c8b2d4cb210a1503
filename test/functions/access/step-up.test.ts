import { expect, test } from 'vitest'
import stepUp from '../../../functions/access/step-up.post.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import replaceCodes from '../../../functions/factors/recovery.post.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import type { Account } from '../../../ssh/identity.ts'
import { testApp } from '../../app.ts'
import { audited, auditedActions, decoded, refusals, refused, rows } from '../answers.ts'
import {
  answer,
  askedFactor,
  codeNow,
  enrolTotp,
  givePassword,
  PASSWORD,
  signedBy,
  signIn,
  tokenOf,
  wrongCode,
} from '../factors/person.ts'

const ALL = [login, loginAnswers, refresh, stepUp, beginTotp, confirmTotp, replaceCodes]
const minute = 60_000

type App = Awaited<ReturnType<typeof testApp>>

const onlyRight = (_: string, password: string) => {
  if (password !== PASSWORD) throw new SshError('bad_credentials', 'no')
  return { uid: 1000, groups: [] }
}

/** Signs in; the result renews the access token. */
async function newSession(app: App) {
  const response = await givePassword(app, 'bob')
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  await response.text()
  return async () => tokenOf(await app.request('POST', '/api/auth/refresh', { headers: { cookie } }))
}

/** A session that is open, and whose proof is too old. */
async function oldSession(app: App) {
  const renew = await newSession(app)
  app.advance(15 * minute + 1)
  return { renew, token: await renew() }
}

const prove = (app: App, token: string, body: unknown) =>
  app.request('POST', '/api/auth/step-up', { headers: signedBy(token), body })

/** Something that needs a recent proof. The user of these tests has a factor, or is told that there is none. */
const change = (app: App, token: string) =>
  app.request('POST', '/api/auth/factors/recovery', { headers: signedBy(token) })

test('without a factor the password proves the caller, in the token and in those that the session gets later', async () => {
  const app = await testApp(ALL, { fake: { signIn: onlyRight } })
  const { token, renew } = await oldSession(app)
  await refused(await change(app, token), 403, 'step_up_required')
  await refused(await change(app, await renew()), 403, 'step_up_required')

  const proven = await tokenOf(await prove(app, token, { password: PASSWORD }))

  const now = app.services.clock().getTime() / 1000
  expect(decoded(proven).claims).toMatchObject({ proven: now, exp: Math.floor(now) + 900 })
  await refused(await change(app, proven), 404, 'factor_missing')
  await refused(await change(app, token), 403, 'step_up_required')
  await refused(await change(app, await renew()), 404, 'factor_missing')
  expect((await audited(app.db)).find(({ action }) => action === 'step_up')).toMatchObject({
    username: 'bob',
    details: { by: 'password' },
  })
})

test('a renewal never makes a proof younger', async () => {
  const app = await testApp(ALL)
  const { renew } = await oldSession(app)
  for (let times = 0; times < 3; times++) {
    app.advance(minute)
    await refused(await change(app, await renew()), 403, 'step_up_required')
  }
})

test('the proof of one session is none of another session of the user', async () => {
  const app = await testApp(ALL)
  const [renewOne, renewOther] = [await newSession(app), await newSession(app)]
  app.advance(15 * minute + 1)

  await tokenOf(await prove(app, await renewOne(), { password: PASSWORD }))

  await refused(await change(app, await renewOne()), 404, 'factor_missing')
  await refused(await change(app, await renewOther()), 403, 'step_up_required')
})

test('a missing, a wrong and a too frequent password prove nothing', async () => {
  const app = await testApp(ALL, { fake: { signIn: onlyRight } })
  const { token, renew } = await oldSession(app)

  await refused(await prove(app, token, {}), 403, 'proof_required')
  for (let wrong = 0; wrong < 5; wrong++)
    await refused(await prove(app, token, { password: 'wrong' }), 403, 'proof_wrong')
  const sixth = await prove(app, token, { password: PASSWORD })
  expect(sixth.headers.get('retry-after')).toBe('60')
  await refused(sixth, 429, 'login_rate_limited')
  // The limit is that of the login.
  const signIn = await app.request('POST', '/api/auth/login', { body: { username: 'bob', password: PASSWORD } })
  await refused(signIn, 429, 'login_rate_limited')

  await refused(await change(app, await renew()), 403, 'step_up_required')
  expect((await auditedActions(app.db)).filter((action) => action === 'step_up_refused')).toHaveLength(5)
})

test('where a factor is enrolled the password is not even asked of the host', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  await enrolTotp(app, await signIn(app))
  const asked = app.signIns.length

  const refusal = await refused(await prove(app, token, { password: PASSWORD }), 403, 'factor_proof_required')

  expect(refusal).toMatchObject({ challenge: expect.stringMatching(/^[\w-]{43}$/), factors: ['totp', 'recovery'] })
  expect(app.signIns).toHaveLength(asked)
  await refused(await prove(app, token, {}), 403, 'factor_proof_required')
  await refused(await change(app, token), 403, 'step_up_required')
  // A question for the proof is no refusal.
  expect((await refusals(app.db)).map(({ details }) => details)).toMatchObject([{ code: 'step_up_required' }])
})

test('a code proves the caller once, and a recovery code too', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  const { secret, codes } = await enrolTotp(app, await signIn(app))
  const code = codeNow(app, secret)

  const proven = await tokenOf(await prove(app, token, { factor: 'totp', answers: [code] }))
  await refused(await prove(app, token, { factor: 'totp', answers: [code] }), 403, 'factor_wrong')
  await tokenOf(await prove(app, token, { factor: 'recovery', answers: [codes[0]] }))
  await refused(await prove(app, token, { factor: 'recovery', answers: [codes[0]] }), 403, 'factor_wrong')

  expect((await change(app, proven)).status).toBe(200)
  const [session] = await rows(app.db, 'SELECT proven_at, proven_by FROM sessions ORDER BY id')
  expect(session).toEqual({ proven_at: app.services.clock().toISOString(), proven_by: 'recovery' })
})

test('a code that signs in does not prove at the same time, and the other way round', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  const { secret } = await enrolTotp(app, await signIn(app))
  const { challenge } = await askedFactor(app)
  const code = codeNow(app, secret)

  const responses = await Promise.all([
    prove(app, token, { factor: 'totp', answers: [code] }),
    answer(app, challenge, code),
  ])

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('wrong codes are limited together with those of the sign-in', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  const { secret } = await enrolTotp(app, await signIn(app))
  const { challenge } = await askedFactor(app)
  for (let wrong = 0; wrong < 3; wrong++) {
    const body = { factor: 'totp', answers: [wrongCode(app, secret)] }
    await refused(await prove(app, token, body), 403, 'factor_wrong')
  }
  for (let wrong = 0; wrong < 2; wrong++)
    await refused(await answer(app, challenge, wrongCode(app, secret)), 403, 'factor_wrong')

  const body = { factor: 'totp', answers: [codeNow(app, secret)] }
  await refused(await prove(app, token, body), 429, 'factor_locked')
  await refused(await answer(app, challenge, codeNow(app, secret)), 429, 'factor_locked')
  expect((await audited(app.db)).filter(({ action }) => action === 'step_up_refused')).toMatchObject([
    ...Array.from({ length: 3 }, () => ({ details: { reason: 'wrong', factor: 'totp' } })),
  ])
  // Each is one happening, so it has no second entry.
  expect(await refusals(app.db)).toEqual([])
})

test('a challenge of a step-up does not sign in, and one of a sign-in does not prove', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  const { secret } = await enrolTotp(app, await signIn(app))
  const { challenge = '' } = await refused(await prove(app, token, {}), 403, 'factor_proof_required')

  await refused(await answer(app, challenge, codeNow(app, secret)), 410, 'challenge_over')

  const assertion = { id: 'a', rawId: 'a', type: 'public-key', clientExtensionResults: {} }
  const response = { clientDataJSON: 'a', authenticatorData: 'a', signature: 'a' }
  const body = { challenge: (await askedFactor(app)).challenge, assertion: { ...assertion, response } }
  await refused(await prove(app, token, body), 410, 'challenge_over')
})

test('a session that has ended is proven no more', async () => {
  const app = await testApp(ALL)
  const { token } = await oldSession(app)
  // As by another instance a moment ago.
  await app.db.run('DELETE FROM sessions')

  await refused(await prove(app, token, { password: PASSWORD }), 410, 'challenge_over')
  expect(await auditedActions(app.db)).not.toContain('step_up')
})

test('a proof keeps no right that the host has taken away, and ends an account that is gone', async () => {
  let account: Account | null = { ...ORDINARY, groups: ['sudo'] }
  const admin = () => ({ uid: 1000, groups: ['sudo'] })
  const app = await testApp(ALL, { fake: { signIn: admin, inspect: () => account } })
  const { token } = await oldSession(app)
  expect(decoded(token).claims).toMatchObject({ role: 'admin' })

  account = ORDINARY
  const proven = await tokenOf(await prove(app, token, { password: PASSWORD }))

  expect(decoded(proven).claims).toMatchObject({ role: 'operator', is_admin: false })
  account = null
  app.advance(minute)
  await refused(await prove(app, proven, { password: PASSWORD }), 401, 'user_missing')
  expect(await rows(app.db, 'SELECT id FROM sessions')).toEqual([])
})

const ORDINARY: Account = {
  name: 'bob',
  uid: 1000,
  groups: ['bob'],
  shell: '/bin/bash',
  sudo: undefined,
  localPassword: true,
  overdue: undefined,
}

test('nobody else is asked for a proof', async () => {
  const app = await testApp(ALL)
  await refused(
    await app.request('POST', '/api/auth/step-up', { body: { password: PASSWORD } }),
    401,
    'unauthenticated',
  )
  expect(app.signIns).toEqual([])
})
