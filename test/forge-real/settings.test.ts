import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { answered } from '../functions/answers.ts'
import { withModules } from '../functions/modules/module.ts'
import { createRepository, descriptor } from './content.ts'
import { ADMIN, type Gitea, ORG, READS, startGitea, STRANGER } from './gitea.ts'
import { type ForgeProxy, startProxy } from './proxy.ts'

const Report = z.object({
  checks: z.array(z.object({ id: z.string(), ok: z.boolean(), message: z.string() })),
  fingerprint: z.string().nullable(),
})
const OTHER = Array.from({ length: 32 }, () => 'AB').join(':')

let plain: Gitea
let secure: Gitea
let proxy: ForgeProxy
let fingerprint: string

beforeAll(async () => {
  proxy = await startProxy({ path: '/git' })
  ;[plain, secure] = await Promise.all([startGitea({ rootUrl: `${proxy.url}/` }), startGitea({ tls: true })])
  proxy.to = plain.url
  for (const gitea of [plain, secure]) {
    await createRepository(gitea, 'closed', { 'module.json': descriptor('closed') })
    await gitea.api('PATCH', `/repos/${ORG}/closed`, { has_code: false })
    await createRepository(gitea, 'open', { 'module.json': descriptor('open') })
  }
  fingerprint = new X509Certificate(await readFile(secure.certificate ?? '')).fingerprint256
})
afterAll(async () => {
  await proxy?.close()
  await plain?.close()
  await secure?.close()
})

/** One line a check: `+` for a good answer. */
async function told(body: object) {
  const app = await withModules([])
  const answer = await app.request('POST', '/api/settings/forge/test', { as: 'admin', body })
  const { checks, fingerprint } = Report.parse(await answered(answer, 200))
  return { lines: checks.map(({ id, ok, message }) => `${ok ? '+' : '-'} ${id}: ${message}`), fingerprint }
}

const of = ({ url }: { url: string }, more: object = {}) => ({ forge_url: url, forge_org: ORG, ...more })

test('a real forge passes the test with the two scopes, and its version is named', async () => {
  const { lines } = await told(of(plain, { forge_token: await plain.tokenFor(ADMIN, READS) }))

  expect(lines.filter((line) => line.startsWith('-'))).toEqual([])
  expect(lines.join('\n')).toMatch(/forge: C’est (Gitea|Forgejo) \d+\./)
  expect(lines.at(-1)).toMatch(/^\+ files: module.json de « \w+ » se lit\.$/)
})

test('the test does not try a repository without a section for code, which an outsider may not read', async () => {
  const { lines } = await told(of(plain, { forge_token: await plain.tokenFor(STRANGER, READS) }))

  expect(lines.at(-1)).toBe('+ files: module.json de « open » se lit.')
})

test.each([
  ['read:repository', /^- organization: .*read:organization/],
  ['read:organization', /^- files: .*read:repository/],
])('a token with %s alone is told which scope it lacks', async (scopes, lacking) => {
  const { lines } = await told(of(plain, { forge_token: await plain.tokenFor(ADMIN, scopes) }))

  expect(lines.filter((line) => lacking.test(line))).toHaveLength(1)
})

test('a wrong token, an account, a missing organisation and a wrong path are told apart', async () => {
  const token = await plain.tokenFor(ADMIN, READS)
  const last = async (body: object) => (await told(body)).lines.at(-1)

  expect(await last(of(plain, { forge_token: '0'.repeat(40) }))).toMatch(/^- token: La forge ne reconnaît pas/)
  expect(await last(of(plain, { forge_token: token, forge_org: ADMIN }))).toMatch(/^- organization: .*est un compte/)
  expect(await last(of(plain, { forge_token: token, forge_org: 'nobody-knows' }))).toMatch(
    /^- organization: .*n’existe pas/,
  )
  expect(await last(of(proxy, { forge_token: token }))).toMatch(/^\+ files: /)
  expect(await last(of({ url: new URL(proxy.url).origin }, { forge_token: token }))).toMatch(/^- forge: /)
  expect(await last(of({ url: `${proxy.url}/${ORG}` }, { forge_token: token }))).toContain(proxy.url)
})

test('a certificate that the forge has signed itself is refused with its fingerprint, agreed to, and compared', async () => {
  const forge_token = await secure.tokenFor(ADMIN, READS)

  const unknown = await told(of(secure, { forge_token }))
  const agreed = await told(of(secure, { forge_token, forge_fingerprint: fingerprint }))
  const changed = await told(of(secure, { forge_token, forge_fingerprint: OTHER }))

  expect(unknown).toMatchObject({ fingerprint })
  expect(unknown.lines.at(-1)).toMatch(/^- certificate: /)
  expect(agreed.lines.filter((line) => line.startsWith('-'))).toEqual([])
  expect(changed).toMatchObject({ fingerprint })
  expect(changed.lines.at(-1)).toMatch(/^- certificate: /)
})

test('modules are listed and installed over the certificate that was agreed to', async () => {
  const app = await withModules([])
  const change = of(secure, { forge_token: await secure.tokenFor(ADMIN, READS) })
  const list = async () =>
    JSON.stringify(await answered(await app.request('GET', '/api/registry/modules?refresh=1', { as: 'admin' }), 200))
  await answered(await app.request('PATCH', '/api/settings', { as: 'admin', body: change }), 200)
  expect(await list()).toContain(fingerprint)

  const body = { ...change, forge_fingerprint: fingerprint }
  await answered(await app.request('PATCH', '/api/settings', { as: 'admin', body }), 200)

  expect(await list()).toMatch(/"id":"open".*"error":null/)
  await answered(await app.request('POST', '/api/registry/modules/open/install', { as: 'admin' }), 202)
})

test('a limit of a proxy in front of the forge is waited for, and the list is whole', async () => {
  let refused = 0
  proxy.behave = ({ url }, response) => {
    if (refused >= 2 || !url?.includes('/repos/')) return false
    refused += 1
    response.writeHead(429, { 'retry-after': '1' }).end()
    return true
  }
  const app = await withModules([], { env: { PANEL_FORGE_URL: proxy.url, PANEL_FORGE_ORG: ORG } })

  const list = await answered(await app.request('GET', '/api/registry/modules?refresh=1', { as: 'admin' }), 200)

  expect(refused).toBe(2)
  expect(list).toMatchObject({ modules: [{ id: 'open' }], error: null })
})
