import { randomUUID } from 'node:crypto'
import type { Database } from '../db/libsql/database.ts'
import { createCheckChanges } from '../functions/checks/changes.ts'
import { createSettings, ERRORS, type Services, type Settings } from '../functions/services.ts'
import { type AnyJobKind, createJobs } from '../jobs/jobs.ts'
import { hostName } from '../functions/notifications/host-name.ts'
import { askOwner } from '../functions/tokens/owner.ts'
import { createNotifier } from '../notifications/notifications.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import { type Instance, thisInstance, VERSION } from '../platform/program.ts'
import { createRepeatCounter } from '../platform/recent-cache.ts'
import type { Secrets } from '../platform/secrets.ts'
import { writeAudit } from '../runtime/audit.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { createHub } from '../platform/hub.ts'
import { createLimiter } from '../runtime/rate-limit.ts'
import type { AnySocket } from '../runtime/socket.ts'
import type { Task } from '../runtime/task.ts'
import { createSessions } from '../sessions/sessions.ts'
import { createHost, type Host, SSH_SETTINGS } from '../ssh/ssh.ts'

/** Functions that close what was opened, in the order of opening. */
export type Closers = (() => void | Promise<void>)[]

export interface Assembly {
  /** The services that a server and a function host share. */
  services: Pick<
    Services,
    | 'db'
    | 'host'
    | 'hub'
    | 'jobs'
    | 'checkChanges'
    | 'notifications'
    | 'settings'
    | 'sessions'
    | 'secrets'
    | 'limiter'
    | 'config'
    | 'clock'
    | 'log'
    | 'boot'
    | 'errors'
  >
  instance: Instance
  /** Whether SSH settings were taken from the environment. */
  filled: boolean
}

/**
 * Creates the services that are the same for every entry point. Adds a closer to `opened` for everything that it opens,
 * also when it fails later.
 */
export async function assemble(
  {
    config,
    db,
    secrets,
    clock,
    log,
    jobKinds,
    onDemand = false,
    standIn,
  }: {
    config: Config
    db: Database
    secrets: Secrets
    clock: Clock
    log: Log
    jobKinds: readonly AnyJobKind<Settings>[]
    /** The process may be frozen whenever no request is in progress. */
    onDemand?: boolean
    /** Replaces the host of the settings. */
    standIn?: Host | undefined
  },
  opened: Closers,
): Promise<Assembly> {
  const settings = createSettings({ db, secrets, clock, log })
  const filled = await settings.fillSsh(config.ssh)
  const sessions = await createSessions({
    db,
    secrets,
    clock,
    log,
    jwtKey: config.jwtKey,
    refreshDays: config.refreshDays,
    askHost: (userId) => askOwner(services, userId),
  })
  // Every request repeats this error, so it is logged once an hour.
  const refusedKeys = createRepeatCounter(clock, { allUpTo: 1, quietMs: 3_600_000 })
  const host =
    standIn ??
    createHost({
      settings,
      log,
      // A frozen process keeps no connection open between two requests.
      asksPeople: !onDemand,
      onHostKeyChanged: ({ message }) => {
        const count = refusedKeys.count(message)
        const note = { details: { error: message, ...(count && count > 1 && { count }) } }
        if (count)
          void writeAudit({ db, clock }, { user: undefined, address: 'host' }, 'host_key_changed', note).catch(noted)
      },
    })
  const noted = (error: unknown) => log.error({ err: error }, 'an audit entry could not be written')
  opened.push(() => host.close())
  settings.onChange((keys) => {
    if (keys.some((key) => Object.hasOwn(SSH_SETTINGS.fields, key))) host.renew()
  })
  const hub = createHub()
  const instance = await thisInstance()
  const mostOutput = config.jobOutputBytes
  const jobs = createJobs({ db, host, hub, clock, log, instance, kinds: jobKinds, settings, mostOutput, onDemand })
  opened.push(() => jobs.stop())
  const checkChanges = createCheckChanges({ db, hub, log })
  opened.push(() => checkChanges.stop())
  const { publicUrl } = config
  const named = () => hostName(settings)
  const notifications = createNotifier({ db, secrets, clock, log, publicUrl, hostName: named, onDemand })
  opened.push(() => notifications.stop())
  const limiter = createLimiter(db, clock)
  const boot = { id: randomUUID(), startedAt: timestamp(clock()), version: VERSION }
  const services = {
    db,
    host,
    hub,
    jobs,
    checkChanges,
    notifications,
    settings,
    sessions,
    secrets,
    limiter,
    config,
    clock,
    log,
    boot,
    errors: ERRORS,
  }
  return { services, instance, filled }
}

/** The declarations that an entry point serves: the service's own, unless a test or benchmark passes others. */
export interface Manifest {
  functions: readonly AnyFunction[]
  sockets: readonly AnySocket[]
  jobKinds: readonly AnyJobKind<Settings>[]
  tasks: readonly Task<Services>[]
  /** The purpose of each group of functions, for the documents. */
  areas?: Readonly<Record<string, string>>
}
