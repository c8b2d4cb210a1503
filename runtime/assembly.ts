import { randomUUID } from 'node:crypto'
import type { Database } from '../db/client.ts'
import { writeAudit } from './audit.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Config } from './config.ts'
import type { Services } from './context.ts'
import { createHost } from './host.ts'
import { createHub } from './hub.ts'
import { type Instance, thisInstance } from './instance.ts'
import type { AnyJobKind } from './job-kind.ts'
import { createJobs } from './jobs.ts'
import type { Log } from './log.ts'
import { createLimiter } from './rate-limit.ts'
import { createRepeats } from './repeats.ts'
import type { Secrets } from './secrets.ts'
import { createSessions } from './session.ts'
import { createSettings } from './settings.ts'
import { VERSION } from './version.ts'

/** What is to be closed, in the order in which it was opened. */
export type Opened = (() => void | Promise<void>)[]

export interface Assembly {
  /** What a server and a function host have in common. */
  services: Pick<
    Services,
    'db' | 'host' | 'hub' | 'jobs' | 'settings' | 'sessions' | 'limiter' | 'config' | 'clock' | 'log' | 'boot'
  >
  instance: Instance
  /** Whether SSH settings were taken from the environment. */
  filled: boolean
}

/** Makes the services that do not depend on how they are served; what it opens is added to `opened`, also when it fails. */
export async function assemble(
  {
    config,
    db,
    secrets,
    clock,
    log,
    jobKinds,
    onDemand = false,
  }: {
    config: Config
    db: Database
    secrets: Secrets
    clock: Clock
    log: Log
    jobKinds: readonly AnyJobKind[]
    /** The process may stand still whenever no request is under way. */
    onDemand?: boolean
  },
  opened: Opened,
): Promise<Assembly> {
  const settings = createSettings({ db, secrets, clock, log })
  const filled = await settings.fill(config.ssh)
  const sessions = await createSessions({
    db,
    secrets,
    clock,
    log,
    jwtKey: config.jwtKey,
    refreshDays: config.refreshDays,
  })
  // Whoever asks for anything meets it again.
  const refusedKeys = createRepeats(clock, { allUpTo: 1, quietMs: 3_600_000 })
  const host = createHost({
    settings,
    log,
    onHostKeyChanged: ({ message }) => {
      const count = refusedKeys.tell(message)
      const note = { details: { error: message, ...(count && count > 1 && { count }) } }
      if (count)
        void writeAudit({ db, clock }, { user: undefined, address: 'host' }, 'host_key_changed', note).catch(noted)
    },
  })
  const noted = (error: unknown) => log.error({ err: error }, 'an audit entry could not be written')
  opened.push(() => host.close())
  settings.onChange((keys) => {
    if (keys.some((key) => key.startsWith('ssh_'))) host.renew()
  })
  const hub = createHub()
  const instance = await thisInstance()
  const mostOutput = config.jobOutputBytes
  const jobs = createJobs({ db, host, hub, clock, log, instance, kinds: jobKinds, mostOutput, onDemand })
  opened.push(() => jobs.stop())
  const limiter = createLimiter(db, clock)
  const boot = { id: randomUUID(), startedAt: timestamp(clock()), version: VERSION }
  const services = { db, host, hub, jobs, settings, sessions, limiter, config, clock, log, boot }
  return { services, instance, filled }
}
