import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import testForge from '../../../functions/forge/test.post.ts'
import type { SettingValues } from '../../../functions/services.ts'
import { testApp } from '../../app.ts'
import { freePort } from '../../free-port.ts'
import { answered, refused } from '../answers.ts'
import { lacks, PAGE, startGitea, type TestGitea, UNKNOWN } from './gitea.ts'

const TEST = '/api/settings/forge/test'
const OTHER = Array.from({ length: 32 }, () => 'AB').join(':')
const Report = z.object({
  checks: z.array(z.object({ id: z.string(), ok: z.boolean(), message: z.string() })),
  fingerprint: z.string().nullable(),
})

async function opened(stored: SettingValues = {}, env: Record<string, string> = {}) {
  const app = await testApp([testForge], { env })
  await app.services.settings.change(stored)
  const report = async (body: SettingValues = {}) =>
    Report.parse(await answered(await app.request('POST', TEST, { as: 'admin', body }), 200))
  return {
    ...app,
    report,
    /** One line a check: `+` for a good answer. */
    async told(body: SettingValues = {}) {
      return (await report(body)).checks.map(({ id, ok, message }) => `${ok ? '+' : '-'} ${id}: ${message}`)
    },
  }
}

const storedFor = ({ url, fingerprint }: TestGitea): SettingValues => ({
  forge_url: url,
  forge_org: 'modules',
  forge_token: 'good',
  forge_token_origin: url,
  forge_fingerprint: fingerprint,
})

test('a forge with all that is needed passes every check, and the token goes along where it is needed', async () => {
  const gitea = await startGitea({ secure: true })
  const { told } = await opened(storedFor(gitea))

  expect(await told()).toEqual([
    `+ reachable: ${gitea.url} répond.`,
    '+ certificate: Le certificat de la forge est celui qui a été accepté.',
    '+ forge: C’est Gitea 1.26.0.',
    '+ token: La forge reconnaît le jeton de panel.',
    '+ organization: L’organisation « modules » existe.',
    '+ repositories: Elle a 12 dépôts.',
    '+ files: module.json de « hello » se lit.',
  ])
  const named = gitea.requests.filter(({ authorization }) => authorization === 'token good')
  expect(gitea.requests.find(({ path }) => path === '/api/v1/version')?.authorization).toBeUndefined()
  expect(named.map(({ path }) => path)).toContain('/api/v1/orgs/modules')
})

const FINDINGS: [what: string, answers: TestGitea['answers'], last: string][] = [
  ['Forgejo', { '/api/forgejo/v1/version': { body: { version: '12.0.1+gitea-1.22.0' } } }, '+ files: module.json'],
  ['an unknown token', { '/api/v1/user': UNKNOWN }, '- token: La forge ne reconnaît pas ce jeton'],
  ['a token without read:user', { '/api/v1/user': lacks('read:user') }, '+ files: module.json de « hello » se lit.'],
  [
    'a token without read:organization',
    { '/api/v1/orgs/modules': lacks('read:organization') },
    '- organization: Il manque au jeton la permission read:organization.',
  ],
  [
    'a token without both scopes',
    { '/api/v1/orgs/modules': lacks('read:organization'), '/api/v1/repos/search?limit=1': lacks('read:repository') },
    '- files: Il manque au jeton la permission read:repository.',
  ],
  [
    'a token without read:repository',
    {
      '/api/v1/repos/modules/docs/raw/module.json?ref=main': {
        status: 403,
        // As Forgejo words it.
        body: { message: 'token does not have at least one of required scope(s): [read:repository]' },
      },
    },
    '- files: Il manque au jeton la permission read:repository.',
  ],
  [
    'no such organisation',
    { '/api/v1/orgs/modules': undefined },
    '- organization: L’organisation « modules » n’existe pas, ou n’est pas visible avec ce jeton (forge_org).',
  ],
  [
    'an account in place of an organisation',
    { '/api/v1/orgs/modules': undefined, '/api/v1/users/modules': { body: { login: 'modules' } } },
    '- organization: « modules » est un compte, pas une organisation',
  ],
  [
    'an account that the token may not see',
    { '/api/v1/orgs/modules': undefined, '/api/v1/users/modules': { body: { login: 'modules' }, nameless: true } },
    '- organization: « modules » est un compte, pas une organisation',
  ],
  [
    'a token for what is public alone',
    {
      '/api/v1/repos/modules/docs/raw/module.json?ref=main': {
        status: 403,
        body: { message: 'token scope is limited to public repos' },
      },
    },
    '- files: Le jeton ne lit que ce qui est public.',
  ],
  [
    'a renamed organisation',
    { '/api/v1/orgs/modules': { body: { name: 'extensions' } } },
    '- organization: L’organisation « modules » a un autre nom aujourd’hui : extensions (forge_org).',
  ],
  [
    'an organisation without repositories',
    { '/api/v1/orgs/modules/repos?page=1&limit=10': { body: [], headers: { 'x-total-count': '0' } } },
    '- repositories: L’organisation « modules » n’a aucun dépôt',
  ],
  [
    'repositories without a descriptor',
    { '/api/v1/repos/modules/hello/raw/module.json?ref=trunk%2F1': undefined },
    '+ files: Les fichiers se lisent, mais aucun des 2 dépôts examinés n’a de module.json.',
  ],
  ['another site', { '/api/v1/version': PAGE }, '- forge: Aucun Gitea ni Forgejo ne répond à cette adresse (une page'],
  ['another service', { '/api/v1/version': { body: { version: 3 } } }, '- forge: Aucun Gitea ni Forgejo ne répond'],
  [
    'a forge below the address',
    { '/api/v1/version': PAGE, '/git/api/v1/version': { body: { version: '1.26.0' } } },
    '- forge: Aucune forge à cette adresse, mais une à http://localhost:{port}/git : corrigez',
  ],
]

test.each(FINDINGS)('%s', async (_, answers, last) => {
  const gitea = await startGitea({ answers })
  const { told } = await opened(storedFor(gitea))

  const lines = await told()

  expect(lines.at(-1)).toContain(last.replace('{port}', new URL(gitea.url).port))
  // Only the last one, or the last ones, can be bad.
  expect(lines.findIndex((line) => line.startsWith('-'))).toBeGreaterThanOrEqual(last.startsWith('+') ? -1 : 1)
  expect(lines.join('\n')).not.toContain('good')
})

test('the address of an organisation or a repository leads to that of its forge, without the token', async () => {
  const gitea = await startGitea()
  const { told } = await opened()

  const lines = await told({ forge_url: `${gitea.url}/modules/hello`, forge_org: 'modules', forge_token: 'new' })

  expect(lines.at(-1)).toBe(
    `- forge: Aucune forge à cette adresse, mais une à ${gitea.url} : corrigez l’adresse (forge_url).`,
  )
  expect(gitea.requests.every(({ authorization }) => authorization === undefined)).toBe(true)
})

test('a certificate that nobody vouches for is named to be agreed to, before anything is sent', async () => {
  const gitea = await startGitea({ secure: true })
  const { report } = await opened({ ...storedFor(gitea), forge_fingerprint: '' })

  const { checks, fingerprint } = await report()

  expect(fingerprint).toBe(gitea.fingerprint)
  expect(checks.at(-1)).toEqual({
    id: 'certificate',
    ok: false,
    message: 'Le certificat de la forge n’est garanti par aucune autorité.',
  })
  expect(gitea.requests).toEqual([])
})

test('a certificate of an authority needs no agreement', async () => {
  const gitea = await startGitea({ secure: true })
  const before = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, gitea.certificate])
  const { told } = await opened({ ...storedFor(gitea), forge_fingerprint: '' })

  expect((await told())[1]).toBe('+ certificate: Le certificat de la forge est garanti par une autorité reconnue.')
})

test('the stored token goes to no other origin, and with no other certificate', async () => {
  const [own, other] = [await startGitea({ secure: true }), await startGitea({ secure: true })]
  const { told } = await opened(storedFor(own))

  const elsewhere = await told({ forge_url: other.url, forge_fingerprint: other.fingerprint })
  const another = await told({ forge_fingerprint: OTHER })
  const unproven = await told({ forge_url: `${own.url}/`, forge_fingerprint: own.fingerprint.toLowerCase() })

  expect(elsewhere).toContain('+ token: Sans jeton, seuls les dépôts publics se lisent.')
  expect(another.at(-1)).toBe('- certificate: Le certificat de la forge n’est pas celui qui a été accepté.')
  expect(unproven.at(-1)).toContain('- token: Le jeton enregistré n’est envoyé qu’avec l’empreinte enregistrée')
  for (const { requests } of [own, other])
    expect(requests.filter(({ authorization }) => authorization !== undefined)).toEqual([])
})

test('the environment’s forge is tested as long as none is stored; without any, the error says where to set one', async () => {
  const gitea = await startGitea()
  const env = { PANEL_FORGE_URL: gitea.url, PANEL_FORGE_ORG: 'modules', PANEL_FORGE_TOKEN: 'of-env' }
  const { told } = await opened({}, env)
  const none = await opened()

  expect((await told()).at(-1)).toBe('+ files: module.json de « hello » se lit.')
  expect(gitea.requests.some(({ authorization }) => authorization === 'token of-env')).toBe(true)
  const { error } = await refused(await none.request('POST', TEST, { as: 'admin', body: {} }), 503, 'forge_missing')
  expect(error).toContain('forge_url')
})

test('an address where nothing answers, and one that redirects elsewhere, say so', async () => {
  const gitea = await startGitea({
    answers: {
      '/api/v1/version': { status: 301, body: '', headers: { location: 'https://forge.test/api/v1/version' } },
    },
  })
  const { told } = await opened()

  const nobody = `http://127.0.0.1:${await freePort()}`

  const away = await told({ forge_url: nobody, forge_org: 'modules' })
  const redirected = await told({ forge_url: gitea.url, forge_org: 'modules' })

  expect(away).toEqual([
    `- reachable: La forge ne peut pas être lue : aucune réponse de ${nobody} (ECONNREFUSED) pour sa version`,
  ])
  expect(redirected).toEqual([
    expect.stringContaining('redirige vers https://forge.test, qui n’est pas l’adresse de la forge dans les réglages'),
  ])
})
