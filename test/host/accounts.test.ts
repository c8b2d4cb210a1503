import { beforeAll, describe, expect, test } from 'vitest'
import { login, signIn } from './client.ts'
import { type Account, inside, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  return () => service.stop()
})

describe('signing in with an account of the host', () => {
  test.each<[Account, boolean, string]>([
    ['root', true, 'uid 0 is an administrator'],
    ['alice', true, 'a member of sudo is an administrator'],
    ['bob', false, 'an ordinary account is a user'],
    ['zoe', false, 'a password in UTF-8 with a space and quotes is taken as it is'],
    ['shut', false, 'a shell that runs no commands is no obstacle, and no administrator'],
    ['mustchange', false, 'a password that must be changed is no obstacle, and no administrator'],
  ])('%s: 200, administrator %s: %s', async (account, is_admin) => {
    const { status, body } = await login(service, account, PASSWORDS[account])

    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_in: 900,
      user: { id: expect.any(Number), username: account, is_admin },
    })
    expect(status).toBe(200)
  })

  test.each<[string, string, string]>([
    ['a locked account', 'locked', PASSWORDS.locked],
    ['an expired account', 'expired', PASSWORDS.expired],
    ['a wrong password', 'bob', 'wrong'],
    ['an unknown account', 'nobody-here', 'wrong'],
    ['a name that looks like an option', '-oProxyCommand=touch /tmp/pwned', 'wrong'],
    ['a name of two lines', 'bob\nroot', PASSWORDS.bob],
  ])('%s: 401 within seconds', async (_, username, password) => {
    const { status, body, ms } = await login(service, username, password)

    expect(body).toEqual({ error: 'Nom d’utilisateur ou mot de passe incorrect.', code: 'bad_credentials' })
    expect(status).toBe(401)
    expect(ms).toBeLessThan(10_000)
  })

  test('a crowd of wrong passwords keeps no right one out', async () => {
    const crowd = Array.from({ length: 12 }, (_, n) => login(service, `crowd${n}`, 'wrong'))
    const bob = await login(service, 'bob', PASSWORDS.bob)
    const codes = (await Promise.all(crowd)).map(({ body }) => body)

    expect(bob.status).toBe(200)
    expect(codes).toEqual(crowd.map(() => expect.objectContaining({ code: 'bad_credentials' })))
  })

  test('who is signed in is known by name and role', async () => {
    const alice = await signIn(service, 'alice')

    const { body } = await alice.get('/api/auth/me')

    expect(body).toMatchObject({ username: 'alice', is_admin: true, lang: 'fr', last_login_at: expect.any(String) })
  })

  test('who forges the answer of `id` in the own start-up files is no administrator', async () => {
    const forged = '#!/bin/sh\\ncase $1 in -u) echo 0 ;; *) echo root sudo ;; esac\\n'
    await inside('host', `mkdir ~bob/bin; printf '${forged}' >~bob/bin/id; chmod 755 ~bob/bin/id`)
    await inside('host', "sed -i '1i PATH=~/bin:$PATH' ~bob/.bashrc")

    const { body } = await login(service, 'bob', PASSWORDS.bob)

    expect(body).toMatchObject({ user: { username: 'bob', is_admin: false } })
  })

  test('who has chatty start-up files is known all the same', async () => {
    await inside('host', "sed -i '1i echo Bienvenue; echo Bienvenue >&2' ~alice/.bashrc")

    const { body } = await login(service, 'alice', PASSWORDS.alice)

    expect(body).toMatchObject({ user: { username: 'alice', is_admin: true } })
  })

  test('no password is ever logged', () => {
    const leaked = Object.values(PASSWORDS).filter((password) => service.log().includes(password))

    expect(leaked).toEqual([])
  })
})
