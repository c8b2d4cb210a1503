import { inject } from 'vitest'
import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { addSigningKey } from '../db/signing-keys.ts'
import { saveUser } from '../db/users.ts'
import { createCheckChanges } from '../functions/checks/changes.ts'
import * as manifest from '../functions/index.ts'
import { createSetupToken } from '../functions/install/setup-token.ts'
import { AUDIT_ACTIONS, createSettings, ERRORS, type Services } from '../functions/services.ts'
import { askOwner } from '../functions/tokens/owner.ts'
import { createJobs } from '../jobs/manager.ts'
import { noDeployer } from '../modules/deploy/deployer.ts'
import { startModules } from '../modules/modules.ts'
import { createNotifier } from '../notifications/notifier.ts'
import { createDocuments } from '../openapi/openapi.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { createSecrets } from '../platform/secrets.ts'
import { type Bindings, createApp } from '../runtime/app.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { createHub } from '../platform/hub.ts'
import { speakFrench } from '../runtime/input.ts'
import { createLimiter } from '../runtime/rate-limit.ts'
import { createSessions } from '../sessions/sessions.ts'
import type { Output } from '../ssh/channel.ts'
import type { Command, Elevation, Rights } from '../ssh/command.ts'
import { SshError } from '../ssh/connection.ts'
import type { Host } from '../ssh/host.ts'
import type { Account } from '../ssh/identity.ts'
import { makeSchema } from './migrated.ts'
import { bearerOf } from './bearer.ts'

/** The start time of every test. */
export const START = new Date('2026-03-01T12:00:00.000Z')

const SSH = { host: 'pve.test', username: 'panel', password: 'service-password', hostKey: '' }

/** The answers of the host; a test overrides those it needs. Each called method is recorded. */
export interface FakeHost {
  /** The answer of the account's own connection; null when it runs no command. */
  signIn?(username: string, password: string): FakeAccount | undefined
  /** The answer to the service account; null without such an account. */
  inspect?(username: string): FakeAccount
  exec?(command: Command): Partial<Output> | Promise<Partial<Output>>
  elevation?: Elevation
}

/** By default the typed name, and an ordinary account. */
export type FakeAccount = (Partial<Account> & Pick<Account, 'uid' | 'groups'>) | null

export interface Ran {
  command: Command
  rights: Rights
}

export type As = 'user' | 'admin'

/** Wraps functions in their pipeline; an undeclared code fails, unless the test is lenient. */
export function mount(functions: readonly AnyFunction[], services: Services, { strict = true } = {}) {
  const { fetch } = createApp(functions, services, { added: services.modules.functions, strict })
  return {
    request: async (path: string, init?: RequestInit, bindings?: Bindings): Promise<Response> =>
      fetch(new Request(`http://localhost${path}`, init), bindings),
  }
}

/**
 * The real pipeline around some functions: libSQL in memory, a host that records its calls, a clock that moves only on
 * request.
 */
export async function testApp(
  functions: readonly AnyFunction[],
  {
    fake = {},
    ssh = {},
    env = {},
    dataDir = '/nonexistent',
    prepare = async () => {},
  }: {
    fake?: FakeHost
    ssh?: Partial<Config['ssh']>
    env?: Record<string, string>
    dataDir?: string
    /** The contents of the database before the start. */
    prepare?(db: Database): Promise<void>
  } = {},
) {
  speakFrench()
  let now = START.getTime()
  const clock = () => new Date(now)
  const config = readConfig({ PANEL_TRUSTED_PROXIES: '127.0.0.1', ...env })
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const db = await openDatabase(':memory:')
  await makeSchema(db, clock())
  const secrets = createSecrets(Buffer.alloc(32, 7))
  await prepare(db)
  const { kid, pem, public_jwk } = inject('signingKey')
  const private_sealed = secrets.seal(`signing_key:${kid}`, pem)
  await addSigningKey(db, { kid, public_jwk, private_sealed, origin: 'made', created_at: START.toISOString() })
  const settings = createSettings({ db, secrets, clock, log })
  await settings.fillSsh({ ...SSH, ...ssh })
  const sessions = await createSessions({
    db,
    secrets,
    clock,
    log,
    jwtKey: undefined,
    refreshDays: config.refreshDays,
    askHost: (userId) => askOwner(services, userId),
  })
  const ran: Ran[] = []
  const signIns: string[] = []
  const host = fakeHost(fake, ran, signIns)
  const hub = createHub()
  const instance = { id: 'test', isGone: async () => false, runs: async () => true }
  const jobs = createJobs({
    db,
    host,
    hub,
    clock,
    log,
    instance,
    kinds: manifest.jobKinds,
    settings,
    mostOutput: 64 * 1024 * 1024,
  })
  const boot = { id: 'boot-1', startedAt: START.toISOString(), version: '0.0.0-test' }
  const services: Services = {
    db,
    host,
    hub,
    jobs,
    checkChanges: createCheckChanges({ db, hub, log }),
    notifications: createNotifier({ db, secrets, clock, log, publicUrl: config.publicUrl, onDemand: true }),
    deployer: noDeployer(),
    modules: await startModules({
      db,
      folder: config.modulesDir,
      log,
      known: { errors: ERRORS, actions: AUDIT_ACTIONS },
    }),
    settings,
    setupToken: createSetupToken(dataDir),
    logLines: lines,
    metrics: undefined,
    documents: createDocuments({ ...manifest, errors: ERRORS }, boot.version),
    sessions,
    secrets,
    limiter: createLimiter(db, clock),
    config,
    clock,
    log,
    boot,
    errors: ERRORS,
  }
  const app = mount(functions, services)

  const tokenFor = async (as: As) => {
    const user = await saveUser(db, as === 'admin' ? 'alice' : 'bob', as === 'admin', START.toISOString())
    return sessions.accessToken(
      bearerOf({ id: user.id, username: user.username, isAdmin: as === 'admin', sid: '1' }, new Date(now)),
    )
  }

  return {
    app,
    services,
    db,
    secrets,
    /** The commands that ran on the host, in order. */
    ran,
    /** Usernames of the login checks, in order. */
    signIns,
    /** Returns the log's newest lines. */
    lines,
    advance(ms: number) {
      now += ms
    },
    tokenFor,
    /** Sends one request; `as` signs it, `from` is the client's address. An object as body is sent as JSON. */
    async request(
      method: string,
      path: string,
      {
        as,
        body,
        from,
        headers = {},
      }: { as?: As; body?: unknown; from?: string; headers?: Record<string, string> } = {},
    ): Promise<Response> {
      const all = {
        ...(as && { authorization: `Bearer ${await tokenFor(as)}` }),
        ...(from && { 'x-forwarded-for': from }),
        ...headers,
      }
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      return app.request(path, { method, headers: all, ...(text !== undefined && { body: text }) })
    },
  }
}

const ordinary = (username: string) => ({ uid: 1000, groups: [username] })

function fakeHost(fake: FakeHost, ran: Ran[], signIns: string[]): Host {
  const output = async (command: Command): Promise<Output> => {
    const own = fake.exec?.(command)
    return { code: 0, stdout: '', stderr: '', ...(own instanceof Promise ? await own : own) }
  }
  return {
    async signIn(username, password) {
      signIns.push(username)
      const claimed = fake.signIn ? fake.signIn(username, password) : ordinary(username)
      if (claimed === undefined) return undefined
      return { claim: { identity: claimed && { name: username, ...claimed }, runs: claimed !== null } }
    },
    answer: async () => 'gone',
    async inspect(username) {
      const seen = fake.inspect ? fake.inspect(username) : ordinary(username)
      if (seen === null) return 'gone'
      const usual = { name: username, shell: '/bin/bash', sudo: undefined, localPassword: true, overdue: undefined }
      return { ...usual, ...seen }
    },
    elevation: async () => fake.elevation ?? 'root',
    penalties: async () => undefined,
    renew() {},
    cut() {},
    connections: () => 0,
    async exec(command, { rights = 'none' } = {}) {
      ran.push({ command, rights })
      return output(command)
    },
    async stream(command, { rights = 'none' } = {}) {
      ran.push({ command, rights })
      const { code, stdout, stderr } = await output(command)
      return {
        read: async (take) => take(Buffer.from(stdout)),
        end: Promise.resolve({ code, stderr }),
        close() {},
      }
    },
    terminal: async () => {
      throw new SshError('refused', 'there are no terminals here')
    },
    close() {},
  }
}
