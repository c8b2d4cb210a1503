import { describe, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openTerminal, say } from '../terminal-client.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import { codeOf as totpOf } from '../functions/factors/person.ts'
import { ask, type Caller, caller, freshAddress, login, signedIn, signIn } from './client.ts'
import { runJob } from './job.ts'
import { type Account, hostFingerprint, inside, PASSWORDS, resetWithSshd, rig, SSH_HOST } from './rig.ts'
import { answerTo, askedAfterPassword, askedBy, askForCode, BY_PROMPTS, CODE } from './second-factor.ts'
import { type Service, startService } from './service.ts'
import { startups } from './startups.ts'

const NEW_PASSWORD = 'Quite-another-1'

const Checked = z.object({
  checks: z
    .array(z.looseObject({ id: z.string(), ok: z.boolean(), optional: z.boolean().optional() }))
    .refine((checks) => checks.some(({ id }) => id === 'authenticated')),
})

/** Starts the service against a host that asks by keyboard-interactive alone. */
function hostWith(lines: string[], prepare: () => Promise<void> = async () => {}) {
  const running: { service?: Service } = {}
  beforeAll(async () => {
    await resetWithSshd(...BY_PROMPTS, ...lines)
    await prepare()
    running.service = await startService()
    return async () => {
      await running.service?.stop()
      await rig('reset')
    }
  })
  return (): Service => {
    if (!running.service) throw new Error('the service has not started')
    return running.service
  }
}

/** Adds an authenticator to the caller's account, as if two days ago, and returns it. */
async function addAuthenticator(person: Caller, folder: string): Promise<{ secret: string; id: number }> {
  const begun = z
    .object({ secret: z.string(), challenge: z.string() })
    .parse((await person.post('/api/auth/factors/totp', { name: 'Phone' })).body)
  const code = totpOf(begun.secret, Math.floor(Date.now() / 30_000) - 1)
  const added = await person.post('/api/auth/factors/totp/confirm', { challenge: begun.challenge, code })
  expect(added.status, JSON.stringify(added.body)).toBe(200)
  const db = await openDatabase(`file:${folder}/panel.db`)
  await db.run('UPDATE factors SET created_at = ?', [new Date(Date.now() - 2 * 86_400_000).toISOString()])
  await db.close()
  const { factor } = z.object({ factor: z.object({ id: z.number() }) }).parse(added.body)
  return { secret: begun.secret, id: factor.id }
}

describe('an sshd without password authentication, which asks by keyboard-interactive', () => {
  const service = hostWith([])

  test.each<[Account, boolean]>([
    ['root', true],
    ['alice', true],
    ['bob', false],
    ['zoe', false],
  ])('%s signs in by the password alone', async (account, is_admin) => {
    const { status, body } = await login(service(), account, PASSWORDS[account])

    expect({ status, body }).toMatchObject({ status: 200, body: { user: { username: account, is_admin } } })
  })

  test.each<[string, string, string]>([
    ['a wrong password', 'bob', 'wrong'],
    ['an unknown account', 'nobody-here', 'wrong'],
    ['a locked account', 'locked', PASSWORDS.locked],
    ['an expired account', 'expired', PASSWORDS.expired],
  ])('%s is refused as everywhere', async (_, username, password) => {
    const { status, body } = await login(service(), username, password)

    expect({ status, body }).toMatchObject({ status: 401, body: { code: 'bad_credentials' } })
  })

  test('upgrades and terminals run', async () => {
    const alice = await signIn(service(), 'alice')

    expect((await runJob(alice, 'lxc:101')).record).toMatchObject({ status: 'success' })
    const terminal = await openTerminal({ url: service().url, token: alice.token }, 'host')
    expect(await say(terminal, 'id -un')).toBe('root\r\n')
  })

  test('the setup page finds the host usable', async () => {
    const fresh = await startService({ as: null })
    await expect.poll(() => fresh.log(), { timeout: 5_000 }).toContain('jeton d’installation')
    const [, setup_token] = /jeton d’installation : ([\w-]+)/.exec(fresh.log()) ?? []

    const { body } = await ask(fresh, 'POST', '/api/install/check', {
      setup_token,
      ssh_host: SSH_HOST,
      ssh_username: 'root',
      ssh_password: PASSWORDS.root,
    })

    await fresh.stop()
    expect(Checked.parse(body).checks.filter(({ ok, optional }) => !ok && !optional)).toEqual([])
  })

  test('a password that must be changed is changed, in the host’s own words', async () => {
    const current = await askedAfterPassword(service(), 'mustchange')
    expect(current.prompts).toEqual([
      {
        text: expect.stringMatching(/^You are required to change your password immediately[\s\S]*Current password:$/),
        echo: false,
      },
    ])

    const next = askedBy(await answerTo(service(), current.challenge, PASSWORDS.mustchange))
    expect(next.prompts).toEqual([{ text: 'New password:', echo: false }])
    const again = askedBy(await answerTo(service(), next.challenge, NEW_PASSWORD))
    expect(again.prompts).toEqual([{ text: 'Retype new password:', echo: false }])
    const { status, body } = await answerTo(service(), again.challenge, NEW_PASSWORD)

    expect({ status, body }).toMatchObject({ status: 200, body: { user: { username: 'mustchange' } } })
    expect((await login(service(), 'mustchange', NEW_PASSWORD)).status).toBe(200)
    expect((await login(service(), 'mustchange', PASSWORDS.mustchange)).status).toBe(401)
    expect(service().log()).not.toContain(NEW_PASSWORD)
  })

  test('a change with the wrong current password changes nothing', async () => {
    await inside('host', 'chage -d 0 zoe')
    const { challenge } = await askedAfterPassword(service(), 'zoe')

    const { status, body } = await answerTo(service(), challenge, 'not the current one')

    expect({ status, body }).toMatchObject({ status: 401, body: { code: 'answers_refused' } })
    await inside('host', 'chage -d 2026-01-01 zoe')
    expect((await login(service(), 'zoe', PASSWORDS.zoe)).status).toBe(200)
  })
})

describe('a host whose PAM asks for a code after the password', () => {
  const service = hostWith(['MaxStartups 60', 'LoginGraceTime 120'], () => askForCode())

  test('the right code signs in, with everything that a password gives', async () => {
    const { challenge, prompts } = await askedAfterPassword(service(), 'alice')
    expect(prompts).toEqual([{ text: expect.stringMatching(/^Verification code for alice\n/), echo: false }])

    const alice = signedIn(service(), await answerTo(service(), challenge, CODE))

    expect((await alice.get('/api/auth/me')).body).toMatchObject({ username: 'alice', role: 'admin' })
    expect((await runJob(alice, 'lxc:102')).record).toMatchObject({ status: 'success' })
    const terminal = await openTerminal({ url: service().url, token: alice.token }, 'lxc:101')
    expect(await say(terminal, 'id -un')).toBe('root\r\n')
    expect((await alice.get('/api/audit?limit=20')).body).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ action: 'login_asked', username: 'alice' }),
        expect.objectContaining({ action: 'login_success', username: 'alice' }),
      ]),
    })
  })

  test('a wrong code is refused, and its challenge is over; a wrong password is asked nothing', async () => {
    const { challenge } = await askedAfterPassword(service(), 'bob')

    expect(await answerTo(service(), challenge, '000000')).toMatchObject({
      status: 401,
      body: { code: 'answers_refused' },
    })
    expect(await answerTo(service(), challenge, CODE)).toMatchObject({ status: 410, body: { code: 'challenge_over' } })
    expect(await login(service(), 'bob', 'wrong')).toMatchObject({ status: 401, body: { code: 'bad_credentials' } })
  })

  test('the proof of a signed-in person asks for the code as well', async () => {
    const { challenge } = await askedAfterPassword(service(), 'bob')
    const bob = signedIn(service(), await answerTo(service(), challenge, CODE))

    const asked = askedBy(await bob.post('/api/auth/step-up', { password: PASSWORDS.bob }))
    const wrong = await bob.post('/api/auth/step-up', { challenge: asked.challenge, answers: ['1'] })
    const second = askedBy(await bob.post('/api/auth/step-up', { password: PASSWORDS.bob }))
    const right = await bob.post('/api/auth/step-up', { challenge: second.challenge, answers: [CODE] })

    expect(asked.code).toBe('proof_more_asked')
    expect(wrong).toMatchObject({ status: 403, body: { code: 'proof_wrong' } })
    expect(right).toMatchObject({ status: 200, body: { expires_in: 900 } })
  })

  test('a change that wants the password again is proved by a factor of the panel', async () => {
    const { challenge } = await askedAfterPassword(service(), 'alice')
    const alice = signedIn(service(), await answerTo(service(), challenge, CODE))
    // Another name of the same machine: a change, and nothing to go back from.
    const move = {
      ssh_host: SSH_HOST.replace('127.0.0.1', 'localhost'),
      ssh_host_key: `ssh-ed25519 ${await hostFingerprint()}`,
    }
    const proven = { ...move, current_password: PASSWORDS.alice }
    const codeOf = async (response: Promise<{ body: unknown }>) =>
      z.object({ code: z.string() }).parse((await response).body).code

    expect(await codeOf(alice.patch('/api/settings', proven))).toBe('proof_needs_factor')

    const { secret, id } = await addAuthenticator(alice, service().folder)
    expect(await codeOf(alice.patch('/api/settings', proven))).toBe('step_up_required')
    const step = Math.floor(Date.now() / 30_000)
    const proof = await alice.post('/api/auth/step-up', { factor: 'totp', answers: [totpOf(secret, step)] })
    const { access_token } = z.object({ access_token: z.string() }).parse(proof.body)
    const fresh = caller(service(), access_token, '')
    expect(await codeOf(fresh.patch('/api/settings', { ...move, current_password: 'wrong' }))).toBe('proof_wrong')
    expect(await fresh.patch('/api/settings', proven)).toMatchObject({ status: 200 })
    expect((await fresh.get('/api/settings')).body).toMatchObject({ ssh_host: move.ssh_host })
    expect((await fresh.delete(`/api/auth/factors/${id}`)).status).toBe(200)
  })

  test('of twenty-five people at the question twenty wait, one address holds three, and root signs in beside them', async () => {
    const people: Account[] = ['alice', 'bob', 'zoe', 'ops']
    const home = freshAddress()
    const [first, second, third, fourth] = [
      await login(service(), 'bob', PASSWORDS.bob, home),
      await login(service(), 'bob', PASSWORDS.bob, home),
      await login(service(), 'bob', PASSWORDS.bob, home),
      await login(service(), 'bob', PASSWORDS.bob, home),
    ]
    expect(fourth).toMatchObject({ status: 503, body: { code: 'login_busy' } })

    const others = await Promise.all(
      Array.from({ length: 22 }, (_, n) => {
        const account = people[n % people.length] ?? 'bob'
        return login(service(), account, PASSWORDS[account])
      }),
    )
    const all = [first, second, third, ...others]
    const waiting = all.filter(({ status }) => status === 401).map((answer) => askedBy(answer).challenge)
    const root = await login(service(), 'root', PASSWORDS.root)

    expect(waiting).toHaveLength(20)
    expect(all.filter(({ status }) => status === 503)).toHaveLength(5)
    expect(root.status).toBe(200)
    expect(startups().now()).toBe(20)
    const [some = '', ...rest] = waiting
    expect((await answerTo(service(), some, CODE)).status).toBe(200)
    for (const challenge of rest) expect((await answerTo(service(), challenge, CODE)).status).toBe(200)
    await expect.poll(() => startups().now(), { timeout: 20_000 }).toBe(0)
  })

  test('a restart of the service meanwhile ends the connections, and says to begin again', async () => {
    const { challenge } = await askedAfterPassword(service(), 'bob')
    const folder = service().folder
    const other = await startService({ beside: service() })

    expect(await answerTo(other, challenge, CODE)).toMatchObject({ status: 409, body: { code: 'challenge_elsewhere' } })

    await other.stop()
    const second = await startService({ folder })
    const asked = await askedAfterPassword(second, 'bob')
    await second.stop()
    const third = await startService({ folder })
    expect(await answerTo(third, asked.challenge, CODE)).toMatchObject({
      status: 409,
      body: { code: 'challenge_elsewhere' },
    })
    await third.stop()
    expect((await answerTo(service(), challenge, CODE)).status).toBe(200)
    await expect.poll(() => startups().now(), { timeout: 10_000 }).toBe(0)
  })

  test('no code and no password are in the log', () => {
    const log = service().log()

    for (const secret of [CODE, ...Object.values(PASSWORDS)]) expect(log).not.toContain(secret)
  })
})

describe('an sshd that waits for five seconds only', () => {
  const service = hostWith(['LoginGraceTime 5'], () => askForCode())

  test('an answer that comes too late finds the challenge over, and the next login works', async () => {
    const { challenge } = await askedAfterPassword(service(), 'bob')
    await expect.poll(() => startups().now(), { timeout: 20_000 }).toBe(0)

    expect(await answerTo(service(), challenge, CODE)).toMatchObject({ status: 410, body: { code: 'challenge_over' } })

    const again = await askedAfterPassword(service(), 'bob')
    expect((await answerTo(service(), again.challenge, CODE)).status).toBe(200)
  })
})

describe('an sshd that takes keys only', () => {
  const running: { service?: Service } = {}
  beforeAll(async () => {
    await rig('reset')
    // The service account is checked at the start of nothing, so it may be unable to sign in.
    await resetWithSshd('PasswordAuthentication no', 'KbdInteractiveAuthentication no')
    running.service = await startService()
    return async () => {
      await running.service?.stop()
      await rig('reset')
    }
  })

  test('a right password is not called wrong', async () => {
    if (!running.service) throw new Error('the service has not started')

    const { status, body } = await login(running.service, 'bob', PASSWORDS.bob)

    expect({ status, body }).toEqual({
      status: 401,
      body: { error: 'L’hôte n’accepte aucun mot de passe, seulement des clés SSH.', code: 'passwords_not_taken' },
    })
  })
})
