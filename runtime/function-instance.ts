import { setImmediate as turn } from 'node:timers/promises'
import { openDatabase } from '../db/client.ts'
import { countJobs } from '../db/jobs.ts'
import { migrate, schemaVersion } from '../db/migrate.ts'
import { type App, createApp } from './app.ts'
import { assemble, type Opened } from './assembly.ts'
import type { ModuleProblem } from './backend-modules.ts'
import type { Clock } from './clock.ts'
import type { Services } from './context.ts'
import { noDeployer } from './deployer.ts'
import { derivedSetupToken } from './derived-setup-token.ts'
import { createDocuments } from './documents.ts'
import type { Log, LogSink } from './log.ts'
import type { Manifest } from './manifest.ts'
import { createMetrics } from './metrics.ts'
import { startModules } from './modules.ts'
import { createPulse } from './pulse.ts'
import type { RemoteConfig } from './remote-config.ts'
import { createSecrets } from './secrets.ts'
import { runTasks } from './task.ts'
import { VERSION } from './version.ts'

/** What answers requests between standstills. */
export interface FunctionInstance {
  /** The instance is at work until `request` has settled. */
  during<result>(request: (app: App) => Promise<result>): Promise<result>
  /** Runs every task once, and brings the jobs up to date. */
  housekeeping(): Promise<void>
  /** Lets go of everything, jobs included. */
  stop(): Promise<void>
}

/** How often a request that takes long keeps the jobs; their leases last five times as long. */
const TEND_MS = 2_000

const NO_CODE: ModuleProblem = {
  problem: 'load_failed',
  detail: 'Un hébergement de fonctions ne charge pas le code des modules.',
}

/** Opens the database and makes the services; rejects with what failed, and nothing is left open then. */
export async function startFunctionInstance(
  config: RemoteConfig,
  { log, lines, announce }: LogSink & { announce: Log },
  manifest: Manifest,
  clock: Clock,
): Promise<FunctionInstance> {
  const metrics = config.metrics ? await createMetrics() : undefined
  const untimed = await openDatabase(config.databaseUrl, config.databaseToken)
  const db = metrics?.timed(untimed) ?? untimed
  const opened: Opened = [() => db.close()]
  const stop = async () => {
    for (const close of opened.reverse()) await close()
  }
  try {
    await migrate(db, clock())
    const secrets = createSecrets(config.secretKey)
    const parts = { config, db, secrets, clock, log, jobKinds: manifest.jobKinds, onDemand: true }
    const shared = (await assemble(parts, opened)).services
    const { host, jobs, settings } = shared
    const modules = await startModules({ db, folder: config.modulesDir, log, without: NO_CODE })
    opened.push(() => modules.stop())
    const setupToken = derivedSetupToken(config.secretKey)
    const deployer = noDeployer('installez-le par un service démarré sur une machine, avec la même base.')
    const documents = createDocuments(manifest, VERSION)
    const services: Services = { ...shared, modules, deployer, setupToken, logLines: lines, metrics, documents }
    metrics?.look({
      sockets: () => 0,
      sshConnections: host.connections,
      jobs: () => countJobs(untimed, jobs.kinds),
    })
    const app = createApp(manifest.functions, services)
    const failed = (error: unknown) => log.error({ err: error }, 'jobs could not be looked after')

    const pulse = createPulse(clock, async () => {
      log.debug('awake again')
      host.cut()
      try {
        // What the database's server has closed meanwhile is noticed first: by this turn, or by a question that changes nothing.
        await turn()
        await db.reconnect()
        await schemaVersion(db)
        await jobs.tend()
      } catch (error) {
        failed(error)
      }
    })
    opened.push(() => pulse.stop())
    let underWay = 0
    const tending = setInterval(() => {
      if (underWay > 0) void jobs.tend().catch(failed)
    }, TEND_MS)
    tending.unref()
    opened.push(() => clearInterval(tending))

    if (!(await settings.hasSshHost()))
      announce.warn(`Pas encore installé. Jeton d’installation : ${await setupToken.make()}`)
    log.info({ version: VERSION }, 'ready')
    const during: FunctionInstance['during'] = async (request) => {
      underWay += 1
      try {
        await pulse.feel()
        return await request(app)
      } finally {
        underWay -= 1
        void pulse.feel()
      }
    }
    return {
      during,
      housekeeping: () =>
        during(async () => {
          await runTasks(manifest.tasks, services)
          await jobs.upToDate()
        }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
