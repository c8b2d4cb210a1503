import { expect, test } from 'vitest'
import * as z from 'zod'
import request from '../../../functions/oidc/request.post.ts'
import { testApp } from '../../app.ts'
import { answered, refused } from '../answers.ts'
import { startProvider } from './provider.ts'

// The panel sends the browser to the address that the provider tells.

const Begun = z.object({ url: z.string() })

/** A panel whose provider tells this address for its sign-in, until the returned function says otherwise. */
async function panel(endpoint: unknown) {
  const told = { endpoint }
  const provider = await startProvider({
    discovery: (response) => {
      const document = {
        ...{ issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys`, token_endpoint: `${provider.issuer}/token` },
        ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
        ...{ id_token_signing_alg_values_supported: ['RS256'], authorization_endpoint: told.endpoint },
      }
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(document))
    },
  })
  const app = await testApp([request], {
    env: {
      ...{ PANEL_OIDC_ISSUER: provider.issuer, PANEL_OIDC_CLIENT_ID: 'panel', PANEL_OIDC_CLIENT_SECRET: 'geheim-4711' },
      PANEL_PUBLIC_URL: 'https://panel.example',
    },
  })
  const begin = () => app.request('POST', '/api/auth/oidc')
  const tell = (other: unknown) => Object.assign(told, { endpoint: other })
  return { ...app, begin, tell }
}

test.each([
  ['a script', 'javascript:alert(document.domain)//'],
  ['a page of its own', 'data:text/html,<script>alert(1)</script>'],
  ['a file', 'file:///etc/passwd'],
  ['a blob', 'blob:https://panel.example/1'],
  ['no address', 'not an address'],
  ['a path', '/authorize'],
  ['a list', ['https://id.example/authorize']],
  ['nothing', undefined],
])(
  'a provider that tells %s as its address gets no browser sent to it, and is told as unreachable',
  async (_, endpoint) => {
    const { begin, lines, tell } = await panel(endpoint)

    await refused(await begin(), 503, 'oidc_unreachable')

    expect(lines().join('\n')).toContain('a sign-in by the provider failed')
    expect(lines().join('\n')).not.toMatch(/"level":"(error|fatal)"|"level":[56]0/)

    // Once its document is right, the wrong one is not remembered.
    tell('https://id.example/authorize')
    const { url } = Begun.parse(await answered(await begin(), 200))
    expect(url).toMatch(/^https:\/\/id\.example\/authorize\?/)
  },
)
