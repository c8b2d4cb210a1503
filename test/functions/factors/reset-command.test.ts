import { expect, test } from 'vitest'
import stepUp from '../../../functions/access/step-up.post.ts'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { testApp } from '../../app.ts'
import { audited, refused, rows } from '../answers.ts'
import { OPERATOR, typeCommand } from '../console.ts'
import { answer, askedFactor, codeNow, enrolTotp, givePassword, signIn, tokenOf, wrongCode } from './person.ts'

const ALL = [login, loginAnswers, refresh, stepUp, beginTotp, confirmTotp]

test('on the console somebody who has lost the factors gets in again, and nobody else is touched', async () => {
  const app = await testApp(ALL)
  const { secret } = await enrolTotp(app, await signIn(app))
  const carol = await enrolTotp(app, await signIn(app, 'carol'))
  const asked = await askedFactor(app)
  await refused(await answer(app, asked.challenge, wrongCode(app, secret)), 403, 'factor_wrong')

  const { text } = await typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'reset', 'bob'])

  expect(text).toMatch(/^Seconds facteurs de bob supprimés : 1\. Sessions terminées : 1\./)
  await refused(await answer(app, asked.challenge, codeNow(app, secret)), 410, 'challenge_over')
  await tokenOf(await givePassword(app, 'bob'))
  expect(await rows(app.db, 'SELECT DISTINCT user_id FROM recovery_codes')).toEqual([{ user_id: 2 }])
  expect(await rows(app.db, 'SELECT * FROM factor_locks')).toEqual([])
  expect((await audited(app.db)).find(({ action }) => action === 'factors_reset')).toMatchObject({
    ...{ user_id: null, username: OPERATOR, ip: 'console', target: 'bob' },
    details: { factors: 1, sessions: 1 },
  })
  app.advance(60_000)
  await tokenOf(await answer(app, (await askedFactor(app, 'carol')).challenge, codeNow(app, carol.secret)))
})

test('the reset ends the sessions that were open, as an intruder may have one', async () => {
  const app = await testApp(ALL)
  const response = await givePassword(app, 'bob')
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  await enrolTotp(app, await tokenOf(response))

  await typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'reset', 'bob'])

  const renewed = await app.request('POST', '/api/auth/refresh', { headers: { cookie } })
  await refused(renewed, 401, 'session_ended')
})

test('a name that never signed in is told', async () => {
  const app = await testApp(ALL)

  const typed = typeCommand({ ...app.services, secrets: app.secrets }, ['factors', 'reset', 'nobody\x1b[31m'])

  await expect(typed).rejects.toThrow(/ne s’est jamais connecté/)
})
