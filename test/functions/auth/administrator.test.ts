import { expect, test } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import { Failure } from '../../../runtime/errors.ts'
import type { Identity } from '../../../runtime/identity.ts'
import { SshError } from '../../../runtime/ssh-connection.ts'
import { testApp } from '../../app.ts'
import { answered, auditedActions, refused, rows } from '../answers.ts'

const Answer = z.object({ user: z.object({ is_admin: z.boolean() }) })

/** Signs bob in: `claimed` is what his own connection says, `confirmed` what the service account is told or throws. */
async function signIn({
  claimed,
  confirmed = claimed,
  env = {},
}: {
  claimed: Identity
  confirmed?: Identity | Error
  env?: Record<string, string>
}) {
  const asked: string[] = []
  const app = await testApp([login], {
    env,
    fake: {
      signIn: () => claimed,
      identify(username) {
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
  ['a member of wheel', { uid: 1000, groups: ['wheel'] }],
  ['a member of admin', { uid: 1000, groups: ['users', 'admin', 'bob'] }],
])('%s is an administrator, once the service account has confirmed it', async (_, claimed) => {
  const { app, asked, response } = await signIn({ claimed })

  expect(await isAdmin(response)).toBe(true)
  expect(asked).toEqual(['bob'])
  expect(await rows(app.db, 'SELECT is_admin FROM users')).toEqual([{ is_admin: 1 }])
})

test.each([
  ['an ordinary user', { uid: 1000, groups: ['bob'] }],
  ['a member of groups whose names only resemble', { uid: 1000, groups: ['sudoers', 'administrators', 'Sudo', ''] }],
  ['a user whose shell runs no command', null],
])('%s is signed in, no administrator, and the service account is not asked', async (_, claimed) => {
  const { app, asked, response } = await signIn({ claimed, confirmed: { uid: 0, groups: ['root'] } })

  expect(await isAdmin(response)).toBe(false)
  expect(asked).toEqual([])
  expect(await rows(app.db, 'SELECT is_admin FROM users')).toEqual([{ is_admin: 0 }])
})

test('PANEL_ADMIN_GROUPS replaces the groups, not uid 0', async () => {
  const env = { PANEL_ADMIN_GROUPS: 'ops, staff' }

  expect(await isAdmin((await signIn({ env, claimed: { uid: 1000, groups: ['staff'] } })).response)).toBe(true)
  expect(await isAdmin((await signIn({ env, claimed: { uid: 1000, groups: ['sudo'] } })).response)).toBe(false)
  expect(await isAdmin((await signIn({ env, claimed: { uid: 0, groups: [] } })).response)).toBe(true)
})

test.each([
  ['an ordinary user', { uid: 1000, groups: ['bob'] }],
  ['nobody it knows', null],
])('a claim is worth nothing when the service account is told of %s', async (_, confirmed) => {
  const { response } = await signIn({ claimed: { uid: 0, groups: ['sudo'] }, confirmed })

  expect(await isAdmin(response)).toBe(false)
})

test.each([
  ['its connection fails', new SshError('unreachable', 'gone')],
  ['its password is wrong', new SshError('bad_credentials', 'no')],
  ['the host’s key has changed', new SshError('host_key_changed', 'other')],
  ['its password cannot be decrypted', new Failure('ssh_password_unreadable')],
])('a claim is denied, with a warning, when the service account cannot be asked: %s', async (_, confirmed) => {
  const { app, response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed })

  expect(await isAdmin(response)).toBe(false)
  expect(await auditedActions(app.db)).toEqual(['login_success'])
  expect(app.lines().filter((line) => line.includes('"level":"warn"') && line.includes('bob'))).toHaveLength(1)
})

test('before a service account is set, the claim stands', async () => {
  const { response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed: new Failure('ssh_incomplete') })

  expect(await isAdmin(response)).toBe(true)
})

test('any other failure ends the sign-in', async () => {
  const { app, response } = await signIn({ claimed: { uid: 0, groups: [] }, confirmed: new TypeError('a mistake') })

  await refused(response, 500, 'internal')
  expect(await auditedActions(app.db)).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
})

test('while the service account cannot be asked, who was confirmed before stays one; whoever was not does not become one', async () => {
  const administrators = { uid: 1000, groups: ['sudo'] }
  let answer: Identity | Error = administrators
  let claimed: Identity = administrators
  const app = await testApp([login], {
    fake: {
      signIn: () => claimed,
      identify() {
        if (answer instanceof Error) throw answer
        return answer
      },
    },
  })
  const signInAs = async (username: string) =>
    isAdmin(await app.request('POST', '/api/auth/login', { body: { username, password: 'x' } }))

  expect(await signInAs('alice')).toBe(true)
  answer = new SshError('bad_credentials', 'authentification refusée pour panel')

  expect(await signInAs('alice')).toBe(true)
  expect(await signInAs('mallory')).toBe(false)
  claimed = { uid: 1000, groups: ['alice'] }
  expect(await signInAs('alice')).toBe(false)
  claimed = administrators
  expect(await signInAs('alice')).toBe(false)
})
