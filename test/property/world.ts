import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import * as z from 'zod'
import { addDeployment, endDeployment } from '../../db/deployments.ts'
import { addJob, addRun } from '../../db/job-start.ts'
import { endJob, noteOutcome } from '../../db/jobs.ts'
import { auditEntry } from '../../db/audit.ts'
import { addChannel } from '../../db/notifications/channels.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { migrate } from '../../db/migrate.ts'
import { findModule, saveModule } from '../../db/modules.ts'
import { addingTotp, listFactors, replacingRecoveryCodes } from '../../db/access/factors.ts'
import { addPlan } from '../../db/plans.ts'
import { noteSnapshot } from '../../db/snapshots.ts'
import { saveSource } from '../../db/applications.ts'
import { addSession } from '../../db/sessions.ts'
import { saveUser } from '../../db/users.ts'
import { createChallenge } from '../../functions/factors/challenges.ts'
import { newRecoveryCodes } from '../../functions/factors/recovery-codes.ts'
import { totpSecret } from '../../functions/factors/totp.ts'
import { DEFAULT_PROTECTION } from '../../functions/protection/protection.ts'
import { OutdatedService } from '../../functions/restarts/outdated-services.ts'
import { findingOf } from '../../functions/findings/finding.ts'
import { timestamp } from '../../platform/clock.ts'
import { joinSettings, sealedSettings } from '../../notifications/notifications.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets, loadSecretKey, type Secrets } from '../../platform/secrets.ts'
import type { Manifest } from '../../serve/assembly.ts'
import { startServer } from '../../serve/server.ts'
import { createSessions } from '../../sessions/sessions.ts'
import { temporaryFolder } from '../db/folder.ts'
import { codeOf } from '../functions/factors/person.ts'
import { testForge } from '../forge.ts'
import { pageTicket } from '../../modules/modules.ts'
import { startDemo } from '../runtime/demo.ts'
import { type KnownPasskeys, ORIGIN, populatePasskeys } from './passkeys.ts'
import { DIGEST, type Known, SCRIPT } from './requests.ts'
import { bearerOf } from '../bearer.ts'
import { startProvider } from '../functions/oidc/provider.ts'

/** Sessions, modules and deployments have the numbers up to this one. */
const NUMBERS = 300
/** An upgrade then takes four seconds; all requests about it come in the first one. */
const LINE_MS = 100

/** The accounts of the host, one for each signed-in user. */
const USERS = Object.fromEntries(
  ['user-0', 'user-1', 'admin-0'].map((name, n) => [name, { password: name, uid: 1500 + n, groups: [name] }]),
)

interface WorldOptions {
  manifest?: Manifest
  installed?: boolean
  /** Whether half of the jobs are still running. */
  running?: boolean
  /** Whether modules and deployments have ids as in production instead of numbers, which are easy to guess. */
  realisticIds?: boolean
  /** Whether there is a provider at which an account of the host can sign in. */
  oidc?: boolean
}

/**
 * Starts the whole service, or one with another manifest, for an imitated host. Requests can refer to its users,
 * administrators, sessions and jobs.
 */
export async function startWorld({
  manifest,
  installed = true,
  running = false,
  realisticIds = false,
  oidc = false,
}: WorldOptions = {}) {
  const provider = oidc ? await startProvider({ claims: { preferred_username: 'demo' } }) : undefined
  const demo = await startDemo({ wrongMs: 0, rebootMs: 0, users: USERS, ...(running && { lineMs: LINE_MS }) })
  const folder = await temporaryFolder()
  const populated = await populatedCopy(folder, running, realisticIds)
  const page = join(folder, 'modules', PAGE.id, PAGE.file)
  await mkdir(dirname(page), { recursive: true })
  await writeFile(page, '<!doctype html><title>A page</title>')
  const forge = await testForge()
  const modules = ['notes', 'links', 'clock']
  for (const id of modules) {
    const files = { 'module.json': JSON.stringify({ id, name: id, version: '1' }) }
    forge.put({ name: id, branches: { main: { files } } })
  }
  const environment = {
    PANEL_PORT: '0',
    PANEL_DATA_DIR: folder,
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_LOG_LEVEL: process.env.PROPERTY_LOG ?? 'silent',
    PANEL_METRICS: 'on',
    ...(installed && {
      PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
      PANEL_SSH_USERNAME: demo.service.username,
      PANEL_SSH_PASSWORD: demo.service.password,
    }),
    PANEL_FORGE_URL: forge.url,
    PANEL_FORGE_ORG: forge.org,
    PANEL_TRUSTED_PROXIES: '127.0.0.1',
    PANEL_ORIGINS: ORIGIN,
    PANEL_PUBLIC_URL: ORIGIN,
    PANEL_PASSKEY_SIGN_IN: 'on',
    PANEL_OIDC_ISSUER: provider?.issuer ?? 'http://127.0.0.1:9',
    PANEL_OIDC_CLIENT_ID: 'panel',
  }
  const { url, stop } = await startServer(environment, manifest)
  onTestFinished(stop)
  const known: Known = {
    ...populated,
    module: modules,
    setup: [installed ? 'none' : (await readFile(join(folder, 'setup-token'), 'utf8')).trim()],
    host: [`127.0.0.1:${demo.port}`],
    hostkey: [demo.hostKey],
    password: [demo.service.password],
    oidcanswer: provider ? await Promise.all(Array.from({ length: 12 }, () => signedInAt(provider, url))) : [],
    code: [codeOf(TOTP_SECRET, Math.floor(Date.now() / 30_000))],
    panel: Array.from((await (await fetch(url)).text()).matchAll(/"\/panel\/([^"]+)"/g), ([, name = '']) => name),
  }
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const before = openConnections()

  const ask = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${known.admin[0]}` }
    return (await fetch(`${url}${path}`, { headers })).json()
  }
  return {
    url,
    agent,
    known,
    /** Deployments of the modules with ids as in production. */
    deployments: REALISTIC_IDS.map(([, deployment]) => deployment),
    /** The status that the service reports for itself. */
    health: async () => Health.parse(await ask('/api/health')).status,
    installed: async () => Installed.parse(await ask('/api/install/status')).installed,
    /** The number of running jobs among the newest ones. */
    runningJobs: async () => (Jobs.parse(await ask('/api/updates/history?output=none')) ?? []).filter(isRunning).length,
    /** The number of connections opened since the start, without both ends of those to the imitated host. */
    openConnections: () => openConnections() - before - 2 * demo.connections,
  }
}

/** Begins a sign-in at the provider; returns the body that ends it. */
async function signedInAt(provider: Awaited<ReturnType<typeof startProvider>>, url: string): Promise<string> {
  const begun = await (await fetch(`${url}/api/auth/oidc`, { method: 'POST' })).json()
  const { url: there, challenge } = z.object({ url: z.string(), challenge: z.string() }).parse(begun)
  return JSON.stringify({ challenge, answer: provider.signIn(there) })
}

const Health = z.object({ status: z.string() })
const Installed = z.object({ installed: z.boolean() })
const Jobs = z.array(z.object({ status: z.string() })).nullable()
const isRunning = ({ status }: { status: string }) => status === 'running'

function openConnections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}

interface Population {
  known: Populated
  files: ReadonlyMap<string, Buffer>
}

/** By whether jobs run and ids are realistic. To populate a database takes a second, to copy it a few milliseconds. */
const populations = new Map<string, Promise<Population>>()

async function populatedCopy(folder: string, running: boolean, realisticIds: boolean): Promise<Populated> {
  const key = `${running} ${realisticIds}`
  const population = populations.get(key) ?? populateOnce(running, realisticIds)
  populations.set(key, population)
  const { known, files } = await population
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes, { mode: 0o600 })
  return known
}

async function populateOnce(running: boolean, realisticIds: boolean): Promise<Population> {
  const folder = await temporaryFolder()
  const known = await populate(folder, running, realisticIds ? REALISTIC_IDS : NUMERIC_IDS)
  const files = new Map<string, Buffer>()
  // A closed database has all in its file. Its log and its index are empty, and go at any time.
  for (const name of await readdir(folder))
    if (!/-(wal|shm)$/.test(name)) files.set(name, await readFile(join(folder, name)))
  return { known, files }
}

type Populated = Record<
  | 'user'
  | 'admin'
  | 'refresh'
  | 'job'
  | 'task'
  | 'plan'
  | 'run'
  | 'schedule'
  | 'schedulerun'
  | 'channel'
  | 'factor'
  | 'signin'
  | 'recovery'
  | 'enrolment'
  | keyof KnownPasskeys
  | 'apitoken'
  | 'account'
  | 'accountsession'
  | 'pagemodule'
  | 'pageticket',
  string[]
>

async function populate(
  folder: string,
  running: boolean,
  modules: readonly (readonly [string, string])[],
): Promise<Populated> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  const clock = () => new Date()
  const now = timestamp(clock())
  await migrate(db, clock())
  const { log } = createLog({ level: 'silent', write: () => {} })
  const secrets = createSecrets(await loadSecretKey(folder))
  const sessions = await createSessions({ db, secrets, clock, log, jwtKey: undefined, refreshDays: 7 })
  const known: Populated = {
    user: [],
    admin: [],
    refresh: [],
    job: [],
    task: [],
    plan: [],
    run: [],
    schedule: [],
    schedulerun: [],
    channel: [],
    factor: [],
    signin: [],
    recovery: [],
    enrolment: [],
    newpasskey: [],
    passkeysignin: [],
    link: [],
    linkuse: [],
    apitoken: [],
    account: [],
    accountsession: [],
    pagemodule: [],
    pageticket: [],
  }
  const ids: number[] = []
  for (const [as, count] of [
    ['user', 2],
    ['admin', 1],
  ] as const) {
    for (let n = 0; n < count; n += 1) {
      const user = await saveUser(db, `${as}-${n}`, as === 'admin', now)
      ids.push(user.id)
      // The token belongs to no session that a request could end by its number, so it stays valid to the last request.
      // Of administrators there is no such session, and there never will be.
      const sid = `${as === 'admin' ? 1_000_000 : NUMBERS + 1000 + user.id}`
      known[as].push(
        await sessions.accessToken(
          bearerOf({ id: user.id, username: user.username, isAdmin: as === 'admin', sid }, clock()),
        ),
      )
    }
  }
  for (let n = 0; n < NUMBERS; n += 1) {
    const user_id = ids[n % ids.length] ?? 0
    // Only some can be refreshed, because a signature for each would take seconds.
    const issued = n < 24 ? await sessions.refreshToken(user_id) : undefined
    if (issued) known.refresh.push(issued.token)
    const expires_at = timestamp(new Date(clock().getTime() + 86_400_000))
    const token_hash = issued?.hash ?? String(n)
    await addSession(
      db,
      { user_id, token_hash, expires_at, user_agent: 'test', ip: '192.0.2.1', proven_by: 'password' },
      now,
    )
  }
  for (let n = 0; n < 4; n += 1) {
    const id = `1700000000-aaaaaaa${n}`
    const target = n % 2 ? 'lxc:101' : 'lxc:102'
    const job = { id, kind: 'upgrade', args: JSON.stringify({ target }), queue: '', target, started_at: now }
    const followed = await addJob(db, { ...job, started_by: 1 }, { owner: 'nobody', leaseMs: 0 })
    if (!running || n > 1)
      await endJob(
        db,
        followed,
        { status: 'success', error: null, error_code: null, exit_code: 0 },
        { now, more: regression(target, followed, now) },
      )
    known.job.push(id)
  }
  const stopped = { id: '1700000000-bbbbbbb0', kind: 'container', args: '{"vmid":103,"action":"stop"}', queue: '' }
  const task = { ...stopped, target: 'lxc:103', started_at: now, started_by: 1 }
  const followed = await addJob(db, task, { owner: 'nobody', leaseMs: 0 })
  await endJob(db, followed, { status: 'success', error: null, error_code: null, exit_code: 0 }, { now })
  known.task.push(task.id)
  await populateChecks(db, now)
  await populatePlans(db, known, now)
  await populateSchedules(db, known, now)
  await populateChannels(db, known, now, secrets)
  await populateFactors(db, known, now, secrets)
  Object.assign(known, await populatePasskeys(db, secrets, ids, now))
  await populateApiTokens(db, known, ids, now)
  await populateAccount(db, known, now)
  for (const [module, deployment] of modules) await populateModule(db, module, deployment, now)
  await populatePage(db, known, secrets)
  await db.close()
  return known
}

/** Stores an account of nobody who sends requests, with sessions that a request may end. */
async function populateAccount(db: Database, known: Populated, now: string): Promise<void> {
  const { id } = await saveUser(db, 'somebody', false, now)
  known.account.push(String(id))
  for (let n = 0; n < 12; n += 1) {
    const expires_at = timestamp(new Date(Date.parse(now) + 86_400_000))
    const session = { user_id: id, token_hash: `somebody ${n}`, expires_at, user_agent: 'test', ip: '192.0.2.1' }
    known.accountsession.push(String(await addSession(db, { ...session, proven_by: 'password' }, now)))
  }
}

/** The statements of an upgrade's end with a regression and a snapshot. */
function regression(target: string, job: { id: string; epoch: number }, made_at: string) {
  const kept = { kind: 'snapshot', location: null, ours: true, present: true } as const
  const protectedRun = JSON.stringify({ protection: DEFAULT_PROTECTION })
  return [
    noteOutcome(job, { phase: 'done', outcome: 'regressed', protectedRun }),
    noteSnapshot({ ...kept, target, name: `panel-${job.id}`, made_at, job_id: job.id }, job),
  ]
}

/** Ids of modules, each with the id of a deployment; the service does not assign such ids. */
const NUMERIC_IDS = Array.from({ length: NUMBERS }, (_, n) => [`${n + 1}`, `${n + 1}`] as const)
const REALISTIC_IDS = Array.from({ length: 12 }, (_, n) => [`module-${n}`, randomUUID()] as const)

/** A service that may be restarted. */
const SSH = OutdatedService.parse({ name: 'ssh', reason: '/usr/lib/libssl.so.3', restart: 'service' })

/** A community script of a container. */
const APPLICATION = {
  ...{ id: 'community_script:app', kind: 'community_script', name: 'app', version: '1.0', available: null },
  ...{ source: { address: SCRIPT, digest: null }, updatable: true },
}

/** Stores checks of the host and of a container that found something to repair, a service to restart and an application. */
async function populateChecks(db: Database, now: string): Promise<void> {
  const summary = JSON.stringify({
    ...{ manager: 'apt', os: null, download_bytes: null, disk_bytes: null, services: [SSH] },
    counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
    findings: [findingOf('dpkg_interrupted', { packages: ['curl'] })],
    applications: [APPLICATION],
    reboot: { required: null, reasons: [] },
  })
  for (const [target, vmid] of [
    ['host', null],
    ['lxc:101', 101],
  ] as const) {
    await db.run(
      `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages)
       VALUES (?, ?, 'web', 'running', ?, ?, ?, '[]')`,
      [target, vmid, now, now, summary],
    )
  }
  const files = [{ address: APPLICATION.source.address, digest: DIGEST, size: 1 }]
  await saveSource(db, {
    ...{ target: 'lxc:101', application: APPLICATION.id, address: APPLICATION.source.address, digest: DIGEST },
    ...{ files: JSON.stringify(files), refused: '[]', fetched_at: now },
  })
  await db.run('INSERT INTO application_agreements VALUES (?, ?, ?, ?)', [
    DIGEST,
    APPLICATION.source.address,
    now,
    'admin',
  ])
}

const CONFFILE = {
  ...{ file: '/etc/rig.conf', package: 'app', state: 'conflict', choice: 'keep', public: true },
  ...{ diff: '-a\n+b', diff_cut: false, diff_missing: null },
}

/** Stores schedules that are disabled, so that nothing begins by itself, each with two runs that are in progress or done. */
async function populateSchedules(db: Database, known: Populated, now: string): Promise<void> {
  const settings = {
    ...{ window_minutes: 60, action: 'check', only: 'all', on_failure: 'stop', reboot: 'never' },
    waves: [{ targets: ['lxc:101'], pause_minutes: 0 }],
  }
  const waves = { waves: [], reboot: null }
  for (let n = 0; n < 12; n++) {
    const id = `5c${String(n).padStart(22, '0')}`
    known.schedule.push(id)
    await db.run(
      `INSERT INTO schedules (id, name, enabled, cron, timezone, settings, created_by, created_at, changed_at, handled_ms)
       SELECT ?, ?, 0, '0 3 * * *', 'UTC', ?, min(id), ?, ?, 0 FROM users WHERE id > 0`,
      [id, `schedule ${n}`, JSON.stringify(settings), now, now],
    )
    const run = `5d${String(n).padStart(22, '0')}`
    known.schedulerun.push(run)
    const state = n % 2 === 0 ? 'running' : 'done'
    await db.run(
      `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, started_at, state, settings, waves) VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?)`,
      [run, id, now, now, now, state, JSON.stringify(settings), JSON.stringify(waves)],
    )
  }
}

/** The address of a server that takes every notice; it lives as long as this process. */
let receiver: Promise<string> | undefined

async function startReceiver(): Promise<string> {
  const server = createServer((_, response) => response.setHeader('connection', 'close').end('taken')).unref()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** Stores channels whose receiver answers. */
async function populateChannels(db: Database, known: Populated, now: string, secrets: Secrets): Promise<void> {
  receiver ??= startReceiver()
  const chosen = JSON.stringify({
    ...{ events: ['regressed'], targets: 'all', minimum: 'critical', quiet: null },
    ...{ language: 'fr', output: false },
  })
  const entry = auditEntry({ action: 'x', user_id: null, username: null, target: null, ip: '', details: null }, now)
  for (let n = 0; n < 12; n++) {
    const id = `6a${String(n).padStart(22, '0')}`
    known.channel.push(id)
    const { problems: _, ...settings } = joinSettings('webhook', { url: `${await receiver}/hook`, secret: 'abc' })
    const sealed = sealedSettings({ id, kind: 'webhook' }, settings, secrets.seal)
    const row = { id, kind: 'webhook', name: `channel ${n}`, ...sealed, chosen }
    await addChannel(db, { ...row, enabled: true }, { now, most: 50, entry })
  }
}

/** The secret of every authenticator in this world. */
const TOTP_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

/**
 * Stores authenticators and recovery codes of each user, sign-ins and enrolments that wait for an answer, and the sessions
 * that users can prove again. Nothing of it expires.
 */
async function populateFactors(db: Database, known: Populated, now: string, secrets: Secrets): Promise<void> {
  const users = await db.query(
    z.object({ id: z.number(), username: z.string() }),
    'SELECT id, username FROM users WHERE id > 0',
  )
  const services = { db, secrets, clock: () => new Date('2099-01-01T00:00:00.000Z') }
  for (const { id: userId, username } of users) {
    const { codes, hashes } = newRecoveryCodes()
    const sealed = secrets.seal(totpSecret(userId), TOTP_SECRET)
    await db.batch(['a', 'b'].flatMap((name) => addingTotp({ userId, name, secret: sealed, step: 0 }, 10, now)))
    await db.batch(replacingRecoveryCodes(userId, hashes))
    known.recovery.push(codes[0] ?? '')
    const pending = { id: userId, username, rights: { role: 'operator', operates: 'all' } }
    known.signin.push(await createChallenge(services, { userId, purpose: 'sign_in', data: pending }))
    for (const name of ['c', 'd']) {
      const data = { name, secret: TOTP_SECRET }
      known.enrolment.push(await createChallenge(services, { userId, purpose: 'totp', data }))
    }
    known.factor.push(...(await listFactors(db, userId)).map(({ id }) => String(id)))
    if (!username.startsWith('admin'))
      await db.run(
        `INSERT INTO sessions (id, user_id, token_hash, expires_at, user_agent, ip, created_at, proven_at)
         VALUES (?, ?, ?, '2099-01-01T00:00:00.000Z', '', '', ?, ?)`,
        [NUMBERS + 1000 + userId, userId, `proven ${userId}`, now, now],
      )
  }
}

/** Stores API tokens of each user, fewer than a user may have. */
async function populateApiTokens(db: Database, known: Populated, ids: readonly number[], now: string): Promise<void> {
  for (let n = 0; n < 60; n += 1) {
    const user_id = ids[n % ids.length] ?? 0
    await db.run(
      `INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at) VALUES (?, 'a', ?, 'viewer', '"all"', ?)`,
      [user_id, String(n), now],
    )
    known.apitoken.push(String(n + 1))
  }
}

/** Stores plans of containers, and an ended run of one more. */
async function populatePlans(db: Database, known: Populated, now: string): Promise<void> {
  const expires_at = timestamp(new Date(Date.parse(now) + 3_600_000))
  const selection = JSON.stringify({ only: 'all', packages: null, exclude: [], allow_remove: false })
  for (let n = 0; n < 12; n += 1) {
    const id = n.toString(16).padStart(24, 'a')
    const plan = {
      id,
      target: `lxc:${101 + n}`,
      hash: '0'.repeat(64),
      made_at: now,
      made_by: 'admin-0',
      expires_at,
      selection,
    }
    await addPlan(db, {
      ...plan,
      actions: '[]',
      findings: '[]',
      conffiles: JSON.stringify([CONFFILE]),
      download_bytes: null,
      disk_bytes: null,
      job_id: null,
    })
    known.plan.push(id)
  }
  const run = 'b'.repeat(24)
  const own = { id: '1700000000-ccccccc0', kind: 'upgrade', args: '{"target":"lxc:101"}', queue: '', target: 'lxc:101' }
  const plan_id = known.plan.at(-1) ?? ''
  const job = { ...own, started_at: now, started_by: 1, plan_id }
  const [followed] = await addRun(db, { id: run, jobs: [{ job, more: [] }] }, { owner: 'nobody', leaseMs: 0 })
  const end = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
  if (followed) await endJob(db, followed, end, { now })
  known.run.push(run)
}

/** Its file is beside the database of each world. */
const PAGE = { id: 'paged', file: 'index.html' }

/** Stores a module that has a page, and a ticket for the files of the page. */
async function populatePage(db: Database, known: Populated, secrets: Secrets): Promise<void> {
  const { id, file } = PAGE
  const nothing = { nav_label: null, nav_icon: null, nav_href: null, repository: null, commit: null, tag: null }
  const record = { id, name: id, description: '', version: '1', backend: null, nav_order: 1, ...nothing }
  await db.batch([saveModule({ ...record, files: JSON.stringify([file]) }, timestamp(new Date()))])
  const stored = await findModule(db, id)
  known.pagemodule.push(id)
  if (stored) known.pageticket.push(pageTicket(secrets, stored, new Date()))
}

/** Stores a module with that id, and an ended deployment. */
async function populateModule(db: Database, id: string, deployment: string, now: string): Promise<void> {
  const record = { id, name: id, description: '', version: '1', backend: null, nav_label: null, nav_icon: null }
  const begun = {
    id: deployment,
    module: id,
    place: id,
    owner: '',
    before: undefined,
    files_before: false,
    started_at: now,
  }
  await db.batch([
    saveModule(
      { ...record, nav_href: null, nav_order: 1, repository: null, commit: null, tag: null, files: '[]' },
      now,
    ),
  ])
  await addDeployment(db, begun)
  await db.batch([endDeployment(deployment, 'done', 'Fini.', null, now)])
}
