import { expect, test } from 'vitest'
import { readConfig } from '../../../platform/config.ts'
import { createLog } from '../../../platform/log.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { openMigrated } from '../../db/database.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { typeCommand } from '../console.ts'
import { type Says, startProvider } from '../oidc/provider.ts'

/** The lines of doctor about the provider of this issuer, or without one. No secret may be in its text or its log. */
async function doctor(issuer?: string) {
  const oidc = issuer !== undefined && {
    PANEL_OIDC_ISSUER: issuer,
    PANEL_OIDC_CLIENT_ID: 'panel',
    PANEL_OIDC_CLIENT_SECRET: 'geheim-4711',
    PANEL_PUBLIC_URL: 'https://panel.example',
  }
  const config = readConfig({ PANEL_DATA_DIR: await temporaryFolder(), ...oidc })
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const context = { db: await openMigrated(), secrets: createSecrets(Buffer.alloc(32, 7)), config, log }
  const { text } = await typeCommand({ ...context, clock: () => new Date() }, ['doctor'])
  expect(text + lines().join('\n')).not.toContain('geheim-4711')
  return text.split('\n').filter((line) => line.includes('OpenID Connect'))
}

test('without a provider doctor says nothing of one', async () => {
  expect(await doctor()).toEqual([])
})

test('a provider that answers, and refuses only the code that it never gave, is well', async () => {
  const { issuer, asked } = await startProvider()

  expect(await doctor(issuer)).toEqual([
    `✓ Le fournisseur OpenID Connect ${issuer} répond, et ne refuse pas ce panneau.`,
  ])
  expect(asked.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/token'])
})

test('a provider that names itself in each answer is well, too', async () => {
  const provider = await startProvider({
    discovery: (response) => {
      const document = {
        ...{ issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys`, token_endpoint: `${provider.issuer}/token` },
        ...{ authorization_endpoint: `${provider.issuer}/authorize`, response_types_supported: ['code'] },
        ...{ authorization_response_iss_parameter_supported: true },
      }
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(document))
    },
  })

  expect(await doctor(provider.issuer)).toEqual([expect.stringMatching(/^✓ /)])
})

test('a provider that is away is reported, with its technical cause and what to check', async () => {
  expect(await doctor('http://127.0.0.1:9')).toEqual([
    expect.stringMatching(
      /^✗ Les connexions par OpenID Connect échouent : le fournisseur http:\/\/127\.0\.0\.1:9 ne répond pas \(.*(bad port|ECONNREFUSED).*\)\. Vérifiez PANEL_OIDC_ISSUER/,
    ),
  ])
})

const json = (status: number, body: object) => (response: Parameters<NonNullable<Says['token']>>[0]) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

test.each<[string, Partial<Says>, RegExp]>([
  [
    'names itself otherwise',
    { discovery: json(200, { issuer: 'https://other.example' }) },
    /se nomme autrement \(PANEL_OIDC_ISSUER\)/,
  ],
  ['has no such document', { discovery: json(404, {}) }, /ne donne pas sa configuration.*Vérifiez PANEL_OIDC_ISSUER/],
  [
    'does not know the client',
    { token: json(401, { error: 'invalid_client', error_description: 'geheim-4711' }) },
    /n’admet pas ce panneau \(PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET\)/,
  ],
  ['gives no tokens at the address that it tells', { token: json(404, {}) }, /n’est pas valable/],
  ['fails', { token: json(500, { error: 'server_error' }) }, /n’est pas valable/],
  ['hangs up', { token: (response) => void response.destroy() }, /ne répond pas/],
])('a provider that %s is reported', async (_, says, sentence) => {
  const { issuer } = await startProvider(says)

  const lines = await doctor(issuer)

  expect(lines).toEqual([expect.stringMatching(/^✗ Les connexions par OpenID Connect échouent : /)])
  expect(lines[0]).toMatch(sentence)
})
