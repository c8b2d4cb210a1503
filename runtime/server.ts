import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { countJobs } from '../db/jobs.ts'
import { functions, jobKinds, sockets, tasks } from '../functions/index.ts'
import { createApp } from './app.ts'
import { writeAudit } from './audit.ts'
import { timestamp } from './clock.ts'
import { readConfig, unknownVariables } from './config.ts'
import type { Services } from './context.ts'
import { createDeployer, noDeployer } from './deployer.ts'
import { confirmDeployment } from './deployment.ts'
import { findContainer } from './docker-restart.ts'
import { speakFrench } from './french.ts'
import type { AnyFunction } from './function.ts'
import { createHost } from './host.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'
import { createHub } from './hub.ts'
import { thisInstance } from './instance.ts'
import type { AnyJobKind } from './job-kind.ts'
import { createJobs } from './jobs.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { startWithModules } from './module-start.ts'
import { createLimiter } from './rate-limit.ts'
import { createRepeats } from './repeats.ts'
import { createSessions } from './session.ts'
import { createSettings } from './settings.ts'
import { createSetupToken } from './setup-token.ts'
import type { AnySocket } from './socket.ts'
import { openStorage } from './storage.ts'
import type { Succession } from './succession.ts'
import { startTasks, type Task } from './task.ts'
import { createSockets } from './upgrade.ts'
import { VERSION } from './version.ts'

/** What a server serves; the service's own unless something else is to be measured or tried. */
export interface Manifest {
  functions: readonly AnyFunction[]
  sockets: readonly AnySocket[]
  jobKinds: readonly AnyJobKind[]
  tasks: readonly Task[]
}

export interface RunningServer {
  /** Where it listens, as `http://127.0.0.1:8080`. */
  url: string
  /**
   * Ends it within 5 s: sockets are closed with 1001, requests under way get 2 s (20 s where a successor serves), jobs run
   * on at the host.
   */
  stop(): Promise<void>
}

/** What requests under way may still take when the service stops, and once a successor serves. */
const finishMs = (succession: Succession | undefined) => (succession?.isFollowed() ? 20_000 : 2_000)
/** So long a changed module has to live before the service that has it takes the place of the one that runs. */
const TRIAL_MS = 3_000
/** After them: whatever has not let go by then (a locked database, say) is left to the end of the process. */
const RELEASE_MS = 2_500

/**
 * Starts the service as the environment says. Rejects with a ConfigError for a wrong variable, and with the system's
 * own error when the port or the database cannot be opened; nothing is left open then. With `succession` it can be restarted
 * with a changed module, and rejects when it is the one that starts with it and cannot load it.
 */
export async function startServer(
  environment: Record<string, string | undefined>,
  manifest: Manifest = { functions, sockets, jobKinds, tasks },
  succession?: Succession,
): Promise<RunningServer> {
  speakFrench()
  const config = readConfig(environment)
  const write = (line: string) => void process.stdout.write(line)
  const console = { level: config.logLevel, pretty: process.stdout.isTTY === true, write }
  const { log, lines: logLines } = createLog(console)
  // What is for the console alone, whatever the level: the lines of the other one can be read in the panel.
  const { log: announce } = createLog({ ...console, level: config.logLevel === 'silent' ? 'silent' : 'warn' })
  for (const name of unknownVariables(environment)) log.warn({ name }, 'unknown variable, ignored')

  const clock = () => new Date()
  const metrics = config.metrics ? await createMetrics() : undefined
  const { db: untimed, secrets } = await openStorage(config, clock)
  const db = metrics?.timed(untimed) ?? untimed
  const opened: (() => void | Promise<void>)[] = [() => db.close()]
  try {
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
    const setupToken = createSetupToken(config.dataDir)
    const hub = createHub()
    const instance = await thisInstance()
    const jobs = createJobs({
      db,
      host,
      hub,
      clock,
      log,
      instance,
      kinds: manifest.jobKinds,
    })
    opened.push(() => jobs.stop())
    const limiter = createLimiter(db, clock)
    const { containers, missing } = config.deployer === 'docker' ? await findContainer(config, log) : {}
    const about = { db, folder: config.modulesDir, hub, clock, log, judge: containers }
    const deployments = { ...about, instance: containers?.instance ?? instance }
    const { modules, trial } = await startWithModules(deployments, succession)
    opened.push(() => modules.stop())
    const boot = { id: randomUUID(), startedAt: timestamp(clock()), version: VERSION }
    const restart = containers ? (id: string) => containers.replace(id, boot.id) : succession?.replace
    const deployer = restart ? createDeployer(deployments, restart, trial) : noDeployer(missing)
    const services: Services = {
      db,
      host,
      hub,
      jobs,
      modules,
      deployer,
      settings,
      setupToken,
      sessions,
      limiter,
      config,
      clock,
      log,
      logLines,
      metrics,
      boot,
    }

    const app = createApp(manifest.functions, services)
    const ws = createSockets(manifest.sockets, services)
    opened.push(() => ws.stop())
    metrics?.look({ sockets: ws.size, sshConnections: host.connections, jobs: () => countJobs(untimed, jobs.kinds) })
    // What ends the process a moment after its start does so before anybody is served.
    if (trial) await pause(TRIAL_MS)
    const server = await createHttpServer({ app, sockets: ws, log, clock }, config.tls)
    opened.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = await listen(server, config.host, config.port)
    const url = `${config.tls ? 'https' : 'http'}://${address}`
    await jobs.tend()
    const installed = await settings.hasSshHost()
    const token = installed ? undefined : await setupToken.make()
    if (installed) await setupToken.remove()
    // It says in the log which stored secret cannot be decrypted; people can sign in all the same.
    if (installed && (await settings.unreadable()).length === 0)
      await settings.sshAccount().catch((error: unknown) => log.warn({ err: error }, 'there is no service account yet'))
    const background = startTasks(manifest.tasks, services)
    const confirm = async () => {
      // Until then some requests are still answered by the former one.
      await succession?.serve()
      await containers?.settled()
      if (trial) await confirmDeployment(deployments, trial)
    }
    confirm().catch((error: unknown) => log.error({ err: error }, 'a deployment could not be confirmed'))
    log.info({ url, version: VERSION }, 'ready')
    // Who has mistyped the environment finds it in the log, and not by upgrades that fail.
    if (filled) host.renew()
    if (token !== undefined)
      announce.warn(
        `Pas encore installé. Adresse : ${url} — jeton d’installation : ${token} (ou tapez « ops-panel setup »)`,
      )

    const stop = async () => {
      log.info('stopping')
      const closed = closeServer(server, succession?.isFollowed() ?? false)
      succession?.close()
      const cut = setTimeout(() => server.closeAllConnections(), finishMs(succession))
      const released = Promise.all([jobs.stop(), background.stop(), deployer.stop()])
      // A failure is told once the rest is closed.
      released.catch(() => {})
      await ws.stop()
      await closed
      clearTimeout(cut)
      host.close()
      await released
      await db.close()
      modules.stop()
      log.info('stopped')
    }
    const stopInTime = async () => {
      const late = new AbortController()
      const deadline = pause(finishMs(succession) + RELEASE_MS, 'late', { signal: late.signal }).catch(() => undefined)
      if ((await Promise.race([stop(), deadline])) === 'late') log.error('stopped before everything was released')
      late.abort()
    }
    let stopped: Promise<void> | undefined
    return { url, stop: () => (stopped ??= stopInTime()) }
  } catch (error) {
    for (const close of opened.reverse()) await close()
    throw error
  }
}
