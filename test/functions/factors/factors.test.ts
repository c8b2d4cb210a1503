import { expect, test } from 'vitest'
import stepUp from '../../../functions/access/step-up.post.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import removeFactor from '../../../functions/factors/factor.delete.ts'
import factors from '../../../functions/factors/factors.get.ts'
import pruneChallenges from '../../../functions/factors/prune-challenges.task.ts'
import replaceCodes from '../../../functions/factors/recovery.post.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, decoded, refused, rows } from '../answers.ts'
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

const ALL = [
  ...[login, loginAnswers, refresh, stepUp, me],
  ...[beginTotp, confirmTotp, factors, removeFactor, replaceCodes],
]
const PATH = '/api/auth/factors'
const minute = 60_000

type App = Awaited<ReturnType<typeof testApp>>

async function begun(app: App, token: string, name = 'Téléphone'): Promise<{ secret: string; challenge: string }> {
  const response = await app.request('POST', `${PATH}/totp`, { headers: signedBy(token), body: { name } })
  return Object(await answered(response, 200))
}

function confirm(app: App, token: string, challenge: string, code: string): Promise<Response> {
  return app.request('POST', `${PATH}/totp/confirm`, { headers: signedBy(token), body: { challenge, code } })
}

test('the first authenticator comes with ten recovery codes, the second with none', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)

  const first = await enrolTotp(app, token)
  const second = await enrolTotp(app, token, 'Tablette')

  expect(new Set(first.codes).size).toBe(10)
  for (const code of first.codes) expect(code).toMatch(/^([A-Z2-7]{4}-){5}[A-Z2-7]{4}$/)
  expect(second.codes).toEqual([])
  const at = START.toISOString()
  expect(await answered(await app.request('GET', PATH, { headers: signedBy(token) }), 200)).toEqual({
    factors: [
      { id: first.id, kind: 'totp', name: 'Téléphone', created_at: at, last_used_at: null },
      { id: second.id, kind: 'totp', name: 'Tablette', created_at: at, last_used_at: null },
    ],
    recovery_codes_left: 10,
    required: false,
  })
  const added = (await audited(app.db)).filter(({ action }) => action !== 'login_success')
  expect(added).toMatchObject([
    { action: 'factor_add', username: 'bob', details: { kind: 'totp', name: 'Téléphone' } },
    { action: 'recovery_codes_made', username: 'bob' },
    { action: 'factor_add', username: 'bob', details: { kind: 'totp', name: 'Tablette' } },
  ])
})

test('each of two authenticators answers', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const both = [await enrolTotp(app, token), await enrolTotp(app, token, 'Tablette')]
  app.advance(minute)

  for (const { secret } of both)
    await tokenOf(await answer(app, (await askedFactor(app)).challenge, codeNow(app, secret)))
})

test('nothing is enrolled without a correct code, and the fifth wrong one ends the enrolment', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const { secret, challenge } = await begun(app, token)
  for (let wrong = 0; wrong < 4; wrong++)
    await refused(await confirm(app, token, challenge, wrongCode(app, secret)), 403, 'factor_wrong')

  await refused(await confirm(app, token, challenge, wrongCode(app, secret)), 410, 'challenge_over')
  await refused(await confirm(app, token, challenge, codeNow(app, secret)), 410, 'challenge_over')
  expect(await rows(app.db, 'SELECT * FROM factors')).toEqual([])
})

test('an enrolment is confirmed once, within ten minutes, and by its own user', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const carol = await signIn(app, 'carol')
  const own = await begun(app, token)
  await refused(await confirm(app, carol, own.challenge, codeNow(app, own.secret)), 410, 'challenge_over')
  await answered(await confirm(app, token, own.challenge, codeNow(app, own.secret)), 200)
  await refused(await confirm(app, token, own.challenge, codeNow(app, own.secret, 1)), 410, 'challenge_over')

  const late = await begun(app, token, 'Tard')
  app.advance(10 * minute)
  await refused(await confirm(app, token, late.challenge, codeNow(app, late.secret)), 410, 'challenge_over')
  expect(await rows(app.db, 'SELECT name FROM factors')).toEqual([{ name: 'Téléphone' }])
})

test('of two confirmations at the same time one counts', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const { secret, challenge } = await begun(app, token)

  const responses = await Promise.all([0, 1].map((away) => confirm(app, token, challenge, codeNow(app, secret, away))))

  expect(responses.map(({ status }) => status).sort()).toEqual([200, 410])
  expect(await rows(app.db, 'SELECT count(*) AS n FROM factors')).toEqual([{ n: 1 }])
  expect(await rows(app.db, 'SELECT count(*) AS n FROM recovery_codes')).toEqual([{ n: 10 }])
})

test.each(['\u202egnp.exe', 'a\u001b[2Jb', 'a\nb', 'a\u200bb', 'a\u2028b'])(
  'a name with characters that nobody sees is refused, as administrators read it in the audit log: %j',
  async (name) => {
    const app = await testApp(ALL)
    const token = await signIn(app)

    const response = await app.request('POST', `${PATH}/totp`, { headers: signedBy(token), body: { name } })

    await refused(response, 400, 'invalid_request')
  },
)

test('a user has at most ten factors', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  for (let each = 0; each < 9; each++) await enrolTotp(app, token, `Appareil ${each}`)
  const [tenth, eleventh] = [await begun(app, token), await begun(app, token)]
  await answered(await confirm(app, token, tenth.challenge, codeNow(app, tenth.secret)), 200)

  await refused(await confirm(app, token, eleventh.challenge, codeNow(app, eleventh.secret)), 409, 'factors_full')
  const response = await app.request('POST', `${PATH}/totp`, { headers: signedBy(token), body: { name: 'Trop' } })
  await refused(response, 409, 'factors_full')
  expect(await rows(app.db, 'SELECT count(*) AS n FROM factors')).toEqual([{ n: 10 }])
})

test('new recovery codes void the former ones', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const headers = signedBy(token)
  await refused(await app.request('POST', `${PATH}/recovery`, { headers }), 404, 'factor_missing')
  const { codes } = await enrolTotp(app, token)

  const made: { recovery_codes: string[] } = Object(
    await answered(await app.request('POST', `${PATH}/recovery`, { headers }), 200),
  )

  const [former = '', fresh = ''] = [codes[0], made.recovery_codes[0]]
  const { challenge } = await askedFactor(app)
  await refused(await answer(app, challenge, former, 'recovery'), 403, 'factor_wrong')
  await tokenOf(await answer(app, challenge, fresh, 'recovery'))
})

test('a factor is removed by its owner alone, and the last one takes the recovery codes with it', async () => {
  const app = await testApp(ALL)
  const token = await signIn(app)
  const { id } = await enrolTotp(app, token)
  const second = await enrolTotp(app, token, 'Tablette')
  const carol = await signIn(app, 'carol')
  const remove = (headers: Record<string, string>, which: number | string) =>
    app.request('DELETE', `${PATH}/${which}`, { headers })

  await refused(await remove(signedBy(carol), id), 404, 'factor_missing')
  await refused(await remove(signedBy(token), 'x'), 404, 'factor_missing')
  await answered(await remove(signedBy(token), id), 200)
  expect(await rows(app.db, 'SELECT count(*) AS n FROM recovery_codes')).toEqual([{ n: 10 }])
  await answered(await remove(signedBy(token), second.id), 200)
  await refused(await remove(signedBy(token), second.id), 404, 'factor_missing')

  expect(await rows(app.db, 'SELECT * FROM recovery_codes')).toEqual([])
  const removed = (await audited(app.db)).filter(({ action }) => action === 'factor_remove')
  expect(removed).toMatchObject([{ details: { name: 'Téléphone' } }, { details: { name: 'Tablette' } }])
  await tokenOf(await givePassword(app, 'bob'))
})

test('where a factor is required, a session without one may only enrol, and is free after the next renewal', async () => {
  const app = await testApp(ALL, { env: { PANEL_REQUIRE_FACTOR: 'all' } })
  const response = await givePassword(app, 'bob')
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const token = await tokenOf(response)
  const headers = signedBy(token)
  const renewed = async () => tokenOf(await app.request('POST', '/api/auth/refresh', { headers: { cookie } }))
  expect(decoded(token).claims).toMatchObject({ enrolling: true })
  expect(await answered(await app.request('GET', '/api/auth/me', { headers }), 200)).toMatchObject({ must_enrol: true })
  await refused(await app.request('POST', `${PATH}/recovery`, { headers }), 403, 'enrolment_required')
  expect(decoded(await renewed()).claims).toMatchObject({ enrolling: true })

  const { id } = await enrolTotp(app, token)

  const free = await renewed()
  expect(decoded(free).claims).toMatchObject({ enrolling: false })
  await refused(await app.request('DELETE', `${PATH}/${id}`, { headers: signedBy(free) }), 409, 'factor_needed')
  const second = await enrolTotp(app, free, 'Tablette')
  const both = await Promise.all(
    [id, second.id].map((each) => app.request('DELETE', `${PATH}/${each}`, { headers: signedBy(free) })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('where a factor is required, the first one ends sessions that were opened without one', async () => {
  const app = await testApp(ALL, { env: { PANEL_REQUIRE_FACTOR: 'all' } })
  const thief = await givePassword(app, 'bob')
  const cookie = (thief.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const stolen = await tokenOf(thief)
  const other = await signIn(app, 'alice')
  const own = await signIn(app, 'bob')

  await enrolTotp(app, own)

  await refused(await app.request('POST', '/api/auth/refresh', { headers: { cookie } }), 401, 'session_ended')
  await refused(
    await app.request('POST', '/api/auth/factors/totp', { headers: signedBy(stolen), body: { name: 'Autre' } }),
    401,
    'unauthenticated',
  )
  for (const token of [own, other])
    await answered(await app.request('GET', '/api/auth/factors', { headers: signedBy(token) }), 200)
  expect(await audited(app.db)).toContainEqual(
    expect.objectContaining({ action: 'sessions_ended', username: 'bob', target: 'bob', details: { sessions: 1 } }),
  )
})

test('PANEL_REQUIRE_FACTOR=admins binds administrators alone', async () => {
  const app = await testApp(ALL, {
    env: { PANEL_REQUIRE_FACTOR: 'admins' },
    fake: {
      signIn: (name) => ({ uid: 1000, groups: name === 'alice' ? ['sudo'] : [] }),
      inspect: (name) => ({ uid: 1000, groups: name === 'alice' ? ['sudo'] : [] }),
    },
  })

  expect(decoded(await signIn(app, 'alice')).claims).toMatchObject({ role: 'admin', enrolling: true })
  expect(decoded(await signIn(app, 'bob')).claims).toMatchObject({ role: 'operator', enrolling: false })
})

test('after 15 minutes each change of factors needs a new proof, also of a session that must enrol', async () => {
  const app = await testApp(ALL, { env: { PANEL_REQUIRE_FACTOR: 'all' } })
  const response = await givePassword(app, 'bob')
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  await response.text()
  app.advance(15 * minute + 1)
  const token = await tokenOf(await app.request('POST', '/api/auth/refresh', { headers: { cookie } }))
  const headers = signedBy(token)

  await refused(await app.request('POST', `${PATH}/totp`, { headers, body: { name: 'A' } }), 403, 'step_up_required')

  const body = { password: 'right horse' }
  const proven = await tokenOf(await app.request('POST', '/api/auth/step-up', { headers, body }))
  expect(decoded(proven).claims).toMatchObject({ enrolling: true })
  await enrolTotp(app, proven)
})

test('expired challenges and forgotten answers are removed, open ones and locks stay', async () => {
  const app = await testApp(ALL)
  const { secret } = await enrolTotp(app, await signIn(app))
  await refused(await answer(app, (await askedFactor(app)).challenge, wrongCode(app, secret)), 403, 'factor_wrong')
  app.advance(2 * 60 * minute - 1000)
  await askedFactor(app)
  await pruneChallenges.run(app.services)
  expect(await rows(app.db, 'SELECT count(*) AS n FROM factor_challenges')).toEqual([{ n: 2 }])
  expect(await rows(app.db, 'SELECT answers, locked_until FROM factor_locks')).toEqual([
    { answers: 1, locked_until: null },
  ])

  app.advance(5 * minute + 1000)
  await pruneChallenges.run(app.services)
  // Two hours after its end, the first one is gone.
  expect(await rows(app.db, 'SELECT count(*) AS n FROM factor_challenges')).toEqual([{ n: 1 }])

  app.advance(2 * 60 * minute)
  await pruneChallenges.run(app.services)
  expect(await rows(app.db, 'SELECT * FROM factor_challenges')).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM factor_locks')).toEqual([])
})
