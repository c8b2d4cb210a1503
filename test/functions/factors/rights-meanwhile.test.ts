import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { audited, decoded, refused, rows } from '../answers.ts'
import { answer, askedFactor, codeNow, enrolTotp, signIn, tokenOf } from './person.ts'

const ALL = [login, loginAnswers, beginTotp, confirmTotp]
const ADMIN: FakeAccount = { uid: 1000, groups: ['bob', 'sudo'] }
const byTotp = (app: Awaited<ReturnType<typeof testApp>>) =>
  rows(app.db, `SELECT id FROM sessions WHERE proven_by = 'totp'`)

/** An administrator whose password the panel has just accepted; from then on `seen` is the word of the host. */
async function askedAdministrator(env: Record<string, string> = {}) {
  const seen: { account(): FakeAccount } = { account: () => ADMIN }
  const app = await testApp(ALL, {
    env,
    fake: { signIn: () => ({ uid: 1000, groups: ['bob', 'sudo'] }), inspect: () => seen.account() },
  })
  const { secret } = await enrolTotp(app, await signIn(app))
  const { challenge } = await askedFactor(app)
  return { app, seen, secret, challenge }
}

test('an answer opens a session with the rights of its own moment, not with those of the password', async () => {
  const { app, seen, secret, challenge } = await askedAdministrator()
  seen.account = () => ({ uid: 1000, groups: ['bob'] })
  app.advance(4 * 60_000)

  const token = await tokenOf(await answer(app, challenge, codeNow(app, secret)))

  expect(decoded(token).claims).toMatchObject({ role: 'operator', is_admin: false })
})

const ENDED: [what: string, account: FakeAccount, status: number, code: string, reason: string][] = [
  ['gone', null, 410, 'challenge_over', 'gone'],
  ['locked', { ...ADMIN, localPassword: false }, 410, 'challenge_over', 'locked'],
  ['expired', { ...ADMIN, overdue: 'expired' }, 410, 'challenge_over', 'expired'],
  ['replaced by another one', { ...ADMIN, uid: 1001 }, 410, 'challenge_over', 'replaced'],
  ['out of its groups', { ...ADMIN, groups: ['games'] }, 403, 'not_invited', 'uninvited'],
]

test.each(ENDED)(
  'an account that is %s since its password opens no session',
  async (_, account, status, code, reason) => {
    const { app, seen, secret, challenge } = await askedAdministrator({ PANEL_SIGN_IN_GROUPS: 'bob' })
    seen.account = () => account

    await refused(await answer(app, challenge, codeNow(app, secret)), status, code)

    expect(await byTotp(app)).toEqual([])
    expect(await audited(app.db)).toContainEqual(
      expect.objectContaining({ action: 'login_failed', username: 'bob', details: { factor: 'totp', reason } }),
    )
  },
)

test('while the host does not tell, an answer makes nobody an administrator', async () => {
  const { app, seen, secret, challenge } = await askedAdministrator()
  seen.account = () => {
    throw new SshError('unreachable', 'nobody answers')
  }

  const token = await tokenOf(await answer(app, challenge, codeNow(app, secret)))

  expect(decoded(token).claims).toMatchObject({ role: 'operator', is_admin: false })
})

test('an account that is barred while the host is asked opens no session', async () => {
  const { app, seen, secret, challenge } = await askedAdministrator()
  let barring: Promise<number> | undefined
  seen.account = () => {
    barring ??= app.db.run(`UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z' WHERE username = 'bob'`)
    return ADMIN
  }

  await refused(await answer(app, challenge, codeNow(app, secret)), 403, 'account_barred')

  expect(await byTotp(app)).toEqual([])
  expect(await barring).toBe(1)
})
