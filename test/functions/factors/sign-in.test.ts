import { expect, test } from 'vitest'
import factors from '../../../functions/factors/factors.get.ts'
import stepUp from '../../../functions/access/step-up.post.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import me from '../../../functions/auth/me.get.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { testApp } from '../../app.ts'
import { answered, audited, auditedActions, decoded, refused, rows } from '../answers.ts'
import {
  answer,
  askedFactor,
  codeNow,
  enrolTotp,
  givePassword,
  signedBy,
  signIn,
  tokenOf,
  wrongCode,
} from './person.ts'

const ALL = [login, loginAnswers, beginTotp, confirmTotp, factors, stepUp, me]

async function bobWithTotp() {
  const app = await testApp(ALL)
  return { app, ...(await enrolTotp(app, await signIn(app))) }
}

const minute = 60_000

test('a user with a factor gets a challenge after the password, and a session after the code', async () => {
  const { app, secret } = await bobWithTotp()
  const before = await rows(app.db, 'SELECT id FROM sessions')

  const asked = await askedFactor(app)

  expect(asked).toEqual({
    error: 'Confirmez la connexion avec votre second facteur.',
    code: 'factor_required',
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    factors: ['totp', 'recovery'],
  })
  expect(await rows(app.db, 'SELECT id FROM sessions')).toEqual(before)

  const response = await answer(app, asked.challenge, codeNow(app, secret))

  expect(response.headers.get('set-cookie')).toMatch(/^svc_refresh=/)
  const token = await tokenOf(response)
  expect(decoded(token).claims).toMatchObject({ username: 'bob', enrolling: false })
  expect((await audited(app.db)).at(-1)).toMatchObject({ action: 'login_success', details: { by: 'totp' } })
  expect(await rows(app.db, 'SELECT proven_by FROM sessions ORDER BY id')).toEqual([
    { proven_by: 'password' },
    { proven_by: 'totp' },
  ])
  await answered(await app.request('GET', '/api/auth/me', { headers: signedBy(token) }), 200)
})

test('the challenge, the secret and the codes are in the database only hashed or sealed', async () => {
  const { app, secret, codes } = await bobWithTotp()
  const { challenge } = await askedFactor(app)

  const tables = ['factors', 'factor_challenges', 'recovery_codes', 'audit', 'factor_locks']
  const stored = await Promise.all(tables.map((table) => rows(app.db, `SELECT * FROM ${table}`)))

  const text = JSON.stringify([stored, app.lines()])
  for (const hidden of [secret, challenge, ...codes, ...codes.map((code) => code.replaceAll('-', ''))])
    expect(text).not.toContain(hidden)
})

test.each([
  ['two steps before', -2, false],
  ['the step before', -1, true],
  ['the present step', 0, true],
  ['the next step', 1, true],
  ['two steps after', 2, false],
] as const)('a code of %s is accepted or refused', async (_, away, isAccepted) => {
  const { app, secret } = await bobWithTotp()
  // The enrolment has used a step up.
  app.advance(5 * minute)
  const { challenge } = await askedFactor(app)

  const response = await answer(app, challenge, codeNow(app, secret, away))

  if (isAccepted) await tokenOf(response)
  else await refused(response, 403, 'factor_wrong')
})

test('a code is accepted once, and after a later one the codes before it are not', async () => {
  const { app, secret } = await bobWithTotp()
  app.advance(5 * minute)
  const [first, second, third] = [await askedFactor(app), await askedFactor(app), await askedFactor(app)]
  await tokenOf(await answer(app, first.challenge, codeNow(app, secret)))

  await refused(await answer(app, second.challenge, codeNow(app, secret)), 403, 'factor_wrong')
  await refused(await answer(app, third.challenge, codeNow(app, secret, -1)), 403, 'factor_wrong')
  await tokenOf(await answer(app, second.challenge, codeNow(app, secret, 1)))
})

test('of two requests with the same code at the same time one opens a session', async () => {
  const { app, secret } = await bobWithTotp()
  app.advance(5 * minute)
  const asked = [await askedFactor(app), await askedFactor(app)]
  const code = codeNow(app, secret)

  const responses = await Promise.all(asked.map(({ challenge }) => answer(app, challenge, code)))

  expect(responses.map(({ status }) => status).sort()).toEqual([200, expect.any(Number)])
  expect(await rows(app.db, `SELECT count(*) AS n FROM sessions WHERE proven_by = 'totp'`)).toEqual([{ n: 1 }])
  expect((await auditedActions(app.db)).filter((action) => action === 'login_success')).toHaveLength(2)
})

test('a challenge opens one session, also for two codes at the same time', async () => {
  const { app, secret } = await bobWithTotp()
  app.advance(5 * minute)
  const { challenge } = await askedFactor(app)

  const responses = await Promise.all([0, 1].map((away) => answer(app, challenge, codeNow(app, secret, away))))

  expect(responses.map(({ status }) => status).sort()).toEqual([200, 410])
  expect(await rows(app.db, `SELECT count(*) AS n FROM sessions WHERE proven_by = 'totp'`)).toEqual([{ n: 1 }])
  await refused(await answer(app, challenge, codeNow(app, secret, 1)), 410, 'challenge_over')
})

test('the fifth wrong answer ends a challenge, and the right code comes too late', async () => {
  const { app, secret } = await bobWithTotp()
  const { challenge } = await askedFactor(app)
  for (let wrong = 0; wrong < 4; wrong++)
    await refused(await answer(app, challenge, wrongCode(app, secret)), 403, 'factor_wrong')

  await refused(await answer(app, challenge, wrongCode(app, secret)), 410, 'challenge_over')
  app.advance(minute)
  await refused(await answer(app, challenge, codeNow(app, secret)), 410, 'challenge_over')

  const failed = (await audited(app.db)).filter(({ action }) => action === 'login_failed')
  expect(failed).toHaveLength(5)
  expect(failed[0]).toMatchObject({ username: 'bob', details: { reason: 'wrong', factor: 'totp' } })
})

test('many answers at the same time are no more than five', async () => {
  const { app, secret } = await bobWithTotp()
  const { challenge } = await askedFactor(app)

  const responses = await Promise.all(Array.from({ length: 15 }, () => answer(app, challenge, wrongCode(app, secret))))

  expect(responses.filter(({ status }) => status === 429)).toHaveLength(10)
  expect((await audited(app.db)).filter(({ action }) => action === 'login_failed')).toHaveLength(5)
})

test('ten wrong answers lock codes for an hour, across challenges, but neither the password nor the recovery codes', async () => {
  const { app, secret, codes } = await bobWithTotp()
  for (let wrong = 0; wrong < 10; wrong++) {
    if (wrong % 5 === 0) app.advance(minute)
    const { challenge } = await askedFactor(app)
    await refused(await answer(app, challenge, wrongCode(app, secret)), 403, 'factor_wrong')
  }
  app.advance(minute)

  const { challenge } = await askedFactor(app)
  const locked = await answer(app, challenge, codeNow(app, secret))

  expect(Number(locked.headers.get('retry-after'))).toBe(3600 - 60)
  await refused(locked, 429, 'factor_locked')
  await tokenOf(await answer(app, challenge, codes[0] ?? '', 'recovery'))

  app.advance(59 * minute)
  const later = await askedFactor(app)
  await tokenOf(await answer(app, later.challenge, codeNow(app, secret)))
  expect(await rows(app.db, 'SELECT * FROM factor_locks')).toEqual([])
})

test('a lock of a clock that was ahead ends when the clock is set back', async () => {
  const { app, codes } = await bobWithTotp()
  for (let wrong = 0; wrong < 10; wrong++) {
    if (wrong % 5 === 0) app.advance(minute)
    const { challenge } = await askedFactor(app)
    await refused(await answer(app, challenge, 'AAAA', 'recovery'), 403, 'factor_wrong')
  }
  app.advance(-minute)
  const locked = await askedFactor(app)
  await refused(await answer(app, locked.challenge, codes[0] ?? '', 'recovery'), 429, 'factor_locked')

  app.advance(-24 * 60 * minute)

  const { challenge } = await askedFactor(app)
  await tokenOf(await answer(app, challenge, codes[0] ?? '', 'recovery'))
})

test('more than five answers a minute wait', async () => {
  const { app, secret } = await bobWithTotp()
  for (let wrong = 0; wrong < 5; wrong++) {
    const { challenge } = await askedFactor(app)
    await refused(await answer(app, challenge, wrongCode(app, secret)), 403, 'factor_wrong')
  }

  const { challenge } = await askedFactor(app)
  const sixth = await answer(app, challenge, codeNow(app, secret))

  expect(sixth.headers.get('retry-after')).toBe('60')
  await refused(sixth, 429, 'factor_locked')
  app.advance(minute)
  await tokenOf(await answer(app, challenge, codeNow(app, secret)))
})

test('a correct code forgets the wrong ones before it', async () => {
  const { app, secret } = await bobWithTotp()
  for (let round = 0; round < 4; round++) {
    app.advance(2 * minute)
    for (let wrong = 0; wrong < 4; wrong++) {
      const { challenge } = await askedFactor(app)
      await refused(await answer(app, challenge, wrongCode(app, secret)), 403, 'factor_wrong')
    }
    const { challenge } = await askedFactor(app)
    await tokenOf(await answer(app, challenge, codeNow(app, secret)))
  }
})

test('a recovery code signs in once, however it is typed', async () => {
  const { app, codes } = await bobWithTotp()
  const [code = ''] = codes
  const typed = ` ${code.toLowerCase().replaceAll('-', ' ')}\t`
  await tokenOf(await answer(app, (await askedFactor(app)).challenge, typed, 'recovery'))

  await refused(await answer(app, (await askedFactor(app)).challenge, code, 'recovery'), 403, 'factor_wrong')

  expect((await audited(app.db)).filter(({ action }) => action === 'login_success').at(-1)).toMatchObject({
    details: { by: 'recovery' },
  })
})

test('of two requests with one recovery code one opens a session', async () => {
  const { app, codes } = await bobWithTotp()
  const asked = [await askedFactor(app), await askedFactor(app)]

  const responses = await Promise.all(asked.map(({ challenge }) => answer(app, challenge, codes[1] ?? '', 'recovery')))

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(await rows(app.db, 'SELECT count(*) AS n FROM recovery_codes WHERE used_at IS NOT NULL')).toEqual([{ n: 1 }])
})

test('without recovery codes left none is offered, and without any way the account stays closed', async () => {
  const { app } = await bobWithTotp()
  await app.db.run(`UPDATE recovery_codes SET used_at = '2026-03-01T12:00:00.000Z'`)
  expect((await askedFactor(app)).factors).toEqual(['totp'])

  // A passkey that was made for another name of the panel.
  await app.db.run('DELETE FROM factors')
  await app.db.run(`INSERT INTO factors (user_id, kind, name, credential_id, public_key, rp_id, created_at)
    VALUES (1, 'passkey', 'Clé', 'a', 'b', 'elsewhere.example', '2026-03-01T12:00:00.000Z')`)
  expect((await askedFactor(app)).factors).toEqual([])
})

test('an expired challenge, an unknown one and one for another purpose are refused alike', async () => {
  const { app, secret } = await bobWithTotp()
  const { challenge } = await askedFactor(app)
  app.advance(5 * minute)
  await refused(await answer(app, challenge, codeNow(app, secret)), 410, 'challenge_over')
  await refused(await answer(app, 'x'.repeat(43), codeNow(app, secret)), 410, 'challenge_over')

  const token = await tokenOf(await answer(app, (await askedFactor(app)).challenge, codeNow(app, secret)))
  const headers = signedBy(token)
  const body = { name: 'Autre' }
  const begun = await answered(await app.request('POST', '/api/auth/factors/totp', { headers, body }), 200)
  const { challenge: enrolment } = Object(begun)
  await refused(await answer(app, enrolment, codeNow(app, secret, 1)), 410, 'challenge_over')
})

test('a code of another user does not answer', async () => {
  const { app, secret } = await bobWithTotp()
  await enrolTotp(app, await signIn(app, 'carol'))

  const { challenge } = await askedFactor(app, 'carol')

  await refused(await answer(app, challenge, codeNow(app, secret)), 403, 'factor_wrong')
})

test('an account that was barred after its password does not come in', async () => {
  const { app, secret } = await bobWithTotp()
  const { challenge } = await askedFactor(app)
  await app.db.run(`UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z' WHERE username = 'bob'`)

  await refused(await answer(app, challenge, codeNow(app, secret)), 403, 'account_barred')
})

test('a page of another origin cannot answer', async () => {
  const { app, secret } = await bobWithTotp()
  const { challenge } = await askedFactor(app)

  const response = await app.request('POST', '/api/auth/login/answers', {
    body: { challenge, factor: 'totp', answers: [codeNow(app, secret)] },
    headers: { origin: 'https://evil.example' },
  })

  await refused(response, 403, 'origin_forbidden')
})

test('of the challenges of a user the newest twenty are kept', async () => {
  const { app } = await bobWithTotp()
  for (let more = 0; more < 22; more++) await askedFactor(app)

  expect(await rows(app.db, 'SELECT count(*) AS n FROM factor_challenges')).toEqual([{ n: 20 }])
})

test('another account under the same name has none of the factors of the former', async () => {
  let uid = 1000
  const app = await testApp(ALL, {
    fake: { signIn: () => ({ uid, groups: [] }), inspect: () => ({ uid, groups: [] }) },
  })
  await enrolTotp(app, await signIn(app))
  await askedFactor(app)
  uid = 1001

  await tokenOf(await givePassword(app, 'bob'))

  for (const table of ['factors', 'recovery_codes', 'factor_challenges', 'factor_locks'])
    expect(await rows(app.db, `SELECT * FROM ${table}`)).toEqual([])
})

test('an authenticator whose secret another key has sealed answers nothing, and recovery codes still do', async () => {
  const { app, secret, codes } = await bobWithTotp()
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('totp 1', secret)
  await app.db.run('UPDATE factors SET secret_sealed = ?', [sealed])
  const { challenge } = await askedFactor(app)

  await refused(await answer(app, challenge, codeNow(app, secret)), 403, 'factor_wrong')
  await tokenOf(await answer(app, challenge, codes[0] ?? '', 'recovery'))

  expect(app.lines().join('')).toContain('cannot be decrypted')
})
