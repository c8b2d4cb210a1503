import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportJWK, importPKCS8 } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { readSigningKeys } from '../../db/signing-keys.ts'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { codeOf } from '../functions/factors/person.ts'
import { temporaryFolder } from '../db/folder.ts'
import { type Behaviour, startHypervisor } from '../hypervisor.ts'
import { type Canary, canary, password, SHORTEST, search, token, uuid } from './canaries.ts'
import { auditRows, collectEvidence, databaseFiles, type Evidence, withoutGaps } from './evidence.ts'

const RUN_MS = 180_000
const LEAKING = join(import.meta.dirname, 'leaking.ts')

/**
 * Returns a password with characters that every encoding changes: non-ASCII letters, quotes, backslashes, and reserved
 * characters of addresses and forms. The random characters between them make any eight consecutive characters unique.
 * It begins with a letter, so that a command does not take it for an option.
 */
const newPassword = () => {
  const random = () => randomBytes(3).toString('base64url')
  return [...'é"\\&=%+/ <€'].reduce((text, special) => text + special + random(), `p${random()}`)
}
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })

const P = {
  service: newPassword(),
  alice: newPassword(),
  bob: newPassword(),
  carol: newPassword(),
  wrong: newPassword(),
  ofNobody: newPassword(),
  mistyped: newPassword(),
  illegible: newPassword(),
  inAddress: newPassword(),
  inHeader: newPassword(),
  tooLong: newPassword(),
  limited: newPassword(),
  unreachable: newPassword(),
  whileFailing: newPassword(),
  misspelt: newPassword(),
  inDatabaseUrl: newPassword(),
  setupWrong: newPassword(),
  setWrongly: newPassword(),
  noHost: newPassword(),
  noKey: newPassword(),
}
const otherKey = randomBytes(32)
/** In the format of the hypervisor only the part after the equals sign is a secret. */
const hypervisorTokens = [randomUUID(), randomUUID()] as const
/** These travel in a header, which allows no other characters. */
const databaseTokens = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')] as const

const NOTHING: Buffer = Buffer.alloc(0)
/** The secrets to search for; the run adds those that the service creates. */
const secrets: Canary[] = [
  ...Object.entries(P).map(([name, value]) => password(`the password ${name}`, value)),
  canary('another PANEL_SECRET_KEY', otherKey),
  ...databaseTokens.map((each, at) => password(`the database token ${at}`, each)),
  ...hypervisorTokens.map((each, at) => uuid(`the hypervisor token ${at}`, each)),
]
const found = {
  output: '',
  audit: '',
  errors: '',
  answers: '',
  statuses: new Set<number>(),
  database: NOTHING,
  backup: NOTHING,
  wizardAudit: '',
}
const databases: Buffer[] = []
const cleaning: (() => unknown)[] = []

beforeAll(async () => {
  const folder = await temporaryFolder((work) => cleaning.push(work))
  // The first run cuts the connections of its host, so the others need another host.
  const [cut, demo] = await Promise.all([startDemo(), startDemo()])
  const evidence = collectEvidence()
  cleaning.push(() => evidence.end())

  await Promise.all([
    wholeRun(evidence, cut, folder).then(() => withAnotherKey(evidence, cut, folder)),
    withTheKeyOfTheEnvironment(evidence, demo),
    fromTheWizardToABackup(evidence, demo),
    withWrongSettings(evidence),
  ])

  found.output = evidence.output()
  found.errors = evidence.errors()
  found.answers = evidence.answers()
  found.statuses = evidence.statuses
  found.database = Buffer.concat(databases)
  found.audit = [...(await auditRows(folder)), found.wizardAudit].join('\n')
}, RUN_MS)

afterAll(async () => {
  for (const clean of cleaning.reverse()) await clean()
})

const Login = z.object({ access_token: z.string() })
const ApiToken = z.object({ id: z.number(), token: z.string() })
const Job = z.object({ job_id: z.string() })
const Sessions = z.array(z.object({ id: z.number(), is_current: z.boolean() }))

async function startDemo(): Promise<DemoHost> {
  const demo = await startDemoHost({
    lineMs: 0,
    wrongMs: 0,
    users: {
      alice: { password: P.alice, uid: 1002, groups: ['alice', 'sudo'], sudo: 'password' },
      bob: { password: P.bob, uid: 1003, groups: ['bob'] },
      carol: { password: P.carol, uid: 1004, groups: ['carol'], expired: true },
      // sudo asks for its password, so the password travels there as well.
      panel: { password: P.service, uid: 1005, groups: ['panel'], sudo: 'password' },
    },
  })
  cleaning.push(() => demo.close())
  return demo
}

let addresses = 0
/** Returns a new address, so that no rate limit on logins applies by accident. */
const newAddress = () => {
  addresses += 1
  return `198.51.${Math.floor(addresses / 250)}.${addresses % 250}`
}

const hostOf = (demo: DemoHost) => ({ PANEL_SSH_HOST: `127.0.0.1:${demo.port}`, PANEL_SSH_USERNAME: 'panel' })

async function signIn({ ask }: Evidence, url: string, username: keyof typeof P) {
  const answer = await ask(url, 'POST', '/api/auth/login', {
    from: newAddress(),
    body: { username, password: P[username] },
  })
  const { access_token: access } = Login.parse(JSON.parse(answer.body))
  secrets.push(...token(`an access token of ${username}`, access))
  secrets.push(...token(`a refresh token of ${username}`, answer.cookie))
  return { access, refresh: answer.cookie }
}

/** Sends every kind of request, valid and invalid. */
async function wholeRun(evidence: Evidence, demo: DemoHost, folder: string): Promise<void> {
  const { ask, send, follow, start, run } = evidence
  const env = {
    PANEL_DATA_DIR: folder,
    PANEL_TRUSTED_PROXIES: '127.0.0.1',
    PANEL_ORIGINS: 'https://panel.example',
    ...hostOf(demo),
  }
  const { url, stop } = await start({ ...env, PANEL_SSH_PASSWORD: P.service, PANEL_SSH_PASWORD: P.misspelt })
  const alice = await signIn(evidence, url, 'alice')
  const bob = await signIn(evidence, url, 'bob')
  const bobElsewhere = await signIn(evidence, url, 'bob')

  const login = (body: unknown, path = '/api/auth/login', from = newAddress()) => ask(url, 'POST', path, { from, body })
  await login({ username: 'alice', password: P.wrong })
  await login({ username: 'carol', password: P.carol })
  await login({ username: 'nobody', password: P.ofNobody })
  for (const wrong of [[P.mistyped], { is: P.mistyped }, P.mistyped.repeat(60), { password: { password: P.mistyped } }])
    await login({ username: 'alice', password: wrong })
  await login({ password: P.mistyped })
  await login({ username: { password: P.mistyped }, password: P.mistyped })
  await login([P.mistyped])
  await login(JSON.stringify(P.mistyped))
  for (const illegible of [
    `{"username":"alice","password":${P.illegible}}`,
    `{"username":"alice","password":"${P.illegible}"`,
    `{'password':'${P.illegible}'}`,
    `{"password":"${P.illegible.replace('é', '\n')}"}`,
    `username=alice&password=${encodeURIComponent(P.illegible)}`,
    P.illegible,
  ])
    await login(illegible)
  const address = `?username=alice&password=${encodeURIComponent(P.inAddress)}`
  await login({}, `/api/auth/login${address}`)
  await login({ username: 'alice', password: P.wrong, extra: 'x'.repeat(1_100_000) })
  await login(JSON.stringify({ username: 'alice', password: P.tooLong }).padEnd(1_100_000))
  for (let attempt = 0; attempt < 7; attempt += 1)
    await login({ username: 'alice', password: P.limited }, '/api/auth/login', '203.0.113.9')
  for (const [method, path] of [
    ['GET', '/api/auth/login'],
    ['GET', '/nowhere'],
    ['GET', '/api/auth/me'],
    ['GET', '/api/audit'],
    ['PUT', '/api/health'],
  ] as const)
    await ask(url, method, path + address)
  await send(url, `GET /x${address} what HTTP/1.1\r\nHost: a\r\n\r\n`)

  const basic = Buffer.from(`alice:${P.inHeader}`).toString('base64')
  for (const authorization of [
    `Basic ${basic}`,
    `Bearer ${basic}`,
    `Bearer ${alice.access}x`,
    `Bearer ${alice.refresh}`,
    `Token ${alice.access}`,
    alice.access,
    `Bearer ${alice.access} ${bob.access}`,
  ])
    await ask(url, 'GET', '/api/auth/me', { headers: { authorization } })
  await ask(url, 'GET', `/api/auth/me?access_token=${alice.access}`)
  await ask(url, 'GET', '/api/auth/me', { token: alice.access })
  await send(url, `GET /api/auth/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${alice.access}\r\nx y: z\r\n\r\n`)
  const long = 'x'.repeat(20_000)
  await send(url, `GET /api/auth/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${alice.access}\r\nX: ${long}\r\n\r\n`)
  await send(url, `POST /api/auth/refresh HTTP/1.1\r\nHost: a b\r\nCookie: svc_refresh=${bob.refresh}\r\n\r\n`)
  const lengths = 'Content-Length: 3\r\nContent-Length: 4'
  await send(url, `POST /api/auth/login HTTP/1.1\r\nHost: a\r\n${lengths}\r\n\r\n{"password":"${P.illegible}"}`)

  const refresh = (cookie?: string, headers: Record<string, string> = {}) =>
    ask(url, 'POST', '/api/auth/refresh', { ...(cookie !== undefined && { cookie }), headers })
  const renewed = await refresh(bob.refresh)
  secrets.push(...token('a renewed access token', Login.parse(JSON.parse(renewed.body)).access_token))
  await refresh()
  await refresh(`${bob.refresh}x`)
  await refresh(bob.access)
  await refresh(`"${bob.refresh}`)
  await refresh(bob.refresh, { origin: 'https://evil.example' })
  await refresh(bob.refresh, { origin: 'https://panel.example', 'x-forwarded-proto': 'https' })

  const sessions = await ask(url, 'GET', '/api/auth/sessions', { token: bob.access, cookie: bob.refresh })
  const [other] = Sessions.parse(JSON.parse(sessions.body)).filter(({ is_current }) => !is_current)
  await ask(url, 'DELETE', `/api/auth/sessions/${other?.id}`, { token: bob.access, cookie: bob.refresh })
  await ask(url, 'DELETE', '/api/auth/sessions/999999', { token: bob.access })
  await ask(url, 'GET', '/api/auth/me', { token: bobElsewhere.access })
  await refresh(bobElsewhere.refresh)

  const wanted = { name: 'canary', role: 'viewer', targets: 'all' }
  const made = await ask(url, 'POST', '/api/auth/tokens', { token: bob.access, body: wanted })
  const api = ApiToken.parse(JSON.parse(made.body))
  secrets.push(canary('an API token', api.token, { length: 16, step: 1 }))
  await ask(url, 'POST', '/api/auth/tokens', { token: bob.access, body: { ...wanted, role: api.token } })
  await ask(url, 'POST', '/api/auth/tokens', { token: bob.access, body: { ...wanted, role: 'admin' } })
  for (const path of ['auth/me', 'auth/tokens', 'settings', `auth/me?token=${api.token}`, `nowhere/${api.token}`])
    await ask(url, 'GET', `/api/${path}`, { token: api.token })
  await ask(url, 'GET', '/api/auth/me', { token: `${api.token}x` })
  await ask(url, 'DELETE', `/api/auth/tokens/${api.token}`, { token: bob.access })
  await follow(url, '/ws/updates/1700000000-00000000', { protocols: ['panel.v1', `bearer.${api.token}`] })
  await ask(url, 'GET', '/api/auth/tokens?all=true', { token: alice.access })
  await ask(url, 'DELETE', `/api/auth/tokens/${api.id}`, { token: bob.access })
  await ask(url, 'GET', '/api/auth/me', { token: api.token })

  await withFactor(evidence, url, bob.access)

  const preferences = (body: unknown) => ask(url, 'PATCH', '/api/auth/preferences', { token: bob.access, body })
  await preferences({ theme: 'light' })
  await preferences({ lang: { password: P.mistyped } })
  await preferences([P.mistyped])
  await preferences(`{"theme":${P.illegible}}`)

  await ask(url, 'GET', '/api/audit?limit=500', { token: alice.access })
  await ask(url, 'GET', '/api/audit', { token: bob.access })
  await ask(url, 'GET', '/api/audit?limit=x', { token: alice.access })
  await ask(url, 'GET', '/.well-known/jwks.json')
  await ask(url, 'GET', '/api/health')

  await ask(url, 'GET', '/api/updates/targets', { token: bob.access })
  for (const target of ['host', 'lxc:101', 'lxc:999', 'all', ''])
    await ask(url, 'GET', `/api/updates/packages?target=${target}`, { token: bob.access })
  for (const target of ['nonsense', '', 'lxc:999'])
    await ask(url, 'POST', '/api/updates/run', { token: bob.access, body: { target } })
  const started = await ask(url, 'POST', '/api/updates/run', { token: bob.access, body: { target: 'host' } })
  const path = `/ws/updates/${Job.parse(JSON.parse(started.body)).job_id}`
  const bearing = (text: string) => ({ protocols: ['panel.v1', `bearer.${text}`] })
  expect(await follow(url, path, bearing(bob.access))).toBe(1000)
  expect(await follow(url, path, { headers: { authorization: `Bearer ${bob.access}` } })).toBe(1000)
  expect(await follow(url, path, { ...bearing(bob.access), headers: { origin: 'https://evil.example' } })).toBe(403)
  expect(await follow(url, path, bearing(`${bob.access}x`))).toBe(4401)
  expect(await follow(url, path, bearing(bob.refresh))).toBe(4401)
  expect(await follow(url, path, { headers: { authorization: `Basic ${basic}` } })).toBe(4401)
  expect(await follow(url, `${path}?from=x&token=${bob.access}`, bearing(bob.access))).toBe(1008)
  expect(await follow(url, '/ws/updates/none', bearing(bob.access))).toBe(4404)
  expect(await follow(url, `/ws/nowhere${address}`, bearing(bob.access))).toBe(404)
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 3'
  await send(url, `GET ${path} HTTP/1.1\r\nHost: a\r\n${upgrade}\r\nAuthorization: Bearer ${bob.access}\r\n\r\n`)
  await ask(url, 'GET', '/api/updates/history', { token: bob.access })

  demo.accepting = false
  demo.cut()
  await login({ username: 'alice', password: P.unreachable })
  await ask(url, 'GET', '/api/updates/packages?target=host', { token: bob.access })
  await ask(url, 'POST', '/api/updates/run', { token: bob.access, body: { target: 'host' } })
  demo.accepting = true

  await rememberKeys(folder)
  await whileTheDatabaseFails(evidence, url, folder, { alice, bob })

  await run(0, env, 'keys', 'list')
  await run(0, env, 'keys', 'rotate')
  await rememberKeys(folder)
  await run(0, env, 'keys', 'rotate', '--revoke')
  await rememberKeys(folder)
  await run(1, { ...env, PANEL_SECRET_KEY: otherKey.toString('base64') }, 'keys', 'rotate')
  await ask(url, 'POST', '/api/auth/logout', { token: bob.access, cookie: bob.refresh })
  await ask(url, 'POST', '/api/auth/logout', { token: alice.access })
  await ask(url, 'POST', '/api/auth/logout', { token: `${alice.access}x`, cookie: 'x' })
  await refresh(bob.refresh)

  const running = await databaseFiles(folder)
  await stop()
  databases.push(running, await databaseFiles(folder))
}

/** Removes each table for a while: an error of the database must not show the arguments of its statement. */
async function whileTheDatabaseFails(
  { ask, follow }: Evidence,
  url: string,
  folder: string,
  { alice, bob }: Record<'alice' | 'bob', { access: string; refresh: string }>,
): Promise<void> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  const tables = ['rate_hits', 'settings', 'users', 'sessions', 'ended_sessions', 'jobs', 'audit', 'signing_keys']
  for (const table of [...tables, 'schema_version']) {
    await db.script(`ALTER TABLE ${table} RENAME TO away`)
    for (const word of [P.bob, P.whileFailing])
      await ask(url, 'POST', '/api/auth/login', { from: newAddress(), body: { username: 'bob', password: word } })
    await ask(url, 'POST', '/api/auth/refresh', { cookie: bob.refresh })
    for (const path of ['auth/me', 'auth/sessions', 'updates/targets', 'updates/history', 'health'])
      await ask(url, 'GET', `/api/${path}`, { token: bob.access, cookie: bob.refresh })
    await ask(url, 'GET', '/api/audit', { token: alice.access })
    // The service has to look up the key of this token.
    const [, ...rest] = alice.access.split('.')
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'k'.repeat(43) })).toString('base64url')
    await ask(url, 'GET', '/api/auth/me', { token: [header, ...rest].join('.') })
    await ask(url, 'DELETE', '/api/auth/sessions/999999', { token: bob.access })
    await ask(url, 'PATCH', '/api/auth/preferences', { token: bob.access, body: { lang: 'en' } })
    if (table !== 'jobs')
      await ask(url, 'POST', '/api/updates/run', { token: bob.access, body: { target: 'nonsense' } })
    await follow(url, '/ws/updates/none', { protocols: ['panel.v1', `bearer.${bob.access}`] })
    await db.script(`ALTER TABLE away RENAME TO ${table}`)
  }
  await db.close()
}

/** Starts with another secret key: neither the service's password nor its private signing key can be decrypted. */
async function withAnotherKey(evidence: Evidence, demo: DemoHost, folder: string): Promise<void> {
  const env = { PANEL_DATA_DIR: folder, PANEL_SECRET_KEY: otherKey.toString('base64') }
  const { url, stop } = await evidence.start({ ...env, PANEL_TRUSTED_PROXIES: '127.0.0.1', ...hostOf(demo) })
  const { access, refresh } = await signIn(evidence, url, 'alice')
  await evidence.ask(url, 'GET', '/api/updates/packages?target=host', { token: access })
  await evidence.ask(url, 'POST', '/api/updates/run', { token: access, body: { target: 'host' } })
  await evidence.ask(url, 'POST', '/api/auth/logout', { token: access, cookie: refresh })
  await stop()
  await rememberKeys(folder, otherKey)
}

async function withTheKeyOfTheEnvironment(evidence: Evidence, demo: DemoHost): Promise<void> {
  const folder = await temporaryFolder((work) => cleaning.push(work))
  const env = { PANEL_DATA_DIR: folder, PANEL_JWT_KEY: pem.toString(), PANEL_SSH_PASSWORD: P.service, ...hostOf(demo) }
  const { url, stop } = await evidence.start({ ...env, PANEL_TRUSTED_PROXIES: '127.0.0.1' })
  const { access } = await signIn(evidence, url, 'bob')
  await evidence.ask(url, 'GET', '/api/auth/me', { token: `${access}x` })
  await evidence.run(0, env, 'keys', 'rotate')
  await stop()
  await rememberKeys(folder)
  databases.push(await databaseFiles(folder))
}

/** Installs a service with the wizard, changes its settings by requests and commands, and makes a backup. */
async function fromTheWizardToABackup(evidence: Evidence, demo: DemoHost): Promise<void> {
  const { ask, run, start } = evidence
  const folder = await temporaryFolder((work) => cleaning.push(work))
  const env = { PANEL_DATA_DIR: folder, PANEL_TRUSTED_PROXIES: '127.0.0.1', PANEL_METRICS: 'on' }
  const { url, stop } = await start(env)
  const setup_token = (await readFile(join(folder, 'setup-token'), 'utf8')).trim()
  const account = { ssh_host: `127.0.0.1:${demo.port}`, ssh_username: 'panel', ssh_password: P.service }
  const wizard = (path: string, more: object) =>
    ask(url, 'POST', path, { from: newAddress(), body: { setup_token, ...account, ...more } })
  // The service prints the setup token on the console on purpose, and must show it nowhere else.
  const elsewhere = password('the setup token', setup_token)
  for (const wrong of [{ setup_token: P.setupWrong }, { ssh_password: P.setupWrong }, { ssh_username: [P.setupWrong] }])
    await wizard('/api/install/check', wrong)
  const checked = await wizard('/api/install/check', {})
  const { ssh_host_key } = z.object({ ssh_host_key: z.string() }).parse(JSON.parse(checked.body))
  const hypervisor_token = (at: 0 | 1) => `panel@pve!ops=${hypervisorTokens[at]}`
  await wizard('/api/install', { ssh_host_key, ssh_password: P.setupWrong })
  await wizard('/api/install', { ssh_host_key, hypervisor_token: hypervisor_token(0) })
  await wizard('/api/install', { ssh_host_key })

  const { access } = await signIn(evidence, url, 'alice')
  const patch = (body: unknown) => ask(url, 'PATCH', '/api/settings', { token: access, body })
  for (const body of [
    { ssh_password: [P.setWrongly] },
    { ssh_password: P.setWrongly, ssh_host: 'a b' },
    { hypervisor_token: P.setWrongly },
    { ssh_host_key: `SHA256:${'A'.repeat(43)}`, current_password: P.setWrongly },
    { current_password: [P.setWrongly] },
    { sshpassword: P.setWrongly },
    `{"ssh_password":"${P.illegible}`,
    { ssh_password: P.setWrongly },
    { ssh_password: P.service, hypervisor_token: hypervisor_token(1) },
  ])
    await patch(body)
  await withAHypervisor(evidence, url, { access, right: hypervisor_token(1), wrong: hypervisor_token(0) })
  await ask(url, 'PUT', '/api/settings/public', { token: access, body: { dashboard_shortcuts: '[]' } })
  await ask(url, 'PUT', '/api/dashboard/layout', { token: access, body: { widgets: [] } })
  for (const path of [
    '/api/settings',
    '/api/settings/public',
    '/api/settings/logs',
    '/api/dashboard/layout',
    '/metrics',
  ])
    await ask(url, 'GET', path, { token: access })
  await ask(url, 'GET', '/api/audit?limit=500', { token: access })

  await run(0, env, 'settings', 'get')
  await run(1, env, 'settings', 'set', 'ssh_password', P.setWrongly)
  await run(0, env, 'users')
  await run(0, env, 'doctor')
  const backup = join(folder, 'copy.sqlite')
  await run(0, env, 'backup', backup)
  found.backup = withoutGaps(await readFile(backup))
  await stop()
  await rememberKeys(folder)
  databases.push(await databaseFiles(folder))
  expect(search(found.backup, [elsewhere])).toEqual([])
  found.wizardAudit = (await auditRows(folder)).join('\n')
}

/** Tries all kinds of answers of a hypervisor, also one with the token; leaves working settings. */
async function withAHypervisor(
  { ask }: Evidence,
  url: string,
  { access, right, wrong }: { access: string; right: string; wrong: string },
): Promise<void> {
  const hypervisor = await startHypervisor({ token: right })
  cleaning.push(() => hypervisor.close())
  const { url: hypervisor_url, fingerprint: hypervisor_fingerprint } = hypervisor
  const patch = (body: object) => ask(url, 'PATCH', '/api/settings', { token: access, body })
  const askAll = async () => {
    const told = await ask(url, 'POST', '/api/hypervisor/containers/101/shutdown', { token: access })
    const { task = 'none' } = z.object({ task: z.string().optional() }).parse(JSON.parse(told.body))
    for (const path of ['containers', 'host', `tasks/${encodeURIComponent(task)}`])
      await ask(url, 'GET', `/api/hypervisor/${path}`, { token: access })
  }
  const echo: Behaviour = ({ headers: { authorization = '' } }, response) => {
    const message = `no such token: ${authorization}`
    response.writeHead(500, message, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: null, message, errors: { token: authorization } }))
    return true
  }
  const cut: Behaviour = (_, response) => Boolean(response.destroy())
  const page: Behaviour = ({ headers: { authorization } }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${authorization}`)
    return true
  }
  // Without a fingerprint, then with it; nobody answers at the last address.
  await patch({ hypervisor_url, hypervisor_token: right, hypervisor_fingerprint: '' })
  await askAll()
  await patch({ hypervisor_token: right, hypervisor_fingerprint })
  await askAll()
  for (const behave of [echo, cut, page]) {
    hypervisor.behave = behave
    await askAll()
  }
  hypervisor.behave = undefined
  hypervisor.permissions = {}
  await askAll()
  hypervisor.permissions = { '/': { 'VM.Audit': 1, 'VM.PowerMgmt': 1 } }
  await patch({ hypervisor_token: wrong })
  await askAll()
  await patch({ hypervisor_token: right, hypervisor_url: 'https://127.0.0.1:1' })
  await askAll()
  await patch({ hypervisor_url })
  expect(hypervisor.authorizations.some((text) => text.includes(right))).toBe(true)
}

const Begun = z.object({ secret: z.string(), challenge: z.string() })
const Added = z.object({ factor: z.object({ id: z.number() }), recovery_codes: z.array(z.string()) })
const Codes = z.object({ recovery_codes: z.array(z.string()) })
const Asked = z.object({ challenge: z.string() })

/** Adds a second factor of Bob, answers with it rightly and wrongly, and removes it. */
async function withFactor({ ask }: Evidence, url: string, bob: string): Promise<void> {
  const factors = (method: string, path: string, body: unknown) =>
    ask(url, method, `/api/auth/factors${path}`, { token: bob, body })
  const hide = (codes: readonly string[]) => {
    for (const code of codes) secrets.push(canary('a recovery code', code), canary('a code', code.replaceAll('-', '')))
  }
  const begun = Begun.parse(JSON.parse((await factors('POST', '/totp', { name: 'canary' })).body))
  secrets.push(canary('the secret of an authenticator', begun.secret, { length: 16, step: 1 }))
  secrets.push(canary('a challenge', begun.challenge, { length: 16, step: 1 }))
  const code = codeOf(begun.secret, Math.floor(Date.now() / 30_000))
  await factors('POST', '/totp', { name: { secret: begun.secret } })
  await factors('POST', '/totp/confirm', { challenge: begun.challenge, code: begun.secret.slice(0, 20) })
  const confirmed = await factors('POST', '/totp/confirm', { challenge: begun.challenge, code })
  const { factor, recovery_codes } = Added.parse(JSON.parse(confirmed.body))
  hide(recovery_codes)
  await factors('POST', '/totp/confirm', { challenge: begun.challenge, code })

  const login = { username: 'bob', password: P.bob }
  const asked = await ask(url, 'POST', '/api/auth/login', { from: newAddress(), body: login })
  const { challenge } = Asked.parse(JSON.parse(asked.body))
  for (const [factor, answer] of [
    ['recovery', begun.secret],
    ['totp', recovery_codes[0]],
    ['recovery', recovery_codes[0]],
    ['recovery', recovery_codes[0]],
  ] as const) {
    const body = { challenge, factor, answers: [answer] }
    const answered = await ask(url, 'POST', '/api/auth/login/answers', { from: newAddress(), body })
    if (answered.status !== 200) continue
    secrets.push(...token('an access token by a code', Login.parse(JSON.parse(answered.body)).access_token))
    secrets.push(...token('a refresh token by a code', answered.cookie))
  }
  const proven = (body: unknown) => ask(url, 'POST', '/api/auth/step-up', { token: bob, body })
  await proven({ password: P.bob })
  await proven({ factor: recovery_codes[1], answers: [recovery_codes[1]] })
  const proof = await proven({ factor: 'recovery', answers: [recovery_codes[1]] })
  secrets.push(...token('a proven access token', Login.parse(JSON.parse(proof.body)).access_token))
  hide(Codes.parse(JSON.parse((await factors('POST', '/recovery', {})).body)).recovery_codes)
  await ask(url, 'GET', '/api/auth/factors', { token: bob })
  await factors('DELETE', `/${factor.id}`, undefined)
}

/** Starts with wrong settings: the error names the variable and does not show its value. */
async function withWrongSettings({ run }: Evidence): Promise<void> {
  const folder = await temporaryFolder((work) => cleaning.push(work))
  const nowhere = 'http://127.0.0.1:9'
  for (const wrong of [
    { PANEL_SECRET_KEY: Buffer.from(P.noKey).toString('base64') },
    { PANEL_JWT_KEY: `-----BEGIN PRIVATE KEY-----\n${P.noKey}\n-----END PRIVATE KEY-----` },
    { PANEL_SSH_HOST: `panel:${P.noHost}@host:x`, PANEL_SSH_PASSWORD: P.noHost },
    { PANEL_SSH_HOST_KEY: P.noHost },
    { PANEL_DATABASE_URL: nowhere, PANEL_DATABASE_TOKEN: databaseTokens[0] },
    { PANEL_DATABASE_URL: `${nowhere}?authToken=${databaseTokens[1]}` },
    { PANEL_DATABASE_URL: `http://panel:${encodeURIComponent(P.inDatabaseUrl)}@127.0.0.1:9` },
    { PANEL_DATABASE_URL: `mysql://panel:${encodeURIComponent(P.inDatabaseUrl)}@127.0.0.1` },
  ])
    await run(1, { PANEL_DATA_DIR: folder, ...wrong })
}

const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const

/** Adds the secret key of a folder and the private numbers of its signing keys to the secrets. */
async function rememberKeys(folder: string, key?: Buffer): Promise<void> {
  const secretKey = key ?? Buffer.from((await readFile(join(folder, 'secret.key'), 'utf8')).trim(), 'base64')
  secrets.push(canary('secret.key', secretKey))
  const db = await openDatabase(`file:${folder}/panel.db`)
  const rows = await readSigningKeys(db)
  await db.close()
  const { open } = createSecrets(secretKey)
  for (const { kid, private_sealed } of rows) {
    const text = opened(() => open(`signing_key:${kid}`, private_sealed))
    if (text === undefined) continue
    const jwk = await exportJWK(await importPKCS8(text, 'RS256', { extractable: true }))
    for (const name of PRIVATE) secrets.push(canary(`${name} of ${kid}`, Buffer.from(jwk[name] ?? '', 'base64url')))
  }
}

function opened(open: () => string): string | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

describe('after a run with valid and invalid requests', () => {
  test('the run has left traces, and secrets to search for', () => {
    expect([...found.statuses]).toEqual(
      expect.arrayContaining([200, 202, 400, 401, 403, 404, 405, 413, 429, 431, 500, 502, 503]),
    )
    const said = ['request refused', 'socket opened', 'request failed', 'job failed', 'stopped', 'lé de signature']
    expect(said.filter((line) => !found.output.includes(line))).toEqual([])
    const actions = [
      'login_success',
      'login_failed',
      'login_rate_limited',
      'session_revoked',
      'update_start',
      'logout',
      'installed',
      'settings_changed',
      'container_shutdown',
    ]
    expect(actions.filter((action) => !found.audit.includes(`"${action}"`))).toEqual([])
    expect(found.answers).toContain('"keys":')
    expect(found.database.toString('latin1', 0, 15)).toBe('SQLite format 3')
    expect(found.backup.toString('latin1', 0, 15)).toBe('SQLite format 3')
    expect(found.answers).toContain('ops_panel_http_requests_total')
    expect(found.answers).toContain('"ssh_password_set":true')
    expect(found.output).toContain('ssh_password=(défini)')

    const kinds = [
      'a recovery code',
      'an access token by a code',
      'a proven access token',
      'the password',
      'an access token',
      'a refresh token',
      'a renewed',
      'secret.key',
      'd of',
      'qi of',
    ]
    const names = secrets.map(({ name }) => name)
    expect(kinds.filter((kind) => !names.some((name) => name.startsWith(kind)))).toEqual([])
    expect(secrets.filter(({ bytes }) => bytes.length < SHORTEST)).toEqual([])
  })

  test('no secret is in the output of the service and its commands', () => {
    expect(search(found.output, secrets)).toEqual([])
  })

  test('no secret is in the audit log', () => {
    expect(search(found.audit, secrets)).toEqual([])
  })

  test('no secret is in an error that a client received', () => {
    expect(search(found.errors, secrets)).toEqual([])
  })

  test('no secret is in an answer, except where the answer hands it out on purpose', () => {
    expect(search(found.answers, secrets)).toEqual([])
  })

  test('no secret is in the database in clear text, although all of them are in use', () => {
    expect(search(found.database, secrets)).toEqual([])
  })

  test('no secret is in a backup without its key in clear text', () => {
    expect(search(found.backup, secrets)).toEqual([])
  })

  test.each(['output', 'audit', 'errors', 'answers', 'database', 'backup'] as const)(
    'the search finds every secret that is planted in the %s',
    (place) => {
      const around = Buffer.from(found[place]).subarray(0, 100_000)
      for (const secret of secrets) {
        const slipped = Buffer.concat([around, secret.bytes, around])
        expect(search(slipped, [secret])).toContainEqual(expect.objectContaining({ canary: secret.name, form: 'raw' }))
      }
    },
    60_000,
  )
})

test('a secret that a function leaks is found: in the log, in the audit log and in an error', async () => {
  const folder = await temporaryFolder()
  const evidence = collectEvidence()
  onTestFinished(() => evidence.end())
  const { url, stop } = await evidence.start({ PANEL_DATA_DIR: folder }, LEAKING)
  const told = { log: newPassword(), audit: newPassword(), error: newPassword() }
  for (const [place, word] of Object.entries(told))
    await evidence.ask(url, 'POST', `/api/leaking/${place}`, { body: { password: word } })
  await stop()

  const foundIn = (where: string) =>
    Object.entries(told).flatMap(([name, word]) => (search(where, [password(name, word)]).length > 0 ? [name] : []))
  expect(foundIn(evidence.output())).toEqual(['log'])
  expect(foundIn((await auditRows(folder)).join('\n'))).toEqual(['audit'])
  expect(foundIn(evidence.errors())).toEqual(['error'])
})
