import { expect, test } from 'vitest'
import { accountOf, authorizationRequest, OidcError } from '../../../functions/oidc/provider.ts'
import { type Says, startProvider } from './provider.ts'

const clock = () => new Date()
const REDIRECT = 'https://panel.example/oidc'

async function start(says: Partial<Says> = {}) {
  const provider = await startProvider(says)
  const config = {
    issuer: provider.issuer,
    clientId: 'panel',
    clientSecret: 'geheim',
    redirect: REDIRECT,
    claim: 'preferred_username',
  }
  return { provider, config }
}

test('a sign-in asks with state, nonce and PKCE, and gives the account of the claim', async () => {
  const { provider, config } = await start()

  const { url, pending } = await authorizationRequest(config, clock)
  const sent = Object.fromEntries(new URL(url).searchParams)
  const { name } = await accountOf(config, pending, provider.signIn(url), clock)

  expect(sent).toMatchObject({
    client_id: 'panel',
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid profile',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge_method: 'S256',
    max_age: '900',
  })
  expect(url).not.toContain(pending.verifier)
  expect(name).toBe('bob')
  expect(provider.asked.map(({ path }) => path)).toContain('/keys')
})

test.each<[string, () => Partial<Says>]>([
  ['signed by a key that the provider does not publish', () => ({ foreignKey: true })],
  ['not signed', () => ({ unsigned: true })],
  ['for another client', () => ({ claims: { aud: 'other', preferred_username: 'bob' } })],
  ['of another issuer', () => ({ claims: { iss: 'https://evil.example', preferred_username: 'bob' } })],
  ['with another nonce', () => ({ claims: { nonce: 'other', preferred_username: 'bob' } })],
  ['that has expired', () => ({ lifetime: -60 })],
  ['without the claim', () => ({ claims: {} })],
  ['whose claim is no text', () => ({ claims: { preferred_username: ['root'] } })],
])('an ID token %s is refused', async (_, says) => {
  const { provider, config } = await start(says())
  const { url, pending } = await authorizationRequest(config, clock)

  const refused = accountOf(config, pending, provider.signIn(url), clock)

  await expect(refused).rejects.toMatchObject({ name: 'OidcError', reason: 'invalid' })
})

test('a mail address names an account only when the provider has verified it', async () => {
  const claims = { email: 'bob@example.org' }
  for (const email_verified of [undefined, false, 'true'] as const) {
    const { provider, config } = await start({ claims: { ...claims, email_verified } })
    const { url, pending } = await authorizationRequest({ ...config, claim: 'email' }, clock)
    await expect(accountOf({ ...config, claim: 'email' }, pending, provider.signIn(url), clock)).rejects.toMatchObject({
      name: 'OidcError',
      reason: 'invalid',
    })
  }
  const { provider, config } = await start({ claims: { ...claims, email_verified: true } })
  const { url, pending } = await authorizationRequest({ ...config, claim: 'email' }, clock)
  expect(await accountOf({ ...config, claim: 'email' }, pending, provider.signIn(url), clock)).toMatchObject({
    name: 'bob@example.org',
  })
})

test('an answer to another request, with another verifier, or used twice, is refused', async () => {
  const { provider, config } = await start()
  const one = await authorizationRequest(config, clock)
  const two = await authorizationRequest(config, clock)
  const invalid = { name: 'OidcError', reason: 'invalid' }

  const mixed = accountOf(config, two.pending, provider.signIn(one.url), clock)
  await expect(mixed).rejects.toMatchObject(invalid)
  const stolen = { ...one.pending, verifier: two.pending.verifier }
  const other = accountOf(config, stolen, provider.signIn(one.url), clock)
  await expect(other).rejects.toMatchObject(invalid)
  const answer = provider.signIn(one.url)
  expect(await accountOf(config, one.pending, answer, clock)).toMatchObject({ name: 'bob' })
  await expect(accountOf(config, one.pending, answer, clock)).rejects.toMatchObject(invalid)
})

test('a provider that says no is told as a refusal', async () => {
  const { provider, config } = await start()
  const { url, pending } = await authorizationRequest(config, clock)
  const state = new URL(url).searchParams.get('state') ?? ''
  const answer = `?${new URLSearchParams({ error: 'access_denied', state })}`

  await expect(accountOf(config, pending, answer, clock)).rejects.toMatchObject({ reason: 'denied' })
  expect(provider.asked.map(({ path }) => path)).not.toContain('/token')
})

test.each<[string, Partial<Says>]>([
  ['an endless document', { discovery: (response) => void response.end('x'.repeat(600 * 1024)) }],
  ['an error', { discovery: (response) => void response.writeHead(500).end() }],
  [
    'the document of another issuer',
    { discovery: (response) => void response.end('{"issuer":"https://evil.example"}') },
  ],
  ['a redirect', { discovery: (response) => void response.writeHead(302, { location: 'https://evil.example' }).end() }],
])('a provider whose discovery is %s is not used', async (_, says) => {
  const { config } = await start(says)

  await expect(authorizationRequest(config, clock)).rejects.toThrow(OidcError)
})

test('a provider of another name than that of the configuration is told as such', async () => {
  const { config } = await start({
    discovery: (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"issuer":"https://evil.example"}'),
  })

  await expect(authorizationRequest(config, clock)).rejects.toMatchObject({
    reason: 'unreachable',
    message: `le fournisseur ${config.issuer} se nomme autrement (PANEL_OIDC_ISSUER)`,
  })
})

test.each([
  ['a body', 'invalid_client', {}],
  ['a body', 'unauthorized_client', {}],
  ['a challenge of HTTP', 'invalid_client', { 'www-authenticate': 'Basic realm="clients"' }],
])('a provider that refuses the panel itself, by %s, is told as such: %s', async (_, error, headers) => {
  const { provider, config } = await start()
  const { url, pending } = await authorizationRequest(config, clock)
  provider.says.token = (response) =>
    void response
      .writeHead(401, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error, error_description: 'geheim' }))

  await expect(accountOf(config, pending, provider.signIn(url), clock)).rejects.toMatchObject({
    reason: 'denied',
    message: 'le fournisseur n’admet pas ce panneau (PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET)',
  })
})

test('a provider that is away is told as unreachable', async () => {
  const config = {
    issuer: 'http://127.0.0.1:9',
    clientId: 'panel',
    clientSecret: undefined,
    redirect: REDIRECT,
    claim: 'sub',
  }

  await expect(authorizationRequest(config, clock)).rejects.toMatchObject({ reason: 'unreachable' })
})

test.each<[string, NonNullable<Says['token']>]>([
  ['hangs up', (response) => void response.destroy()],
  [
    'hangs up within its answer',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{', () => response.destroy())
    },
  ],
])('a provider that %s after the person has signed in there is told as unreachable', async (_, token) => {
  const { provider, config } = await start()
  const { url, pending } = await authorizationRequest(config, clock)
  provider.says.token = token

  const refused = accountOf(config, pending, provider.signIn(url), clock)

  await expect(refused).rejects.toMatchObject({ name: 'OidcError', reason: 'unreachable' })
})
