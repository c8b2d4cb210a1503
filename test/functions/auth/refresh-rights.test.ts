import { fail } from '../../../functions/services.ts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import cancel from '../../../functions/jobs/cancel.post.ts'
import run from '../../../functions/runs/run.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { answered, audited, decoded, refused, rows } from '../answers.ts'
import { type Client, meStatus, signIn, storedSessions } from './client.ts'

const ADMIN: FakeAccount = { uid: 1000, groups: ['alice', 'sudo'] }
const ORDINARY: FakeAccount = { uid: 1000, groups: ['alice'] }
const AWAY = new SshError('unreachable', 'gone')
const Answer = z.object({ access_token: z.string() })
const Claims = z.object({ is_admin: z.boolean() })

/** Signs in Alice with the claim of her own connection, on a host whose answer about her can be changed. */
async function start(env: Record<string, string> = {}, own: FakeAccount = ADMIN, first: FakeAccount | Error = own) {
  let told = first
  const asked: string[] = []
  const app = await testApp([login, me, refresh, run, cancel], {
    env,
    fake: {
      signIn: () => own,
      inspect(username) {
        asked.push(username)
        if (told instanceof Error) throw told
        return told
      },
    },
  })
  const alice = await signIn(app, 'alice')
  asked.length = 0
  const refreshed = ({ refresh: token }: Client = alice) =>
    app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${token}` } })
  return {
    ...app,
    app,
    alice,
    asked,
    /** Sets the answer of the host from now on. */
    say: (next: FakeAccount | Error) => {
      told = next
    },
    refreshed,
    isAdmin: async () => {
      const { access_token } = Answer.parse(await answered(await refreshed(), 200))
      return Claims.parse(decoded(access_token).claims).is_admin
    },
    stored: async () => (await rows(app.db, 'SELECT is_admin, kept_out FROM users WHERE id > 0'))[0],
    entries: async () => (await audited(app.db)).filter(({ action }) => action !== 'login_success'),
  }
}

test('a refresh asks the host again: a user who has left the group is no longer an administrator, audited once', async () => {
  const { say, isAdmin, asked, stored, entries } = await start()
  expect(await isAdmin()).toBe(true)
  expect(await entries()).toEqual([])

  say(ORDINARY)

  expect([await isAdmin(), await isAdmin()]).toEqual([false, false])
  expect(asked).toEqual(['alice', 'alice', 'alice'])
  expect(await stored()).toEqual({ is_admin: 0, kept_out: 0 })
  expect(await entries()).toMatchObject([
    {
      action: 'rights_changed',
      username: 'alice',
      target: 'alice',
      details: { is_admin: false, role: 'operator', role_before: 'admin', confirmed: true },
    },
  ])
})

test.each([
  ['the service account cannot be reached', AWAY],
  ['its password is wrong', new SshError('bad_credentials', 'no')],
  ['the settings are incomplete', fail('ssh_incomplete')],
  ['its password cannot be decrypted', fail('ssh_password_unreadable')],
])('a user stays signed in without the flag while the host cannot confirm it: %s', async (_, failure) => {
  const { say, isAdmin, stored, entries, alice, app } = await start()

  say(failure)
  expect(await isAdmin()).toBe(false)
  expect(await stored()).toMatchObject({ is_admin: 0 })
  expect(await meStatus(app, alice)).toBe(200)
  say(ADMIN)

  expect(await isAdmin()).toBe(true)
  expect((await entries()).map(({ details }) => details)).toEqual([
    { is_admin: false, role: 'operator', role_before: 'admin', confirmed: false },
    { is_admin: true, role: 'admin', role_before: 'operator', confirmed: true },
  ])
})

test('without a service account, the flag stays if the configuration allows claims', async () => {
  const none = fail('ssh_incomplete')
  const { isAdmin, say } = await start({ PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' }, ADMIN, none)

  expect(await isAdmin()).toBe(true)
  say(AWAY)
  expect(await isAdmin()).toBe(false)
})

test('a refresh makes nobody an administrator whose own connection did not claim it at login', async () => {
  const { isAdmin, say } = await start({}, ORDINARY)

  say(ADMIN)

  expect(await isAdmin()).toBe(false)
})

test.each<[string, FakeAccount, string, string]>([
  ['is gone', null, 'user_missing', 'gone'],
  ['is locked', { ...ADMIN, localPassword: false }, 'session_ended', 'locked'],
  ['has expired', { ...ADMIN, overdue: 'expired' }, 'session_ended', 'expired'],
  ['is another one by now', { ...ADMIN, uid: 1007 }, 'session_ended', 'replaced'],
  ['has another name', { ...ADMIN, name: 'alicia' }, 'session_ended', 'name'],
])('every session of an account ends when it %s', async (_, account, code, reason) => {
  const { app, alice, say, refreshed, entries } = await start()
  const desk = await signIn(app, 'alice')

  say(account)

  const answers = await Promise.all([refreshed(), refreshed(desk), refreshed()])
  for (const answer of answers) expect([401]).toContain(answer.status)
  expect(await storedSessions(app)).toEqual([])
  expect([await meStatus(app, alice), await meStatus(app, desk)]).toEqual([401, 401])
  expect(await entries()).toMatchObject([{ action: 'account_ended', target: 'alice', details: { reason } }])
  expect(
    await Promise.all(answers.map(async (answer) => z.object({ code: z.string() }).parse(await answer.json()).code)),
  ).toContain(code)
})

test('an account whose password the host itself cannot check does not count as locked', async () => {
  const ldap = { ...ADMIN, localPassword: false } as const
  const { isAdmin } = await start({}, ADMIN, ldap)

  expect(await isAdmin()).toBe(true)
})

test('a user whose name no account can have is signed out', async () => {
  const { app, alice, refreshed, asked } = await start()
  await app.db.run('UPDATE users SET username = ? WHERE id > 0', ['alice:style'])

  await refused(await refreshed(), 401, 'session_ended')

  expect(asked).toEqual([])
  expect(await meStatus(app, alice)).toBe(401)
})

test.each<[string, FakeAccount]>([
  ['with a password that must be changed', { ...ADMIN, overdue: 'password' }],
  ['with the shell nologin', { ...ADMIN, shell: '/usr/sbin/nologin' }],
  ['with the shell false', { ...ADMIN, shell: '/bin/false' }],
])('an account %s stays signed in, but starts and cancels nothing', async (_, account) => {
  const { app, alice, say, isAdmin, stored } = await start()
  const post = (path: string, body: unknown = {}) =>
    app.request('POST', path, { headers: alice.headers({ cookie: false }), body })

  say(account)

  expect(await isAdmin()).toBe(false)
  expect(await stored()).toEqual({ is_admin: 0, kept_out: 1 })
  await refused(await post('/api/updates/run', { target: 'host' }), 403, 'account_kept_out')
  await refused(await post('/api/updates/jobs/1772366400-k3x9q2pa/cancel'), 403, 'account_kept_out')
  expect(await rows(app.db, 'SELECT * FROM jobs')).toEqual([])
  say(ADMIN)
  expect(await isAdmin()).toBe(true)
  await answered(await post('/api/updates/run', { target: 'host' }), 202)
})

test('an account that ran no command at login starts nothing, whatever the service account reports', async () => {
  const { app, alice, stored, isAdmin } = await start({}, null, ADMIN)

  expect(await isAdmin()).toBe(false)
  expect(await stored()).toEqual({ is_admin: 0, kept_out: 1 })
  await refused(
    await app.request('POST', '/api/updates/run', {
      headers: alice.headers({ cookie: false }),
      body: { target: 'host' },
    }),
    403,
    'account_kept_out',
  )
})
