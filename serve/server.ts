/*
 * This room starts and stops the service for each entry point: server, function host and supervised worker. It promises
 * an ordered start and stop: after a failed start nothing stays open, and a stop ends within its time limit. It must
 * not know what an endpoint does: it composes rooms and passes declarations on. In another order, a failed start would
 * leave the database and the host's connections open, and a stop could wait for a hung request for ever.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { countJobs } from '../db/job-list.ts'
import { openStorage } from '../db/storage.ts'
import { areas, functions, jobKinds, sockets, tasks } from '../functions/index.ts'
import { createSetupToken, derivedSetupToken } from '../functions/install/setup-token.ts'
import { createMetrics } from '../functions/metrics/metrics.ts'
import { ERRORS, type Services } from '../functions/services.ts'
import { confirmDeployment, createDeployer, createGuard, findContainer } from '../modules/modules.ts'
import { createDocuments } from '../openapi/openapi.ts'
import { readConfig, unknownVariables } from '../platform/config.ts'
import { filePath } from '../platform/files.ts'
import { createLog, terminalFormat } from '../platform/log.ts'
import { ownPlace, VERSION } from '../platform/program.ts'
import { createApp } from '../runtime/app.ts'
import { speakFrench } from '../runtime/input.ts'
import { createSockets } from '../runtime/sockets.ts'
import { startTasks } from '../runtime/task.ts'
import type { Host } from '../ssh/ssh.ts'
import { assemble, type Closers, type Manifest } from './assembly.ts'
import type { Handoff } from './handoff.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'
import { startWithModules, takenOutEvent } from './module-start.ts'

export interface RunningServer {
  /** The address on which it listens, such as `http://127.0.0.1:8080`. */
  url: string
  /**
   * Stops the service within 5 s. Sockets are closed with 1001. Requests in progress get 2 s, or 20 s when a successor
   * serves. Jobs continue on the host.
   */
  stop(): Promise<void>
}

/** Time for requests in progress when the service stops: with a successor, or without. */
const finishMs = (handoff: Handoff | undefined) => (handoff?.isFollowed() ? 20_000 : 2_000)
/** A service with a changed module has to run this long before it takes the place of the running one. */
const TRIAL_MS = 3_000
/**
 * Time for everything else to be released after the requests. The rest (a locked database, for example) ends with the
 * process.
 */
const RELEASE_MS = 2_500

/**
 * Starts the service with the settings of the environment. Rejects with a ConfigError for an invalid variable, and with
 * the system's own error when the port or the database cannot be opened; nothing is left open then. With `handoff` the
 * service can restart with a changed module; a start that cannot load the changed module rejects. `standIn` replaces the
 * host of the settings.
 */
export async function startServer(
  environment: Record<string, string | undefined>,
  manifest: Manifest = { functions, sockets, jobKinds, tasks, areas },
  handoff?: Handoff,
  standIn?: Host,
): Promise<RunningServer> {
  speakFrench()
  const config = readConfig(environment)
  const write = (line: string) => void process.stdout.write(line)
  const format = process.stdout.isTTY === true ? await terminalFormat() : undefined
  const console = { level: config.logLevel, format, write }
  const { log, lines: logLines } = createLog(console)
  // A log for the console only, at any level but `silent`: administrators can read the lines of `log` in the panel.
  const { log: announce } = createLog({ ...console, level: config.logLevel === 'silent' ? 'silent' : 'warn' })
  for (const name of unknownVariables(environment)) log.warn({ name }, 'unknown variable, ignored')

  const clock = () => new Date()
  const metrics = config.metrics ? await createMetrics() : undefined
  const { db: untimed, secrets } = await openStorage(config, clock)
  const db = metrics?.timed(untimed) ?? untimed
  const opened: Closers = [() => db.close()]
  try {
    const assembly = await assemble({ config, db, secrets, clock, log, jobKinds: manifest.jobKinds, standIn }, opened)
    const { instance, filled } = assembly
    const { host, hub, jobs, settings, boot } = assembly.services
    // Instances that share a database server share the key, so each of them accepts the same setup token.
    const isShared = filePath(config.databaseUrl) === undefined
    const setupToken =
      isShared && config.secretKey ? derivedSetupToken(config.secretKey) : createSetupToken(config.dataDir)
    const { container, missing } = config.deployer === 'docker' ? await findContainer(config, log) : {}
    const about = { db, folder: config.modulesDir, hub, clock, log, supervisor: container }
    const deployments = { ...about, instance: container?.instance ?? instance }
    const guard = createGuard({
      ...about,
      dataDir: config.dataDir,
      machine: (await ownPlace())?.boot ?? '',
      isCounted: handoff !== undefined,
      isRestarted: handoff !== undefined || container !== undefined,
      tell: takenOutEvent,
    })
    opened.push(() => guard.stop())
    const { modules, trial } = await startWithModules(deployments, guard, handoff)
    opened.push(() => modules.stop())
    const restart = container ? (id: string) => container.replace(id, boot.id) : handoff?.replace
    const deployer = createDeployer(deployments, restart ?? { how: missing }, trial)
    const documents = createDocuments({ ...manifest, errors: ERRORS }, VERSION)
    const services: Services = { ...assembly.services, modules, deployer, setupToken, logLines, metrics, documents }

    const app = createApp(manifest.functions, services, { added: modules.functions })
    const ws = createSockets(manifest.sockets, services)
    opened.push(() => ws.stop())
    metrics?.look({ sockets: ws.size, sshConnections: host.connections, jobs: () => countJobs(untimed, jobs.kinds) })
    // A module that ends the process soon after the start does so before any request arrives.
    if (trial) await pause(TRIAL_MS)
    const server = await createHttpServer(
      { app, sockets: ws, log, clock, isTrustedProxy: config.isTrustedProxy },
      config.tls,
    )
    opened.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = await listen(server, config.host, config.port)
    const url = `${config.tls ? 'https' : 'http'}://${address}`
    await jobs.maintain()
    const installed = await settings.hasSshHost()
    const token = installed ? undefined : await setupToken.make()
    if (installed) await setupToken.remove()
    // `unreadable` logs the stored secrets that cannot be decrypted; people can sign in all the same.
    if (installed && (await settings.unreadable()).length === 0)
      await settings.sshAccount().catch((error: unknown) => log.warn({ err: error }, 'there is no service account yet'))
    const background = startTasks([...manifest.tasks, ...modules.tasks], services)
    const confirm = async () => {
      // Until then, the previous service still answers some requests.
      await handoff?.serve()
      await container?.ended()
      guard.confirm()
      if (trial) await confirmDeployment(deployments, trial)
    }
    confirm().catch((error: unknown) => log.error({ err: error }, 'a deployment could not be confirmed'))
    log.info({ url, version: VERSION }, 'ready')
    // This logs a mistyped environment at the start, before upgrades fail because of it.
    if (filled) host.renew()
    if (token !== undefined)
      announce.warn(
        `Pas encore installé. Adresse : ${config.servesPanel ? `${url}/setup#token=${token}` : url} — jeton d’installation : ${token} (ou, dans un terminal, la commande « setup »)`,
      )

    const stop = async () => {
      log.info('stopping')
      guard.stop()
      const closed = closeServer(server, handoff?.isFollowed() ?? false)
      handoff?.close()
      const cut = setTimeout(() => server.closeAllConnections(), finishMs(handoff))
      modules.endTasks()
      const released = Promise.all([jobs.stop(), background.stop(), deployer.stop()])
      // A failure is reported below, once the rest is closed.
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
      const deadline = pause(finishMs(handoff) + RELEASE_MS, 'late', { signal: late.signal }).catch(() => undefined)
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
