import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { meStatus, signIn } from './client.ts'

const OPERATORS = 'web:lxc/101,lxc/102;db:host,lxc/102;ops'
const AWAY = new SshError('unreachable', 'gone')

const Me = z.object({ role: z.string(), operates: z.array(z.string()).optional(), is_admin: z.boolean() })
const Answer = z.object({ access_token: z.string() })

/** An app whose host tells these groups of every account, to itself and to the service account. */
async function start(env: Record<string, string>, groups: string[]) {
  let told: FakeAccount | Error = { uid: 1000, groups }
  const app = await testApp([login, me, refresh], {
    env,
    fake: {
      signIn: () => ({ uid: 1000, groups }),
      inspect() {
        if (told instanceof Error) throw told
        return told
      },
    },
  })
  const say = (next: string[] | Error) => {
    told = next instanceof Error ? next : { uid: 1000, groups: next }
  }
  const login_ = () => app.request('POST', '/api/auth/login', { body: { username: 'alice', password: 'secret' } })
  const rightsOf = async (token: string) =>
    Me.parse(
      await answered(await app.request('GET', '/api/auth/me', { headers: { authorization: `Bearer ${token}` } }), 200),
    )
  return { app, say, login: login_, rightsOf }
}

const signedIn = async ({ login: ask, rightsOf }: Awaited<ReturnType<typeof start>>) =>
  rightsOf(Answer.parse(await answered(await ask(), 200)).access_token)

const ADMIN = { role: 'admin', is_admin: true }
const EVERYTHING = { role: 'operator', is_admin: false }
const VIEWER = { role: 'viewer', is_admin: false }
const on = (...operates: string[]) => ({ role: 'operator', operates, is_admin: false })
const UNINVITED = 'not_invited'

const NOTHING = {}
const WITH_OPERATORS = { PANEL_OPERATOR_GROUPS: OPERATORS }
const WITH_VIEWERS = { PANEL_VIEWER_GROUPS: 'staff' }
const WITH_BOTH = { ...WITH_OPERATORS, ...WITH_VIEWERS }
const WITH_DOOR = { PANEL_SIGN_IN_GROUPS: 'panel' }
const WITH_ALL = { ...WITH_BOTH, ...WITH_DOOR }

test.each([
  ['without variables, everybody works', NOTHING, ['alice'], EVERYTHING],
  ['without variables, an administrator', NOTHING, ['sudo'], ADMIN],
  ['operators: of all targets', WITH_OPERATORS, ['ops'], EVERYTHING],
  ['operators: of some targets', WITH_OPERATORS, ['web'], on('lxc:101', 'lxc:102')],
  ['operators: of the targets of two groups', WITH_OPERATORS, ['db', 'web'], on('host', 'lxc:101', 'lxc:102')],
  ['operators: of all targets beside some', WITH_OPERATORS, ['web', 'ops'], EVERYTHING],
  ['operators: in none of them', WITH_OPERATORS, ['alice'], UNINVITED],
  ['operators: an administrator is in none of them', WITH_OPERATORS, ['sudo'], ADMIN],
  ['operators: a group whose name begins alike', WITH_OPERATORS, ['op', 'opsx', 'web:lxc/101'], UNINVITED],
  ['viewers: one', WITH_VIEWERS, ['staff'], VIEWER],
  ['viewers: nobody else', WITH_VIEWERS, ['alice'], UNINVITED],
  ['viewers: an administrator is one', WITH_VIEWERS, ['staff', 'sudo'], ADMIN],
  ['both: whoever is in both works', WITH_BOTH, ['staff', 'web'], on('lxc:101', 'lxc:102')],
  ['both: a viewer', WITH_BOTH, ['staff'], VIEWER],
  ['both: in none of them', WITH_BOTH, ['alice'], UNINVITED],
  ['the door: open for its group', WITH_DOOR, ['panel'], EVERYTHING],
  ['the door: closed for an operator', WITH_ALL, ['ops'], UNINVITED],
  ['the door: closed for an administrator', WITH_DOOR, ['sudo'], UNINVITED],
  ['the door: open, and in no other group', WITH_ALL, ['panel'], UNINVITED],
  ['the door: open for a viewer', WITH_ALL, ['panel', 'staff'], VIEWER],
  ['the door: open for an administrator', WITH_ALL, ['panel', 'sudo'], ADMIN],
  ['a door for nobody', { PANEL_SIGN_IN_GROUPS: ',' }, ['sudo'], UNINVITED],
  ['other administrators', { ...WITH_OPERATORS, PANEL_ADMIN_GROUPS: 'root-of-panel' }, ['sudo'], UNINVITED],
])('%s', async (_, env, groups, rights) => {
  const world = await start(env, groups)

  if (typeof rights === 'string') {
    await refused(await world.login(), 403, rights)
    expect(await rows(world.app.db, 'SELECT id FROM sessions')).toEqual([])
    expect(await rows(world.app.db, 'SELECT id FROM users WHERE id > 0')).toEqual([])
    expect(await audited(world.app.db)).toMatchObject([{ action: 'login_failed', details: { reason: 'uninvited' } }])
  } else {
    expect(await signedIn(world)).toEqual(rights)
    expect(await audited(world.app.db)).toMatchObject([{ action: 'login_success' }])
  }
})

test.each([
  ['nothing is set', NOTHING, 200],
  ['groups of operators decide', WITH_OPERATORS, 503],
  ['groups of viewers decide', WITH_VIEWERS, 503],
  ['groups decide who signs in', WITH_DOOR, 503],
])('while the host does not tell the groups and %s, a sign-in gives %s', async (_, env, status) => {
  const world = await start(env, ['ops', 'staff', 'panel', 'sudo'])
  world.say(AWAY)

  // The account's own word gives no right that depends on its groups.
  if (status === 200) expect(await signedIn(world)).toEqual(EVERYTHING)
  else await refused(await world.login(), 503, 'rights_unknown')
})

test.each([
  ['leaves its group', WITH_OPERATORS, ['web'], ['alice'], 'uninvited'],
  ['leaves the group that signs in', WITH_DOOR, ['panel', 'sudo'], ['sudo'], 'uninvited'],
])('whoever %s is out at the next refresh, in all sessions', async (_, env, before, after, reason) => {
  const { app, say } = await start(env, before)
  const [one, other] = [await signIn(app, 'alice'), await signIn(app, 'alice')]
  say(after)

  const renewal = await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${one.refresh}` } })

  await refused(renewal, 401, 'session_ended')
  expect([await meStatus(app, one), await meStatus(app, other)]).toEqual([401, 401])
  expect(await rows(app.db, 'SELECT id FROM sessions')).toEqual([])
  expect((await audited(app.db)).at(-1)).toMatchObject({ action: 'account_ended', details: { reason } })
})

test('rights shrink and grow with the groups at each refresh, and the log tells the targets', async () => {
  const { app, say, rightsOf } = await start(WITH_BOTH, ['ops'])
  const { refresh: cookie } = await signIn(app, 'alice')
  const renewed = async () => {
    const answer = await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${cookie}` } })
    return rightsOf(Answer.parse(await answered(answer, 200)).access_token)
  }

  say(['web'])
  expect(await renewed()).toEqual(on('lxc:101', 'lxc:102'))
  say(['staff'])
  expect(await renewed()).toEqual(VIEWER)
  say(['sudo', 'staff'])
  // The account itself did not claim to be an administrator when it signed in.
  expect(await renewed()).toEqual(VIEWER)
})

test('while the host does not tell the groups, whoever is signed in may read', async () => {
  const { app, say, rightsOf } = await start(WITH_OPERATORS, ['ops'])
  const { refresh: cookie } = await signIn(app, 'alice')
  say(AWAY)

  const answer = await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${cookie}` } })

  expect(await rightsOf(Answer.parse(await answered(answer, 200)).access_token)).toEqual(VIEWER)
})

test('a barred account does not sign in, and is out at the next refresh', async () => {
  const { app, login: ask } = await start(NOTHING, ['sudo'])
  const { refresh: cookie } = await signIn(app, 'alice')
  await app.db.run(
    `UPDATE users SET barred_at = '2026-03-01T12:00:00.000Z', barred_by = 'bob' WHERE username = 'alice'`,
  )

  await refused(await ask(), 403, 'account_barred')
  const renewal = await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${cookie}` } })

  await refused(renewal, 401, 'session_ended')
  expect((await audited(app.db)).map(({ action, details }) => [action, details])).toMatchObject([
    ['login_success', {}],
    ['login_failed', { reason: 'barred' }],
    ['account_ended', { reason: 'barred' }],
  ])
})
