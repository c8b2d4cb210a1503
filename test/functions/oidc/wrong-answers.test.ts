import { expect, test } from 'vitest'
import * as z from 'zod'
import pruneChallenges from '../../../functions/factors/prune-challenges.task.ts'
import answer from '../../../functions/oidc/answer.post.ts'
import request from '../../../functions/oidc/request.post.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { type Says, startProvider } from './provider.ts'

// Anybody may end a sign-in at the provider with a wrong answer, as often as the limit of an address allows.

const Begun = z.object({ url: z.string(), challenge: z.string() })
const Line = z.object({
  level: z.string(),
  reason: z.string(),
  cause: z.string(),
  address: z.string(),
  code: z.string(),
})

async function start({ says = {}, env = {} }: { says?: Partial<Says>; env?: Record<string, string> } = {}) {
  const provider = await startProvider(says)
  const app = await testApp([request, answer], {
    env: {
      PANEL_OIDC_ISSUER: provider.issuer,
      PANEL_OIDC_CLIENT_ID: 'panel',
      PANEL_OIDC_CLIENT_SECRET: 'geheim-4711',
      PANEL_PUBLIC_URL: 'https://panel.example',
      ...env,
    },
    // The host knows no account of any name.
    fake: { inspect: () => null },
  })
  const begin = async (from = '203.0.113.1') =>
    Begun.parse(await answered(await app.request('POST', '/api/auth/oidc', { from }), 200))
  const end = (challenge: string, query: string, from = '203.0.113.1') =>
    app.request('POST', '/api/auth/oidc/answer', { body: { challenge, answer: query }, from })
  /** Gives this many wrong answers; a challenge takes five of them. */
  const guess = async (times: number, from?: string) => {
    for (let n = 0; n < times; n += 5) {
      const { challenge } = await begin(from)
      for (let nth = 0; nth < 5; nth += 1)
        await refused(await end(challenge, '?code=x&state=y', from), 401, 'oidc_invalid')
    }
  }
  const discoveries = () => provider.asked.filter(({ path }) => path.startsWith('/.well-known/')).length
  const logged = () =>
    app
      .lines()
      .filter((line) => line.includes('a sign-in by the provider failed'))
      .map((line) => Line.parse(JSON.parse(line)))
  return { app, provider, begin, end, guess, discoveries, logged }
}

test('wrong answers do not make the panel ask the provider for its configuration again', async () => {
  const { provider, begin, end, guess, discoveries } = await start()

  await guess(5)
  const { url, challenge } = await begin()
  const state = new URL(url).searchParams.get('state')
  await refused(await end(challenge, `?error=access_denied&state=${state}`), 401, 'oidc_denied')
  await refused(await end(challenge, `?state=${state}`), 401, 'oidc_invalid')
  await refused(await end(challenge, ''), 401, 'oidc_invalid')
  // The provider has given no such code, and says so.
  await refused(await end(challenge, `?code=guessed&state=${state}`), 401, 'oidc_invalid')
  await refused(await end(challenge, provider.signIn(url)), 403, 'account_unusable')

  expect(discoveries()).toBe(1)
})

test('half an hour of requests stores nothing, and their wrong answers a row for each challenge, for two hours', async () => {
  const { app, begin, end } = await start()
  const stored = () => rows(app.db, 'SELECT purpose, answers FROM factor_challenges')
  const minutes = async (most: number, work: () => Promise<void>) => {
    for (let minute = 0; minute < most; minute += 1) {
      for (let n = 0; n < 30; n += 1) await work()
      await refused(await app.request('POST', '/api/auth/oidc', { from: '203.0.113.1' }), 429, 'rate_limited')
      app.advance(60_000)
      await pruneChallenges.run(app.services)
    }
  }
  await minutes(30, async () => void (await begin()))
  expect(await stored()).toEqual([])

  await minutes(30, async () => {
    const { challenge } = await begin()
    await refused(await end(challenge, '?code=x&state=y'), 401, 'oidc_invalid')
  })
  expect(await stored()).toEqual(Array(30 * 30).fill({ purpose: 'oidc', answers: 1 }))

  app.advance(130 * 60_000)
  await pruneChallenges.run(app.services)
  expect(await stored()).toEqual([])
})

test('a token that must not be trusted makes the panel ask for the configuration again', async () => {
  const { provider, begin, end, discoveries } = await start({ says: { foreignKey: true } })
  const { url, challenge } = await begin()

  await refused(await end(challenge, provider.signIn(url)), 401, 'oidc_invalid')
  await begin()

  expect(discoveries()).toBe(2)
})

test('a flood of wrong answers is logged as a sample, with the technical cause, the address and the number', async () => {
  const { app, guess, logged } = await start()

  await guess(25)

  expect(logged()).toHaveLength(11)
  expect(logged().at(-1)).toEqual({
    level: 'warn',
    reason: 'la réponse du fournisseur n’est pas valable',
    cause: expect.stringMatching(/state/),
    address: '203.0.113.1',
    code: 'oidc_invalid',
  })
  expect(app.lines().filter((line) => line.includes('"times":16'))).toHaveLength(1)
})

test('a provider that is away fills no log either', async () => {
  const { app, logged } = await start({ env: { PANEL_OIDC_ISSUER: 'http://127.0.0.1:9' } })

  for (let n = 0; n < 20; n += 1)
    await refused(await app.request('POST', '/api/auth/oidc', { from: '203.0.113.1' }), 503, 'oidc_unreachable')

  expect(logged()).toHaveLength(11)
})

test('a hundred wrong answers are audited an hour, for all addresses together, and each that names an account', async () => {
  const { app, provider, begin, end, guess } = await start()
  const entries = async () => (await audited(app.db)).filter(({ action }) => action === 'login_failed').length

  for (let n = 1; n <= 5; n += 1) await guess(25, `203.0.113.${n}`)
  expect(await entries()).toBe(100)

  const { url, challenge } = await begin('203.0.113.9')
  await refused(await end(challenge, provider.signIn(url), '203.0.113.9'), 403, 'account_unusable')
  expect(await entries()).toBe(101)
  expect((await audited(app.db)).at(-1)).toMatchObject({ username: 'bob', details: { by: 'oidc', reason: 'unusable' } })

  app.advance(3_600_001)
  await guess(5, '203.0.113.1')
  expect(await entries()).toBe(106)
})
