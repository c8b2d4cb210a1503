import { expect, test } from 'vitest'
import * as z from 'zod'
import recheck from '../../../functions/access/recheck-users.task.ts'
import loginAnswers from '../../../functions/auth/login-answers.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import confirm from '../../../functions/factors/totp-confirm.post.ts'
import totp from '../../../functions/factors/totp.post.ts'
import answer from '../../../functions/oidc/answer.post.ts'
import provided from '../../../functions/oidc/provider.get.ts'
import request from '../../../functions/oidc/request.post.ts'
import type { Account } from '../../../ssh/ssh.ts'
import { fail } from '../../../functions/services.ts'
import { SshError } from '../../../ssh/ssh.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { codeNow, enrolTotp, answer as giveFactor } from '../factors/person.ts'
import { type Says, startProvider } from './provider.ts'

const BOB: Account = {
  name: 'bob',
  uid: 1000,
  groups: ['bob', 'ops'],
  shell: '/bin/bash',
  sudo: undefined,
  localPassword: false,
  overdue: undefined,
}

/** The time of the service, as in a token. */
const NOW = START.getTime() / 1_000

const Begun = z.object({ url: z.string(), challenge: z.string() })
const SignedIn = z.object({ access_token: z.string(), user: z.object({ username: z.string(), is_admin: z.boolean() }) })

async function start({
  host = BOB,
  env = {},
  says = {},
}: {
  host?: Account | null | Error | (() => Account)
  env?: Record<string, string>
  says?: Partial<Says>
} = {}) {
  const provider = await startProvider({ claims: { preferred_username: 'bob', auth_time: NOW }, ...says })
  const asked: string[] = []
  const app = await testApp([request, answer, provided, me, refresh, loginAnswers, totp, confirm], {
    env: {
      PANEL_OIDC_ISSUER: provider.issuer,
      PANEL_OIDC_CLIENT_ID: 'panel',
      PANEL_OIDC_CLIENT_SECRET: 'geheim-4711',
      PANEL_OIDC_NAME: 'Firma',
      PANEL_PUBLIC_URL: 'https://panel.example',
      ...env,
    },
    fake: {
      inspect(username) {
        asked.push(username)
        if (host instanceof Error) throw host
        return typeof host === 'function' ? host() : host
      },
    },
  })
  const begin = async () => Begun.parse(await answered(await app.request('POST', '/api/auth/oidc'), 200))
  const end = (challenge: string, query: string, headers = {}) =>
    app.request('POST', '/api/auth/oidc/answer', { body: { challenge, answer: query }, headers })
  const signIn = async () => {
    const { url, challenge } = await begin()
    return end(challenge, provider.signIn(url))
  }
  return { app, provider, asked, begin, end, signIn }
}

test('a person whom the provider names signs in as that account of the host', async () => {
  const { app, asked, signIn } = await start()

  const { access_token, user } = SignedIn.parse(await answered(await signIn(), 200))

  expect(user).toEqual({ username: 'bob', is_admin: false })
  expect(asked).toEqual(['bob'])
  const headers = { authorization: `Bearer ${access_token}` }
  expect(await answered(await app.request('GET', '/api/auth/me', { headers }), 200)).toMatchObject({ role: 'operator' })
  expect(await rows(app.db, 'SELECT proven_by FROM sessions')).toEqual([{ proven_by: 'oidc' }])
  expect(await audited(app.db)).toMatchObject([{ action: 'login_success', username: 'bob', details: { by: 'oidc' } }])
  expect(app.signIns).toEqual([])
  expect(app.lines().join('\n')).not.toContain('geheim-4711')
})

test('a person with a second factor of the panel is asked for it after the provider, too', async () => {
  const { app, signIn } = await start()
  const { access_token } = SignedIn.parse(await answered(await signIn(), 200))
  const { secret } = await enrolTotp(app, access_token)

  const asked = await signIn()

  expect([asked.status, asked.headers.get('set-cookie')]).toEqual([401, null])
  const { challenge } = z
    .looseObject({ code: z.literal('factor_required'), challenge: z.string() })
    .parse(await asked.json())
  expect(await rows(app.db, 'SELECT proven_by FROM sessions')).toHaveLength(1)
  await answered(await giveFactor(app, challenge, codeNow(app, secret)), 200)
  expect(await rows(app.db, 'SELECT proven_by FROM sessions ORDER BY id')).toEqual([
    { proven_by: 'oidc' },
    { proven_by: 'totp' },
  ])
})

test.each([
  ['asked the person 8 h ago', NOW - 8 * 3_600, NOW - 8 * 3_600],
  ['does not tell when it asked the person', undefined, 0],
  ['tells a time to come', NOW + 60, 0],
  ['tells milliseconds', NOW * 1_000, 0],
])('a provider that %s has given no proof of now', async (_, auth_time, proven) => {
  const { app, signIn } = await start({ says: { claims: { preferred_username: 'bob', auth_time } } })

  const { access_token } = SignedIn.parse(await answered(await signIn(), 200))

  const headers = { authorization: `Bearer ${access_token}` }
  await answered(await app.request('GET', '/api/auth/me', { headers }), 200)
  await refused(
    await app.request('POST', '/api/auth/factors/totp', { headers, body: { name: 'phone' } }),
    403,
    'step_up_required',
  )
  const proven_at = new Date(proven * 1_000).toISOString()
  expect(await rows(app.db, 'SELECT proven_at FROM sessions')).toEqual([{ proven_at }])
})

test.each([
  ['has expired', []],
  ['has lost its shell, and then has expired', [{ shell: '/usr/sbin/nologin' }]],
])('a session ends once its account, which has no password, %s on the host', async (_, before: Partial<Account>[]) => {
  let account = BOB
  const { app, signIn } = await start({ host: () => account })
  await answered(await signIn(), 200)

  for (const change of [...before, { overdue: 'expired' } as const]) {
    account = { ...account, ...change }
    app.advance(10 * 60_000)
    await recheck.run(app.services)
  }

  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'account_ended',
    target: 'bob',
    details: { reason: 'expired' },
  })
})

test.each(['1000', '01000', '+1000'])('the number %s names no account: the host takes it for a uid', async (number) => {
  const { app, asked, signIn } = await start({ says: { claims: { preferred_username: number } } })

  await refused(await signIn(), 403, 'account_unusable')

  expect(asked).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
})

test('the host alone decides what the account may do', async () => {
  const isAdmin = async (groups: string[], env: Record<string, string> = {}) => {
    const { signIn } = await start({ host: { ...BOB, groups }, env })
    return SignedIn.parse(await answered(await signIn(), 200)).user.is_admin
  }

  expect(await isAdmin(['sudo'])).toBe(true)
  expect(await isAdmin(['bob'])).toBe(false)
  expect(await isAdmin(['panel'], { PANEL_ADMIN_GROUPS: 'panel' })).toBe(true)
})

test.each<[string, Account | null | Error, number, string]>([
  ['does not exist', null, 403, 'account_unusable'],
  ['has expired', { ...BOB, overdue: 'expired' }, 403, 'account_unusable'],
  ['is root', { ...BOB, name: 'root', uid: 0 }, 403, 'account_unusable'],
  ['runs no commands', { ...BOB, shell: '/usr/sbin/nologin' }, 403, 'account_kept_out'],
  ['cannot be asked about', new SshError('unreachable', 'away'), 503, 'host_silent'],
  ['has no service account to confirm it', fail('ssh_incomplete'), 503, 'host_silent'],
])('an account that %s is refused', async (_, host, status, code) => {
  const { app, signIn } = await start({ host, env: { PANEL_UNCONFIRMED_ADMINISTRATORS: 'on' } })

  await refused(await signIn(), status, code)
  expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
  expect(await audited(app.db)).toMatchObject([{ action: 'login_failed', details: { by: 'oidc' } }])
})

test('an account outside of the groups that may sign in is refused', async () => {
  const { signIn } = await start({ env: { PANEL_SIGN_IN_GROUPS: 'staff' } })

  await refused(await signIn(), 403, 'not_invited')
})

test.each([['bob:x'], ['../root'], ['bob\nroot'], ['x'.repeat(5_000)]])(
  'a claim that is no name of an account is refused, and the host is not asked: %j',
  async (preferred_username) => {
    const { asked, signIn } = await start({ says: { claims: { preferred_username } } })

    await refused(await signIn(), 403, 'account_unusable')
    expect(asked).toEqual([])
  },
)

test('an answer counts once, with the challenge of its own request, and from the panel’s own page', async () => {
  const { provider, begin, end } = await start()
  const one = await begin()
  const two = await begin()
  const query = provider.signIn(one.url)

  await refused(await end(one.challenge, query, { origin: 'https://evil.example' }), 403, 'origin_forbidden')
  await refused(await end(two.challenge, query), 401, 'oidc_invalid')
  await refused(await end('A'.repeat(43), query), 410, 'challenge_over')
  await answered(await end(one.challenge, query), 200)
  await refused(await end(one.challenge, query), 410, 'challenge_over')
})

test('a challenge ends after ten minutes, and after five answers', async () => {
  const { app, provider, begin, end } = await start()
  const late = await begin()
  app.advance(600_001)
  await refused(await end(late.challenge, provider.signIn(late.url)), 410, 'challenge_over')

  const { url, challenge } = await begin()
  for (let n = 0; n < 5; n += 1) await refused(await end(challenge, '?code=x&state=y'), 401, 'oidc_invalid')
  await refused(await end(challenge, provider.signIn(url)), 410, 'challenge_over')
})

test('a refusal of the provider is told, and a provider that is away', async () => {
  const { begin, end } = await start()
  const { url, challenge } = await begin()
  const state = new URL(url).searchParams.get('state')
  await refused(await end(challenge, `?error=access_denied&state=${state}`), 401, 'oidc_denied')

  const away = await start({ env: { PANEL_OIDC_ISSUER: 'http://127.0.0.1:9' } })
  await refused(await away.app.request('POST', '/api/auth/oidc'), 503, 'oidc_unreachable')
})

test('the log tells why a provider could not sign somebody in, without a secret', async () => {
  const reasons = (app: { lines(): string[] }) =>
    app
      .lines()
      .filter((line) => line.includes('a sign-in by the provider failed'))
      .map((line) => z.object({ level: z.string(), reason: z.string(), cause: z.string() }).parse(JSON.parse(line)))
  const away = await start({ env: { PANEL_OIDC_ISSUER: 'http://127.0.0.1:9' } })
  await refused(await away.app.request('POST', '/api/auth/oidc'), 503, 'oidc_unreachable')
  const wrong = await start({
    says: {
      token: (response) =>
        void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
    },
  })
  await refused(await wrong.signIn(), 401, 'oidc_denied')

  expect(reasons(away.app)).toEqual([
    {
      level: 'warn',
      reason: 'le fournisseur http://127.0.0.1:9 ne répond pas',
      cause: expect.stringMatching(/bad port|ECONNREFUSED/),
    },
  ])
  expect(reasons(wrong.app)).toEqual([
    {
      level: 'warn',
      reason: expect.stringContaining('PANEL_OIDC_CLIENT_SECRET'),
      cause: expect.stringContaining('error'),
    },
  ])
  expect(wrong.app.lines().join('\n')).not.toContain('geheim-4711')
})

test('without a provider there is nothing to sign in by', async () => {
  const { app } = await start()
  expect(await answered(await app.request('GET', '/api/auth/oidc'), 200)).toEqual({ name: 'Firma' })

  const without = await testApp([request, answer, provided])
  expect(await answered(await without.request('GET', '/api/auth/oidc'), 200)).toEqual({ name: null })
  await refused(await without.request('POST', '/api/auth/oidc'), 405, 'method_not_allowed')
})

test('the discovery document is fetched once in ten minutes, the keys each time, and both anew after a failure', async () => {
  const { app, provider, begin, end, signIn } = await start()
  const fetched = () => {
    const paths = provider.asked.splice(0).map(({ path }) => path)
    return ['/.well-known/openid-configuration', '/keys'].map((path) => paths.filter((each) => each === path).length)
  }

  for (let n = 0; n < 3; n += 1) await answered(await signIn(), 200)
  expect(fetched()).toEqual([1, 3])

  app.advance(10 * 60_000)
  const { challenge, url } = await begin()
  expect(fetched()).toEqual([1, 0])

  provider.says.foreignKey = true
  await refused(await end(challenge, provider.signIn(url)), 401, 'oidc_invalid')
  expect(fetched()).toEqual([0, 1])
  delete provider.says.foreignKey
  await answered(await signIn(), 200)
  expect(fetched()).toEqual([1, 1])
})

test('a provider that did not tell its configuration is asked again at once', async () => {
  const { app, provider, signIn } = await start({
    says: { discovery: (response) => void response.writeHead(500).end() },
  })

  await refused(await app.request('POST', '/api/auth/oidc'), 503, 'oidc_unreachable')
  delete provider.says.discovery

  await answered(await signIn(), 200)
})
