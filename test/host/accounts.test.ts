import { beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from './audit.ts'
import { freshAddress, login, signIn } from './client.ts'
import { type Account, forgeAdministrator, inside, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'
import { ownWord } from './stored.ts'

let service: Service
/** Returns the number of lines in sshd's log. */
const sshdLog = () => inside('host', 'grep -c . /var/log/sshd.log || true')
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
    ['zoe', false, 'a password in UTF-8 may have a space and quotes'],
    ['shut', false, 'an account whose shell runs no commands is a user'],
    ['mustchange', false, 'an account whose password must be changed is a user'],
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

  test.each(['bob:anything', 'bob:', 'bob/staff_r', ' bob', 'bob\u0000', '\u001b[2Jbob', 'b'.repeat(257)])(
    'the name %j, in which sshd may find another account, is 401 without asking the host',
    async (username) => {
      const before = await sshdLog()

      const { status, body } = await login(service, username, PASSWORDS.bob)

      expect({ status, body }).toMatchObject({ status: 401, body: { code: 'bad_credentials' } })
      expect(await sshdLog()).toBe(before)
      const [entry] = await auditEntries(await signIn(service, 'root'), 'action=login_failed&limit=1')
      expect(entry?.username).toMatch(/^[^\p{Cc}]+$/u)
    },
  )

  test('a group whose name has a space does not count as the groups of its words', async () => {
    await inside('host', "sed -i '$a admin staff:x:4242:zoe\\nroot sudo:x:4243:zoe' /etc/group")
    expect(await inside('host', 'id -Gn zoe')).toBe('zoe admin staff root sudo')

    const { body } = await login(service, 'zoe', PASSWORDS.zoe)

    expect(body).toMatchObject({ user: { username: 'zoe', is_admin: false } })
  })

  test('the group wheel counts only if sudo gives its members root’s rights', async () => {
    await inside('host', 'groupadd wheel; usermod -aG wheel ops')
    const isAdmin = async () => (await login(service, 'ops', PASSWORDS.ops)).body

    const without = await isAdmin()
    await inside('host', "echo '%wheel ALL=(ALL:ALL) ALL' >/etc/sudoers.d/wheel; chmod 440 /etc/sudoers.d/wheel")
    const withRule = await isAdmin()
    await inside('host', 'rm /etc/sudoers.d/wheel; gpasswd -d ops wheel')

    expect(without).toMatchObject({ user: { is_admin: false } })
    expect(withRule).toMatchObject({ user: { is_admin: true } })
  })

  test.each<Account>(['shut', 'mustchange'])(
    '%s, whose sessions the host refuses, can neither start nor cancel an upgrade',
    async (account) => {
      const [kept, root] = [await signIn(service, account), await signIn(service, 'root')]

      const started = await kept.post('/api/updates/run', { target: 'lxc:101' })
      const cancelled = await kept.post('/api/updates/jobs/1772366400-k3x9q2pa/cancel', {})

      for (const answer of [started, cancelled])
        expect(answer).toMatchObject({ status: 403, body: { code: 'account_kept_out' } })
      expect((await root.get('/api/updates/history')).body).toBeNull()
      expect((await kept.get('/api/updates/targets')).status).toBe(200)
    },
  )

  test('many wrong passwords at once keep out no correct one', async () => {
    const crowd = Array.from({ length: 12 }, (_, n) => login(service, `crowd${n}`, 'wrong'))
    const bob = await login(service, 'bob', PASSWORDS.bob)
    const codes = (await Promise.all(crowd)).map(({ body }) => body)

    expect(bob.status).toBe(200)
    expect(codes).toEqual(crowd.map(() => expect.objectContaining({ code: 'bad_credentials' })))
  })

  test('a signed-in user gets their name and role', async () => {
    const alice = await signIn(service, 'alice')

    const { body } = await alice.get('/api/auth/me')

    expect(body).toMatchObject({ username: 'alice', is_admin: true, lang: 'fr', last_login_at: expect.any(String) })
  })

  test('a user who forges the answer of `id` in their start-up files is no administrator', async () => {
    await forgeAdministrator('bob')

    const { body } = await login(service, 'bob', PASSWORDS.bob)

    expect(body).toMatchObject({ user: { username: 'bob', is_admin: false } })
    expect(await ownWord(service.folder, 'bob')).toBe('administrator')
  })

  test('an administrator whose start-up files print text is still recognised', async () => {
    await inside('host', "sed -i '1i echo Bienvenue; echo Bienvenue >&2' ~alice/.bashrc")

    const { body } = await login(service, 'alice', PASSWORDS.alice)

    expect(body).toMatchObject({ user: { username: 'alice', is_admin: true } })
  })

  test('requests without a valid token are limited by address, without effect on a signed-in user there', async () => {
    const from = freshAddress()
    const ask = async (token?: string) => {
      const headers = { 'x-forwarded-for': from, ...(token && { authorization: `Bearer ${token}` }) }
      return (await fetch(`${service.url}/api/auth/me`, { headers })).status
    }
    const bob = await signIn(service, 'bob')
    const changed = `${bob.token.slice(0, -4)}AAAA`
    const answers: number[] = []
    for (let n = 0; n < 1500; n += 1) answers.push(await ask(n % 3 ? undefined : changed))

    // The limit is 120 a minute; this leaves room for three minutes.
    expect(answers.slice(0, 120)).toEqual(Array(120).fill(401))
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(360)
    expect(answers.at(-1)).toBe(429)
    expect(await ask(bob.token)).toBe(200)
    const lines = service.log().match(/.*request refused.*/g) ?? []
    expect(lines.filter((line) => line.includes(from)).length).toBeLessThan(60)
    expect(lines.join('\n')).toContain(from)
  })

  test('the log contains no password', () => {
    const leaked = Object.values(PASSWORDS).filter((password) => service.log().includes(password))

    expect(leaked).toEqual([])
  })
})
