/*
 * Deploys changes of modules that need a restart, one at a time. It restarts the service, and rolls back a module that
 * does not start.
 */

import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import {
  addDeployment,
  type Deployment,
  enterStep,
  findDeployment,
  openDeployment,
  type Step,
} from '../../db/deployments.ts'
import type { Statement } from '../../db/libsql/database.ts'
import type { ModuleRow } from '../../db/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { retry } from '../../platform/retry.ts'
import { moduleFailure } from '../codes.ts'
import { ensurePlace, moduleFiles } from '../folder.ts'
import { confirmDeployment, type DeploymentServices, publishDeployment, rollBack } from './deployment.ts'

/** A change of a module that needs a restart of the service, or new files. */
export interface Change {
  module: string
  /** The module's record before the change. */
  before: ModuleRow | undefined
  /** The new files, by name, and the commit that they come from. If absent, the files stay unchanged. */
  files?: { all: ReadonlyMap<string, Buffer>; commit: string | null }
  /** The statements that change the module's record. */
  record: readonly Statement[]
  /** The audit entry of the beginning, written in one transaction with the record of the deployment. */
  announce?: Statement
  /** Whether the service has to restart; true by default. */
  restart?: boolean
}

/** Deploys changes by a restart, one at a time, and rolls back a change that does not start. */
export interface Deployer {
  /**
   * Begins a deployment, which continues by itself, and returns its id. Throws a Failure `deployment_busy` while
   * another deployment is in progress, or after `stop`, and `deployer_missing` for a restart that is not possible.
   */
  begin(change: Change): Promise<string>
  /** Settles when the current deployment has ended. */
  idle(): Promise<void>
  /** Refuses new deployments and rolls back one that has not reached its restart. Settles when that is done. */
  stop(): Promise<void>
}

/** Delays before the rollback is tried again: the disk or the database may be busy for a moment. */
const RETRY_MS = [500, 2_000, 10_000]

/** A service that cannot restart itself. `how` says in French what to do instead. */
export interface NoRestart {
  how?: string | undefined
}

/**
 * `restart` starts a new service; it resolves when that one serves, rejects when it does not, and never settles when it
 * ends this service first. `trial` is the deployment that this start tries; it is in progress until it is confirmed.
 */
export function createDeployer(
  services: DeploymentServices,
  restart: ((deployment: string) => Promise<void>) | NoRestart,
  trial?: Pick<Deployment, 'id'>,
): Deployer {
  const { db, folder, instance, clock, log } = services
  let running: Promise<void> = Promise.resolve()
  let current: string | undefined
  const stopping = new AbortController()

  const run = async (
    id: string,
    { module, before, files, record }: Change,
    restartNow: ((deployment: string) => Promise<void>) | undefined,
  ): Promise<void> => {
    const onDisk = moduleFiles(folder, module)
    const reached: { step: Step } = { step: 'building' }
    const enter = async (next: Step, line: string, more: readonly Statement[] = []) => {
      await db.batch([...more, enterStep(id, next, line)])
      reached.step = next
      await publishDeployment(services, id)
    }
    try {
      await onDisk.cleanUp()
      if (files) {
        await enter('building', 'Les fichiers du module sont préparés.')
        await onDisk.stage(files.all, files.commit)
      }
      stopping.signal.throwIfAborted()
      await enter('replacing', 'Le module est mis en place.')
      if (files) await onDisk.replace()
      stopping.signal.throwIfAborted()
      if (!restartNow) {
        const line = before?.is_enabled === 0 ? 'Le module est en place ; il est désactivé.' : 'Le module est en place.'
        return await confirmDeployment(services, { id, module }, line, record)
      }
      await enter('restarting', 'Le service redémarre avec le module.', record)
      await restartNow(id)
    } catch (error) {
      const reason = reasonOf(error)
      log.error({ deployment: id, module, err: error }, 'deployment failed')
      const end = reached.step === 'restarting' ? 'rolled_back' : 'failed'
      const undo = async () => {
        const deployment = await findDeployment(db, id)
        if (deployment) await rollBack(services, deployment, end, reason)
      }
      await retry(undo, (_, failures) => RETRY_MS[failures])
    }
  }

  return {
    async begin(change) {
      if (stopping.signal.aborted) throw moduleFailure('deployment_busy')
      const restartNow = change.restart === false ? undefined : asRestart(restart)
      const id = randomUUID()
      const place = await ensurePlace(folder).catch((cause: unknown) => {
        if (!isSystemError(cause)) throw cause
        const values = { message: cause instanceof Error ? cause.message : '' }
        throw moduleFailure('modules_folder_unusable', { values, cause })
      })
      const add = async () =>
        addDeployment(
          db,
          {
            id,
            module: change.module,
            place,
            owner: instance.id,
            before: change.before,
            files_before: await moduleFiles(folder, change.module).areInPlace(),
            started_at: timestamp(clock()),
          },
          change.announce,
        )
      if (!(await add())) {
        // Nobody continues a deployment whose service is gone, or whose rollback failed earlier.
        const open = await openDeployment(db, place)
        const mine = open?.owner === instance.id
        if (!open || open.id === trial?.id || (mine ? open.id === current : await instance.runs(open.owner)))
          throw moduleFailure('deployment_busy')
        await rollBack(services, open, 'failed', 'personne ne s’occupait plus de cette installation')
        if (!(await add())) throw moduleFailure('deployment_busy')
      }
      current = id
      running = run(id, change, restartNow)
        // The next deployment or the next start rolls it back.
        .catch((error: unknown) => log.error({ deployment: id, err: error }, 'deployment stuck'))
        .finally(() => {
          current = undefined
        })
      return id
    },
    idle: () => running,
    async stop() {
      stopping.abort(new Error('le service s’arrête'))
      const open = current === undefined ? undefined : await findDeployment(db, current)
      // The service that starts decides about a restart in progress.
      if (open && open.state !== 'restarting') await running
    },
  }
}

/** Returns the restart; throws a Failure that says what to do where there is none. */
function asRestart(
  restart: ((deployment: string) => Promise<void>) | NoRestart,
): (deployment: string) => Promise<void> {
  if (typeof restart === 'function') return restart
  throw moduleFailure('deployer_missing', { values: { how: restart.how ?? BY_HAND } })
}

/** Returns a deployer for a service that has no folder of modules: `begin` throws a Failure that says `how` to do it. */
export function noDeployer(how = BY_HAND): Deployer {
  return {
    async begin() {
      throw moduleFailure('deployer_missing', { values: { how } })
    },
    idle: async () => {},
    async stop() {},
  }
}

const BY_HAND =
  'démarrez-le avec PANEL_DEPLOYER=process (ou docker), ou passez par « ops-panel modules » et redémarrez-le.'

/** Returns the reason of a failed deployment: in French if it comes from this service or from the disk. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return isSystemError(error) ? `le dossier des modules ne peut pas être utilisé (${message})` : message
}

const isSystemError = (error: unknown) => error instanceof Error && 'syscall' in error

/** Docker creates this file in each container. */
const IN_CONTAINER = '/.dockerenv'

/**
 * Returns how the service restarts: as configured; without a setting, `docker` in a container that sees its engine's
 * socket, `process` in a process that systemd has started itself, and `none` elsewhere, so that a service started by
 * hand is one process.
 */
export async function detectDeployer(
  { deployer, dockerSocket }: Pick<Config, 'deployer' | 'dockerSocket'>,
  environment: Record<string, string | undefined>,
  pid: number,
  inContainer = IN_CONTAINER,
): Promise<NonNullable<Config['deployer']>> {
  if (deployer !== undefined) return deployer
  if ((await statOf(inContainer))?.isFile() && (await statOf(dockerSocket))?.isSocket()) return 'docker'
  // The programs that such a service starts inherit the variable, but have another pid.
  return environment.SYSTEMD_EXEC_PID === String(pid) ? 'process' : 'none'
}

const statOf = (path: string) => stat(path).catch(() => undefined)
