import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
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
import { moduleFailure } from '../codes.ts'
import { moduleFiles, placeOf } from '../folder.ts'
import { confirmDeployment, type DeploymentServices, takeBack, tell } from './deployment.ts'

/** A change of a module that takes a restart of the service. */
export interface Change {
  module: string
  /** The module's record before. */
  before: ModuleRow | undefined
  /** Its new files, by name; without it those that are there stay. */
  files?: () => Promise<ReadonlyMap<string, Buffer>>
  /** What changes in the database. */
  record: readonly Statement[]
  /** The audit entry of its beginning, written with the deployment's own record or not at all. */
  announce?: Statement
  /** Whether the service has to start with it; so unless it is said. */
  restart?: boolean
}

/** Puts changes in force by a restart, one at a time, and takes back what does not start. */
export interface Deployer {
  /**
   * Begins, and gives the deployment's id; it goes on by itself. A Failure `deployment_busy` while another one does, or once
   * this service is being stopped.
   */
  begin(change: Change): Promise<string>
  /** Settles when what is under way has ended. */
  idle(): Promise<void>
  /** Begins no more, and takes back what has not come to its restart; settles when that is done. */
  stop(): Promise<void>
}

/** Taking back is tried again: the disk or the database may be busy for a moment. */
const TRIES_MS = [500, 2_000, 10_000]

/**
 * `trial` is the deployment that this start tries: it is under way until it is confirmed. `restart` starts the service anew; it resolves when that one serves, and rejects when it does not. One that ends this
 * service first does neither.
 */
export function createDeployer(
  services: DeploymentServices,
  restart: (deployment: string) => Promise<void>,
  trial?: Pick<Deployment, 'id'>,
): Deployer {
  const { db, folder, instance, clock, log } = services
  let running: Promise<void> = Promise.resolve()
  let current: string | undefined
  const stopping = new AbortController()

  const run = async (id: string, { module, files, record, restart: needed = true }: Change): Promise<void> => {
    const place = moduleFiles(folder, module)
    const reached: { step: Step } = { step: 'building' }
    const enter = async (next: Step, line: string, more: readonly Statement[] = []) => {
      await db.batch([...more, enterStep(id, next, line)])
      reached.step = next
      await tell(services, id)
    }
    try {
      await place.settle()
      if (files) {
        await enter('building', 'Le code du module est récupéré.')
        await place.lay(await unlessAborted(files(), stopping.signal))
      }
      stopping.signal.throwIfAborted()
      await enter('replacing', 'Le module est mis en place.')
      if (files) await place.replace()
      stopping.signal.throwIfAborted()
      if (!needed) {
        await db.batch(record)
        return await confirmDeployment(services, { id, module }, 'Le module est en place ; il est désactivé.')
      }
      await enter('restarting', 'Le service redémarre avec le module.', record)
      await restart(id)
    } catch (error) {
      const reason = reasonOf(error)
      log.error({ deployment: id, module, err: error }, 'deployment failed')
      const end = reached.step === 'restarting' ? 'rolled_back' : 'failed'
      for (const wait of [...TRIES_MS, undefined]) {
        try {
          const deployment = await findDeployment(db, id)
          if (deployment) await takeBack(services, deployment, end, reason)
          return
        } catch (failure) {
          if (wait === undefined) throw failure
          await pause(wait)
        }
      }
    }
  }

  return {
    async begin(change) {
      if (stopping.signal.aborted) throw moduleFailure('deployment_busy')
      const id = randomUUID()
      const place = await placeOf(folder).catch((cause: unknown) => {
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
            files_before: await moduleFiles(folder, change.module).areThere(),
            started_at: timestamp(clock()),
          },
          change.announce,
        )
      if (!(await add())) {
        // One whose service is gone, or that could not be taken back in its time, is in nobody's hands.
        const open = await openDeployment(db, place)
        const mine = open?.owner === instance.id
        if (!open || open.id === trial?.id || (mine ? open.id === current : await instance.runs(open.owner)))
          throw moduleFailure('deployment_busy')
        await takeBack(services, open, 'failed', 'personne ne s’occupait plus de cette installation')
        if (!(await add())) throw moduleFailure('deployment_busy')
      }
      current = id
      running = run(id, change)
        // What could not even be taken back is found by who comes next.
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
      // A restart that is under way is seen to by the service that starts.
      if (open && open.state !== 'restarting') await running
    },
  }
}

/** Where the service is not restarted by itself: a Failure that says what to do instead. */
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

/** In French where it is ours, or the disk's. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return isSystemError(error) ? `le dossier des modules ne peut pas être utilisé (${message})` : message
}

const isSystemError = (error: unknown) => error instanceof Error && 'syscall' in error

/** Settles with the work, or rejects with the reason of the end. */
function unlessAborted<result>(work: Promise<result>, signal: AbortSignal): Promise<result> {
  const ended = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([work, ended])
}

/** Where a container of Docker's is told by. */
const IN_CONTAINER = '/.dockerenv'

/**
 * How a service is restarted with a changed module, where nothing is said of it: in a container that reaches its engine, by
 * another container; started by systemd itself, by a process that owns the port. Elsewhere it is not: who starts a service
 * by hand sees one process.
 */
export async function detectDeployer(
  { deployer, dockerSocket }: Pick<Config, 'deployer' | 'dockerSocket'>,
  environment: Record<string, string | undefined>,
  pid: number,
  inContainer = IN_CONTAINER,
): Promise<NonNullable<Config['deployer']>> {
  if (deployer !== undefined) return deployer
  if ((await statOf(inContainer))?.isFile() && (await statOf(dockerSocket))?.isSocket()) return 'docker'
  // It also reaches the programs that such a service starts, as a shell on the host.
  return environment.SYSTEMD_EXEC_PID === String(pid) ? 'process' : 'none'
}

const statOf = (path: string) => stat(path).catch(() => undefined)
