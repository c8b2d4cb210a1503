import { expect, test } from 'vitest'
import * as z from 'zod'
import recheckUsers from '../../../functions/access/recheck-users.task.ts'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import type { Services } from '../../../functions/services.ts'
import { createSessions } from '../../../sessions/sessions.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, mount, testApp } from '../../app.ts'
import { answered, audited, decoded, rows } from '../answers.ts'
import { type Client, meStatus, signIn, storedSessions } from '../auth/client.ts'

const MINUTE = 60_000
const ALICE: FakeAccount = { uid: 1001, groups: ['alice', 'sudo'] }
const BOB: FakeAccount = { uid: 1002, groups: ['bob', 'web'] }
const AWAY = new SshError('unreachable', 'gone')

/** Two instances of one database, with Alice and Bob signed in on the first. */
async function start(env: Record<string, string> = {}) {
  const answers = new Map<string, FakeAccount | Error>([
    ['alice', ALICE],
    ['bob', BOB],
  ])
  const asked: string[] = []
  const app = await testApp([login, refresh, me], {
    env,
    fake: {
      signIn: (name) => {
        const answer = answers.get(name)
        return answer instanceof Error ? null : answer
      },
      inspect(name) {
        asked.push(name)
        const answer = answers.get(name) ?? null
        if (answer instanceof Error) throw answer
        return answer
      },
    },
  })
  const { db, secrets, clock, log, config } = app.services
  const sessions = await createSessions({ db, secrets, clock, log, jwtKey: undefined, refreshDays: config.refreshDays })
  const other: Services = { ...app.services, sessions }
  const elsewhere = mount([me], other)
  const alice = await signIn(app, 'alice')
  const bob = await signIn(app, 'bob')
  asked.length = 0
  return {
    ...app,
    other,
    alice,
    bob,
    asked,
    say: (name: string, answer: FakeAccount | Error) => answers.set(name, answer),
    recheck: () => recheckUsers.run(app.services),
    statusElsewhere: async (client: Client) =>
      (await elsewhere.request('/api/auth/me', { headers: client.headers({ cookie: false }) })).status,
    refreshed: async ({ refresh: token }: Client) => {
      const headers = { cookie: `svc_refresh=${token}` }
      const body = await answered(await app.request('POST', '/api/auth/refresh', { headers }), 200)
      return decoded(z.object({ access_token: z.string() }).parse(body).access_token).claims
    },
    entries: async () => (await audited(db)).filter(({ action }) => action !== 'login_success'),
  }
}

test('the host is asked about accounts in use, once their rights are eight minutes old', async () => {
  const app = await start()

  await app.recheck()
  app.advance(7 * MINUTE)
  await app.recheck()
  expect(app.asked).toEqual([])

  app.advance(MINUTE + 1)
  await app.recheck()
  expect(app.asked.sort()).toEqual(['alice', 'bob'])

  await app.recheck()
  app.advance(2 * MINUTE)
  await app.recheck()
  expect(app.asked).toHaveLength(2)
  expect(await app.entries()).toEqual([])
})

test('a refresh asks the host, so the task need not', async () => {
  const app = await start()
  app.advance(8 * MINUTE + 1)
  await app.refreshed(app.alice)
  app.asked.length = 0

  await app.recheck()

  expect(app.asked).toEqual(['bob'])
})

test('an account whose sessions nobody uses is not asked about, until it owns an API token', async () => {
  const app = await start()
  app.advance(21 * MINUTE)
  await app.recheck()
  expect(app.asked).toEqual([])

  const token = `INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at, expires_at) VALUES (?, '', ?, 'viewer', '"all"', '', ?)`
  await app.db.run(token, [app.alice.userId, 'expired', '2026-03-01T12:00:01.000Z'])
  await app.db.run(token, [app.bob.userId, 'lasting', null])
  await app.recheck()

  expect(app.asked).toEqual(['bob'])
})

test('two instances share the accounts: each is asked about once', async () => {
  const app = await start()
  app.advance(9 * MINUTE)

  await Promise.all([recheckUsers.run(app.services), recheckUsers.run(app.other)])

  expect(app.asked.sort()).toEqual(['alice', 'bob'])
})

test('the claim of an instance that has died is taken over a minute later', async () => {
  const app = await start()
  app.advance(9 * MINUTE)
  const until = new Date(app.services.clock().getTime() + MINUTE).toISOString()
  await app.db.run('UPDATE users SET asking_until = ? WHERE id > 0', [until])

  await app.recheck()
  expect(app.asked).toEqual([])

  app.advance(MINUTE)
  await app.recheck()
  expect(app.asked).toHaveLength(2)
})

test.each<[string, FakeAccount, string, Record<string, string>]>([
  ['was deleted', null, 'gone', {}],
  ['was locked', { ...BOB, localPassword: false }, 'locked', {}],
  ['has expired', { ...BOB, overdue: 'expired' }, 'expired', {}],
  ['is another one under the same name', { ...BOB, uid: 1003 }, 'replaced', {}],
  ['was removed from the group', { ...BOB, groups: ['bob'] }, 'uninvited', { PANEL_SIGN_IN_GROUPS: 'web,sudo' }],
])(
  'an account that %s is out within ten minutes, on every instance, with its sockets',
  async (_, account, reason, env) => {
    const app = await start(env)
    expect([await meStatus(app, app.bob), await app.statusElsewhere(app.bob)]).toEqual([200, 200])
    const closed: string[] = []
    app.services.sessions.onEnd(String(app.bob.sid), () => closed.push('here'))
    app.other.sessions.onEnd(String(app.bob.sid), () => closed.push('elsewhere'))
    app.say('bob', account)

    for (let minutes = 0; minutes < 10; minutes++) {
      app.advance(MINUTE)
      await recheckUsers.run(app.services)
    }
    await app.other.sessions.refresh()

    expect(await storedSessions(app)).toEqual([app.alice.sid])
    expect(closed).toEqual(['here', 'elsewhere'])
    expect([await meStatus(app, app.bob), await app.statusElsewhere(app.bob)]).toEqual([401, 401])
    expect(await meStatus(app, app.alice)).toBe(200)
    expect(await app.entries()).toMatchObject([
      { action: 'account_ended', username: 'bob', ip: 'host', target: 'bob', details: { reason } },
    ])
    expect(await rows(app.db, `SELECT rights_at FROM users WHERE username = 'bob'`)).toEqual([{ rights_at: null }])
  },
)

test('lost rights are stored with an entry, and the next refresh gives them', async () => {
  const app = await start({ PANEL_OPERATOR_GROUPS: 'web:lxc/101,lxc/102;ops', PANEL_VIEWER_GROUPS: 'bob' })
  expect(await app.refreshed(app.bob)).toMatchObject({ role: 'operator', operates: ['lxc:101', 'lxc:102'] })
  app.say('bob', { ...BOB, groups: ['bob'] })
  app.say('alice', { ...ALICE, groups: ['alice', 'ops'] })

  app.advance(9 * MINUTE)
  await app.recheck()

  expect(await rows(app.db, 'SELECT is_admin, operates FROM users WHERE id > 0 ORDER BY username')).toEqual([
    { is_admin: 0, operates: '"all"' },
    { is_admin: 0, operates: null },
  ])
  expect((await app.entries()).map(({ action, target, details }) => [action, target, details])).toEqual(
    expect.arrayContaining([
      [
        'rights_changed',
        'bob',
        expect.objectContaining({ role: 'viewer', role_before: 'operator', targets_before: 'lxc:101,lxc:102' }),
      ],
      ['rights_changed', 'alice', expect.objectContaining({ role: 'operator', role_before: 'admin', confirmed: true })],
    ]),
  )
  expect(await app.refreshed(app.bob)).toMatchObject({ role: 'viewer' })
  expect(await app.refreshed(app.alice)).toMatchObject({ role: 'operator', is_admin: false })
})

test('a token with lost rights is of no use fifteen minutes after the loss, without any task', async () => {
  const app = await start()
  app.say('alice', { ...ALICE, groups: ['alice'] })

  app.advance(15 * MINUTE)

  expect(await meStatus(app, app.alice)).toBe(401)
  expect(await app.refreshed(app.alice)).toMatchObject({ is_admin: false })
})

test('a host that does not answer changes nothing, and is asked again', async () => {
  const app = await start()
  app.say('alice', AWAY)
  app.say('bob', AWAY)
  app.advance(9 * MINUTE)
  const before = await rows(app.db, 'SELECT is_admin, operates, rights_at FROM users WHERE id > 0')

  await app.recheck()
  expect(await rows(app.db, 'SELECT is_admin, operates, rights_at FROM users WHERE id > 0')).toEqual(before)
  expect(await app.entries()).toEqual([])

  app.say('bob', null)
  app.advance(MINUTE)
  await app.recheck()
  expect(await storedSessions(app)).toEqual([app.alice.sid])
})

test('an ended account with API tokens has one entry, however often the host says so', async () => {
  const app = await start()
  await app.db.run(
    `INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at) VALUES (?, '', 'h', 'viewer', '"all"', '')`,
    [app.bob.userId],
  )
  await app.services.sessions.end({ userId: app.bob.userId })
  app.say('bob', null)

  for (let run = 0; run < 5; run++) {
    app.advance(9 * MINUTE)
    await app.recheck()
  }

  const ended = (await app.entries()).filter(({ action }) => action === 'account_ended')
  expect(ended).toMatchObject([{ target: 'bob', details: { reason: 'gone' } }])
})

test('a barred account is not asked about', async () => {
  const app = await start()
  await app.db.run(`UPDATE users SET barred_at = 'x' WHERE username = 'bob'`)
  app.advance(9 * MINUTE)

  await app.recheck()

  expect(app.asked).toEqual(['alice'])
})
