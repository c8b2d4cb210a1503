import { fail } from '../../../functions/services.ts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { answered, audited, auditedActions, refused, rows } from '../answers.ts'

const Answer = z.object({ user: z.object({ is_admin: z.boolean() }) })

/**
 * Signs bob in: `claimed` is the answer of his own connection, `confirmed` the answer or error of the service account.
 */
async function signIn({
  claimed,
  confirmed = claimed,
  env = {},
}: {
  claimed: FakeAccount
  confirmed?: FakeAccount | Error
  env?: Record<string, string>
}) {
  const asked: string[] = []
  const app = await testApp([login], {
    env,
    fake: {
      signIn: () => claimed,
      inspect(username) {
        asked.push(username)
        if (confirmed instanceof Error) throw confirmed
        return confirmed
      },
    },
  })
  const response = await app.request('POST', '/api/auth/login', { body: { username: 'bob', password: 'x' } })
  return { app, asked, response }
}

const isAdmin = async (response: Response) => Answer.parse(await answered(response, 200)).user.is_admin

test.each([
  ['uid 0', { uid: 0, groups: ['root'] }],
  ['a member of sudo', { uid: 1000, groups: ['bob', 'sudo'] }],
  ['a member of wheel, which sudo makes root', { uid: 1000, groups: ['wheel'], sudo: true }],
  ['a member of admin', { uid: 1000, groups: ['users', 'admin', 'bob'] }],
])('%s is an administrator after the service account has confirmed it', async (_, claimed) => {
  const { app, asked, response } = await signIn({ claimed })

  expect(await isAdmin(response)).toBe(true)
  expect(asked).toEqual(['bob'])
  expect(await rows(app.db, 'SELECT is_admin FROM users WHERE id > 0')).toEqual([{ is_admin: 1 }])
})

test.each([
  ['an ordinary user', { uid: 1000, groups: ['bob'] }],
  ['a member of groups whose names only resemble', { uid: 1000, groups: ['sudoers', 'administrators', 'Sudo', ''] }],
  ['a member of groups whose names are several words', { uid: 1000, groups: ['admin staff', 'not\nsudo', ' sudo'] }],
  ['a user whose shell runs no command', null],
])('%s is signed in without being an administrator, whatever the service account reports', async (_, claimed) => {
  const { app, response } = await signIn({ claimed, confirmed: { uid: 0, groups: ['root'] } })

  expect(await isAdmin(response)).toBe(false)
  expect(await rows(app.db, 'SELECT is_admin FROM users WHERE id > 0')).toEqual([{ is_admin: 0 }])
})

test('PANEL_ADMIN_GROUPS replaces the groups, not uid 0', async () => {
  const env = { PANEL_ADMIN_GROUPS: 'ops, staff' }

  expect(await isAdmin((await signIn({ env, claimed: { uid: 1000, groups: ['staff'] } })).response)).toBe(true)
  expect(await isAdmin((await signIn({ env, claimed: { uid: 1000, groups: ['sudo'] } })).response)).toBe(false)
  expect(await isAdmin((await signIn({ env, claimed: { uid: 0, groups: [] } })).response)).toBe(true)
})

test.each([
  ['an ordinary user', { uid: 1000, groups: ['bob'] }],
  ['a member of a group whose name is several words', { uid: 1000, groups: ['admin staff'] }],
  ['an account whose shell refuses commands', { uid: 1000, groups: ['sudo'], shell: '/usr/sbin/nologin' }],
  ['an account whose password must be changed', { uid: 1000, groups: ['sudo'], overdue: 'password' as const }],
])('a claim has no effect when the service account reports %s', async (_, confirmed) => {
  const { response } = await signIn({ claimed: { uid: 0, groups: ['sudo'] }, confirmed })

  expect(await isAdmin(response)).toBe(false)
})

test('an account that the host does not know is refused', async () => {
  const { app, response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed: null })

  await refused(response, 401, 'bad_credentials')
  expect(await auditedActions(app.db)).toEqual(['login_failed'])
  expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
})

test.each([
  ['has no rights there', { sudo: false }],
  ['cannot be asked about', {}],
])('group wheel does not count when it %s, unless PANEL_ADMIN_GROUPS names it', async (_, sudo) => {
  const wheel = { uid: 1000, groups: ['bob', 'wheel'], ...sudo }

  expect(await isAdmin((await signIn({ claimed: wheel })).response)).toBe(false)
  expect(await isAdmin((await signIn({ claimed: wheel, env: { PANEL_ADMIN_GROUPS: 'wheel' } })).response)).toBe(true)
})

test('the user has the name that the host reports, not what was typed', async () => {
  const app = await testApp([login], { fake: { inspect: () => ({ name: 'bob', uid: 1000, groups: ['bob'] }) } })
  const as = async (username: string) =>
    answered(await app.request('POST', '/api/auth/login', { body: { username, password: 'x' } }), 200)

  const answers = [await as('bob'), await as('BOB'), await as('bob@example.org')]

  const bob = { id: 1, username: 'bob', is_admin: false }
  expect(answers).toEqual(answers.map(() => expect.objectContaining({ user: bob })))
  expect(app.signIns).toEqual(['bob', 'BOB', 'bob@example.org'])
  expect(await rows(app.db, 'SELECT username FROM users WHERE id > 0')).toEqual([{ username: 'bob' }])
})

test.each([
  'bob:anything',
  'bob:',
  'bob/unconfined_r',
  'bob smith',
  'bob\nroot',
  'bob\t',
  'bob\0',
  '\u001b[2Jbob',
  'bob\u009b31m',
  'bob\u202e',
  'bob\u200b',
  'bob\u2028',
  'b\u00a0ob',
  'b'.repeat(257),
])(
  '%j is an invalid name: the host is not asked, and the audit log contains nothing that a terminal obeys',
  async (username) => {
    const app = await testApp([login])

    await refused(
      await app.request('POST', '/api/auth/login', { body: { username, password: 'x' } }),
      401,
      'bad_credentials',
    )

    expect(app.signIns).toEqual([])
    const [entry] = await audited(app.db)
    expect(entry).toMatchObject({ action: 'login_failed', details: { reason: 'bad_credentials' } })
    expect(entry?.username).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}]{1,1500}$/u)
    expect(await rows(app.db, 'SELECT * FROM users WHERE id > 0')).toEqual([])
  },
)

test.each([
  'b',
  'b'.repeat(256),
  'zoë',
  '张三',
  'bob@example.org',
  'DOMAIN\\bob',
  'first.last',
  '-oProxyCommand=x',
  '$(id)',
])('%j is a valid name: the host is asked', async (username) => {
  const app = await testApp([login])

  await answered(await app.request('POST', '/api/auth/login', { body: { username, password: 'x' } }), 200)

  expect(app.signIns).toEqual([username])
})

test('a new account with the name of a deleted one does not take its sessions over', async () => {
  let uid = 1000
  const app = await testApp([login], { fake: { inspect: () => ({ uid, groups: [] }) } })
  const enter = async () =>
    answered(await app.request('POST', '/api/auth/login', { body: { username: 'bob', password: 'x' } }), 200)
  await enter()
  await enter()

  uid = 1007
  await enter()

  expect(await rows(app.db, 'SELECT user_id FROM sessions')).toHaveLength(1)
  expect((await audited(app.db)).slice(2)).toMatchObject([
    { action: 'account_ended', target: 'bob', details: { reason: 'replaced' } },
    { action: 'login_success' },
  ])
})

test.each([
  ['its connection fails', new SshError('unreachable', 'gone')],
  ['its password is wrong', new SshError('bad_credentials', 'no')],
  ['the host’s key has changed', new SshError('host_key_changed', 'other')],
  ['its password cannot be decrypted', fail('ssh_password_unreadable')],
])('a claim is denied, with a warning, when the service account cannot be asked: %s', async (_, confirmed) => {
  const { app, response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed })

  expect(await isAdmin(response)).toBe(false)
  expect(await auditedActions(app.db)).toEqual(['login_success'])
  expect(app.lines().filter((line) => line.includes('"level":"warn"') && line.includes('bob'))).toHaveLength(1)
})

test('without a service account, a claim counts only if the configuration allows it', async () => {
  const env = { PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' }
  const claimed = { uid: 0, groups: [] }
  const confirmed = fail('ssh_incomplete')

  expect(await isAdmin((await signIn({ claimed, confirmed })).response)).toBe(false)
  expect(await isAdmin((await signIn({ claimed, confirmed, env })).response)).toBe(true)
  expect(await isAdmin((await signIn({ claimed: { uid: 1000, groups: [] }, confirmed, env })).response)).toBe(false)
  const away = new SshError('unreachable', 'gone')
  expect(await isAdmin((await signIn({ claimed, confirmed: away, env })).response)).toBe(false)
  const sealed = fail('ssh_password_unreadable')
  expect(await isAdmin((await signIn({ claimed, confirmed: sealed, env })).response)).toBe(false)
})

test('any other error fails the sign-in', async () => {
  const { app, response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed: new TypeError('a mistake') })

  await refused(response, 500, 'internal')
  expect(await auditedActions(app.db)).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
})

test('while the service account cannot be asked nobody is an administrator, former administrators included', async () => {
  const administrators = { uid: 1000, groups: ['sudo'] }
  let answer: FakeAccount | Error = administrators
  const app = await testApp([login], {
    fake: {
      signIn: () => administrators,
      inspect() {
        if (answer instanceof Error) throw answer
        return answer
      },
    },
  })
  const signInAs = async (username: string) =>
    isAdmin(await app.request('POST', '/api/auth/login', { body: { username, password: 'x' } }))

  expect(await signInAs('alice')).toBe(true)
  answer = new SshError('bad_credentials', 'authentification refusée pour panel')
  expect(await signInAs('alice')).toBe(false)
  expect(await signInAs('mallory')).toBe(false)
  answer = administrators
  expect(await signInAs('alice')).toBe(true)
})

test.each([
  ['BOB', 'as the host writes it', 'bob'],
  ['robert', 'as the host writes it', 'bob'],
  ['bob@corp.example', 'as the host writes it', 'bob'],
  ['CORP\\bob', 'as the host writes it', 'bob'],
  ['BOB', 'as it was typed', undefined],
  ['bob@corp.example', 'as it was typed', undefined],
])(
  '%s goes around no second factor where nobody confirms who that is, and its own connection names it %s',
  async (typed, _, name) => {
    let isAway = true
    const app = await testApp([login], {
      env: { PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' },
      fake: {
        signIn: () => ({ ...(name !== undefined && { name }), uid: 1000, groups: ['sudo'] }),
        inspect() {
          if (isAway) throw fail('ssh_incomplete')
          return { name: 'bob', uid: 1000, groups: ['sudo'] }
        },
      },
    })
    const signInAs = (username: string) => app.request('POST', '/api/auth/login', { body: { username, password: 'x' } })
    expect(await isAdmin(await signInAs('bob'))).toBe(true)
    expect(await isAdmin(await signInAs(typed))).toBe(true)
    await app.db.run(
      "INSERT INTO factors (user_id, kind, name, secret_sealed, created_at) SELECT id, 'totp', 'phone', 'x', '' FROM users WHERE username = 'bob'",
    )

    await refused(await signInAs(typed), 503, 'rights_unknown')

    await refused(await signInAs('bob'), 401, 'factor_required')
    isAway = false
    await refused(await signInAs(typed), 401, 'factor_required')
  },
)

test('two accounts whose names differ only in case sign in by factors of their own, unless one is barred', async () => {
  const app = await testApp([login], {
    env: { PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' },
    fake: {
      signIn: (username) => ({ name: username, uid: 1000, groups: [] }),
      inspect() {
        throw fail('ssh_incomplete')
      },
    },
  })
  const signInAs = (username: string) => app.request('POST', '/api/auth/login', { body: { username, password: 'x' } })
  for (const name of ['bob', 'Bob']) await answered(await signInAs(name), 200)
  const add = "INSERT INTO factors (user_id, kind, name, secret_sealed, created_at) SELECT id, 'totp', 'phone', 'x', ''"
  await app.db.run(`${add} FROM users WHERE id > 0`)

  for (const name of ['bob', 'Bob']) await refused(await signInAs(name), 401, 'factor_required')

  await app.db.run("UPDATE users SET barred_at = '2026-03-01T00:00:00.000Z' WHERE username = 'bob'")
  await refused(await signInAs('Bob'), 503, 'rights_unknown')
})
