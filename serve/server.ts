/*
 * This room starts and stops the service for each entry point: server, function host and supervised worker. It promises
 * an ordered start and stop: after a failed start nothing stays open, and a stop ends within its time limit. It must
 * not know what an endpoint does: it composes rooms and passes declarations on.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { countJobs } from '../db/job-list.ts'
import { openStorage } from '../db/storage.ts'
import { areas, functions, jobKinds, sockets, tasks } from '../functions/index.ts'
import { createSetupToken, derivedSetupToken } from '../functions/install/setup-token.ts'
import { createMetrics } from '../functions/metrics/metrics.ts'
import { ERRORS, type Services } from '../functions/services.ts'
import { confirmDeployment, createDeployer, findContainer, noDeployer } from '../modules/modules.ts'
import { createDocuments } from '../openapi/openapi.ts'
import { readConfig, unknownVariables } from '../platform/config.ts'
import { filePath } from '../platform/files.ts'
import { createLog } from '../platform/log.ts'
import { VERSION } from '../platform/program.ts'
import { createApp } from '../runtime/app.ts'
import { speakFrench } from '../runtime/input.ts'
import { createSockets } from '../runtime/sockets.ts'
import { startTasks } from '../runtime/task.ts'
import { assemble, type Closers, type Manifest } from './assembly.ts'
import type { Handoff } from './handoff.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'
import { startWithModules } from './module-start.ts'

export interface RunningServer {
  /** The address it listens on, such as `http://127.0.0.1:8080`. */
  url: string
  /**
   * Ends it within 5 s: sockets are closed with 1001, requests under way get 2 s (20 s where a successor serves), jobs run
   * on at the host.
   */
  stop(): Promise<void>
}

/** What requests under way may still take when the service stops, and once a successor serves. */
const finishMs = (handoff: Handoff | undefined) => (handoff?.isFollowed() ? 20_000 : 2_000)
/** So long a changed module has to live before the service that has it takes the place of the one that runs. */
const TRIAL_MS = 3_000
/** After them: whatever has not let go by then (a locked database, say) is left to the end of the process. */
const RELEASE_MS = 2_500

/**
 * Starts the service as the environment says. Rejects with a ConfigError for a wrong variable, and with the system's
 * own error when the port or the database cannot be opened; nothing is left open then. With `handoff` it can be restarted
 * with a changed module, and rejects when it is the one that starts with it and cannot load it.
 */
export async function startServer(
  environment: Record<string, string | undefined>,
  manifest: Manifest = { functions, sockets, jobKinds, tasks, areas },
  handoff?: Handoff,
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
  const opened: Closers = [() => db.close()]
  try {
    const assembly = await assemble({ config, db, secrets, clock, log, jobKinds: manifest.jobKinds }, opened)
    const { instance, filled } = assembly
    const { host, hub, jobs, settings, boot } = assembly.services
    // Instances that share a server share its key: whichever is asked knows the token of any.
    const isShared = filePath(config.databaseUrl) === undefined
    const setupToken =
      isShared && config.secretKey ? derivedSetupToken(config.secretKey) : createSetupToken(config.dataDir)
    const { container, missing } = config.deployer === 'docker' ? await findContainer(config, log) : {}
    const about = { db, folder: config.modulesDir, hub, clock, log, supervisor: container }
    const deployments = { ...about, instance: container?.instance ?? instance }
    const { modules, trial } = await startWithModules(deployments, handoff)
    opened.push(() => modules.stop())
    const restart = container ? (id: string) => container.replace(id, boot.id) : handoff?.replace
    const deployer = restart ? createDeployer(deployments, restart, trial) : noDeployer(missing)
    const documents = createDocuments({ ...manifest, errors: ERRORS }, VERSION)
    const services: Services = { ...assembly.services, modules, deployer, setupToken, logLines, metrics, documents }

    const app = createApp(manifest.functions, services, { added: modules.functions })
    const ws = createSockets(manifest.sockets, services)
    opened.push(() => ws.stop())
    metrics?.look({ sockets: ws.size, sshConnections: host.connections, jobs: () => countJobs(untimed, jobs.kinds) })
    // What ends the process a moment after its start does so before anybody is served.
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
    // It says in the log which stored secret cannot be decrypted; people can sign in all the same.
    if (installed && (await settings.unreadable()).length === 0)
      await settings.sshAccount().catch((error: unknown) => log.warn({ err: error }, 'there is no service account yet'))
    const background = startTasks(manifest.tasks, services)
    const confirm = async () => {
      // Until then some requests are still answered by the former one.
      await handoff?.serve()
      await container?.ended()
      if (trial) await confirmDeployment(deployments, trial)
    }
    confirm().catch((error: unknown) => log.error({ err: error }, 'a deployment could not be confirmed'))
    log.info({ url, version: VERSION }, 'ready')
    // Who has mistyped the environment finds it in the log, and not by upgrades that fail.
    if (filled) host.renew()
    if (token !== undefined)
      announce.warn(
        `Pas encore installé. Adresse : ${config.servesPanel ? `${url}/setup#token=${token}` : url} — jeton d’installation : ${token} (ou, dans un terminal, la commande « setup »)`,
      )

    const stop = async () => {
      log.info('stopping')
      const closed = closeServer(server, handoff?.isFollowed() ?? false)
      handoff?.close()
      const cut = setTimeout(() => server.closeAllConnections(), finishMs(handoff))
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
