import { setImmediate as turn } from 'node:timers/promises'
import { countJobs } from '../db/job-list.ts'
import { openDatabase } from '../db/libsql/client.ts'
import { migrate, schemaVersion } from '../db/migrate.ts'
import { derivedSetupToken } from '../functions/install/setup-token.ts'
import { createMetrics } from '../functions/metrics/metrics.ts'
import { AUDIT_ACTIONS, ERRORS, type Services } from '../functions/services.ts'
import { type ModuleProblem, noDeployer, startModules } from '../modules/modules.ts'
import { createDocuments } from '../openapi/openapi.ts'
import type { Clock } from '../platform/clock.ts'
import { type Config, ConfigError, readConfig } from '../platform/config.ts'
import type { Log, LogSink } from '../platform/log.ts'
import { VERSION } from '../platform/program.ts'
import { createSecrets } from '../platform/secrets.ts'
import { type App, createApp } from '../runtime/app.ts'
import { runTasks } from '../runtime/task.ts'
import { assemble, type Closers, type Manifest } from './assembly.ts'
import { createFreezeDetector } from './freeze-detector.ts'

/** The service of one instance of a function host, which may be frozen between requests. */
export interface FunctionInstance {
  /** Runs `request`, and keeps the jobs going until it has settled. */
  during<result>(request: (app: App) => Promise<result>): Promise<result>
  /** Runs every task once, and brings the jobs up to date. */
  housekeeping(): Promise<void>
  /** Releases everything, jobs included. */
  stop(): Promise<void>
}

/** Interval of the lease renewals during a long request; a lease lasts five times as long. */
const TEND_MS = 2_000

const NO_CODE: ModuleProblem = {
  problem: 'load_failed',
  detail: 'Un hébergement de fonctions ne charge pas le code des modules.',
}

/** Opens the database and creates the services. Rejects with the error of either, and then leaves nothing open. */
export async function startFunctionInstance(
  config: RemoteConfig,
  { log, lines, announce }: LogSink & { announce: Log },
  manifest: Manifest,
  clock: Clock,
): Promise<FunctionInstance> {
  const metrics = config.metrics ? await createMetrics() : undefined
  const untimed = await openDatabase(config.databaseUrl, config.databaseToken)
  const db = metrics?.timed(untimed) ?? untimed
  const opened: Closers = [() => db.close()]
  const stop = async () => {
    for (const close of opened.reverse()) await close()
  }
  try {
    await migrate(db, clock())
    const secrets = createSecrets(config.secretKey)
    const parts = { config, db, secrets, clock, log, jobKinds: manifest.jobKinds, onDemand: true }
    const shared = (await assemble(parts, opened)).services
    const { host, jobs, settings } = shared
    const modules = await startModules({
      db,
      folder: config.modulesDir,
      log,
      without: NO_CODE,
      known: { errors: ERRORS, actions: AUDIT_ACTIONS },
    })
    opened.push(() => modules.stop())
    const setupToken = derivedSetupToken(config.secretKey)
    const deployer = noDeployer('installez-le par un service démarré sur une machine, avec la même base.')
    const documents = createDocuments({ ...manifest, errors: ERRORS }, VERSION)
    const services: Services = { ...shared, modules, deployer, setupToken, logLines: lines, metrics, documents }
    metrics?.look({
      sockets: () => 0,
      sshConnections: host.connections,
      jobs: () => countJobs(untimed, jobs.kinds),
    })
    const app = createApp(manifest.functions, services, { added: modules.functions })
    const failed = (error: unknown) => log.error({ err: error }, 'the jobs could not be maintained')

    const freezes = createFreezeDetector(clock, async () => {
      log.debug('resumed after a freeze')
      host.cut()
      try {
        // A connection that the database server has closed shows in this turn, or in a query that changes nothing.
        await turn()
        await db.reconnect()
        await schemaVersion(db)
        await jobs.maintain()
      } catch (error) {
        failed(error)
      }
    })
    opened.push(() => freezes.stop())
    let underWay = 0
    const tending = setInterval(() => {
      if (underWay > 0) void jobs.maintain().catch(failed)
    }, TEND_MS)
    tending.unref()
    opened.push(() => clearInterval(tending))

    if (!(await settings.hasSshHost()))
      announce.warn(`Pas encore installé. Jeton d’installation : ${await setupToken.make()}`)
    log.info({ version: VERSION }, 'ready')
    const during: FunctionInstance['during'] = async (request) => {
      underWay += 1
      try {
        await freezes.check()
        return await request(app)
      } finally {
        underWay -= 1
        void freezes.check()
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

/**
 * The output in one answer, so that it fits through an application load balancer, which passes on 1 MB: a control
 * character takes six bytes in JSON, and one more in JSON inside an event.
 */
const OUTPUT_BYTES = 128 * 1024

/** A configuration that needs no disk: the database is remote and the key is given. */
export type RemoteConfig = Config & { secretKey: Buffer }

/** Reads `PANEL_*` for a function host. Throws a ConfigError that names each invalid or missing variable. */
export function readRemoteConfig(environment: Record<string, string | undefined>): RemoteConfig {
  const config = readConfig(environment)
  const { databaseUrl, secretKey } = config
  const missing = [
    ...(databaseUrl.startsWith('file:')
      ? ['  PANEL_DATABASE_URL : attendu l’adresse d’un serveur libSQL (libsql:, https:, http:, wss: ou ws:)']
      : []),
    ...(secretKey ? [] : ['  PANEL_SECRET_KEY : attendu 32 octets en base64 (openssl rand -base64 32)']),
  ]
  if (!secretKey || missing.length > 0)
    throw new ConfigError(`Sur un hébergement de fonctions, rien n’est écrit sur le disque :\n${missing.join('\n')}`)
  return { ...config, secretKey, outputBytes: OUTPUT_BYTES }
}
