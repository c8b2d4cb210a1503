import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Database, Statement } from '../db/client.ts'
import {
  addDeployment,
  countTry,
  type Deployment,
  type End,
  endDeployment,
  enterStep,
  findDeployment,
  openDeployment,
  type Step,
} from '../db/deployments.ts'
import { type ModuleRow, removeModule, restoreModule } from '../db/modules.ts'
import { type Clock, timestamp } from './clock.ts'
import { deploymentEvent, deploymentTopic } from './deployment-events.ts'
import { Failure } from './errors.ts'
import type { Hub } from './hub.ts'
import type { Instance } from './instance.ts'
import type { Log } from './log.ts'
import { moduleFiles } from './module-folder.ts'

/** A change of a module that takes a restart of the service. */
export interface Change {
  module: string
  /** The module's record before. */
  before: ModuleRow | undefined
  /** Its new files, by name; without it those that are there stay. */
  files?: () => Promise<ReadonlyMap<string, Buffer>>
  /** What changes in the database. */
  record: readonly Statement[]
}

/** Puts changes in force by a restart, one at a time, and takes back what does not start. */
export interface Deployer {
  /** Begins, and gives the deployment's id; it goes on by itself. A Failure `deployment_busy` while another one does. */
  begin(change: Change): Promise<string>
  /** Settles when what is under way has ended. */
  idle(): Promise<void>
}

interface Services {
  db: Database
  folder: string
  instance: Instance
  hub: Hub
  clock: Clock
  log: Log
}

/** Of the folder of modules, on this machine: another one that shares the database has its own. */
const placeOf = (folder: string) => `${hostname()}:${resolve(folder)}`

/**
 * `restart` starts the service anew beside this one; it resolves when that one serves, and rejects when it does not.
 */
export function createDeployer(services: Services, restart: () => Promise<void>): Deployer {
  const { db, folder, instance, clock, log } = services
  let running: Promise<void> = Promise.resolve()

  const run = async (id: string, { module, files, record }: Change): Promise<void> => {
    const place = moduleFiles(folder, module)
    const reached: { step: Step } = { step: 'building' }
    const enter = async (next: Step, line: string, more: readonly Statement[] = []) => {
      await db.batch([...more, enterStep(id, next, line)])
      reached.step = next
      await tell(services, id)
    }
    try {
      if (files) {
        await enter('building', 'Le code du module est récupéré.')
        await place.lay(await files())
      }
      await enter('replacing', 'Le module est mis en place.')
      await place.replace()
      await enter('restarting', 'Le service redémarre avec le module.', record)
      await restart()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.error({ deployment: id, module, err: error }, 'deployment failed')
      const deployment = await findDeployment(db, id)
      if (deployment)
        await takeBack(services, deployment, reached.step === 'restarting' ? 'rolled_back' : 'failed', reason)
    }
  }

  return {
    async begin(change) {
      const id = randomUUID()
      const begun = await addDeployment(db, {
        id,
        module: change.module,
        place: placeOf(folder),
        owner: instance.id,
        before: change.before,
        files_before: await moduleFiles(folder, change.module).areThere(),
        started_at: timestamp(clock()),
      })
      if (!begun) throw new Failure('deployment_busy')
      // What could not even be taken back is found by the next start.
      running = run(id, change).catch((error: unknown) => log.error({ deployment: id, err: error }, 'deployment stuck'))
      return id
    },
    idle: () => running,
  }
}

/**
 * Looks at what the start before has left, before modules are loaded. A change that nobody sees to any more is taken back,
 * unless all that is missing is a start with it: that is this one. Returns the deployment that this start tries.
 */
export async function resumeDeployment(services: Services): Promise<Deployment | undefined> {
  const { db, folder, instance } = services
  const deployment = await openDeployment(db, placeOf(folder))
  if (!deployment) return undefined
  const abandoned = await instance.isGone(deployment.owner)
  if (deployment.state !== 'restarting') {
    if (abandoned) await takeBack(services, deployment, 'failed', 'le service s’est arrêté pendant l’installation')
    return undefined
  }
  if ((await countTry(db, deployment.id)) === 1) return deployment
  if (abandoned) await takeBack(services, deployment, 'rolled_back', 'le service n’a pas démarré avec le module')
  return undefined
}

/**
 * The code that this start tries cannot be loaded. Beside a service that waits for this one to serve, this start ends with an
 * Error, and that one takes the change back. Else it is taken back here; `again` then ends this start all the same, so that
 * the next one has the former code.
 */
export async function giveUp(services: Services, trial: Deployment, reason: string, again: boolean): Promise<void> {
  if (!(await services.instance.isGone(trial.owner))) throw new Error(reason)
  await takeBack(services, trial, 'rolled_back', reason)
  if (again) throw new Error(reason)
}

/** The service serves with what it tried. */
export async function confirmDeployment(services: Services, { id, module }: Deployment): Promise<void> {
  const { db, folder, clock } = services
  await db.batch([endDeployment(id, 'done', 'Le service a redémarré.', null, timestamp(clock()))])
  await moduleFiles(folder, module).settle()
  await tell(services, id)
}

/** Puts files and record back as they were, and records why. */
export async function takeBack(
  services: Services,
  { id, module, before, files_before }: Deployment,
  end: Exclude<End, 'done'>,
  reason: string,
): Promise<void> {
  const { db, folder, clock } = services
  const files = moduleFiles(folder, module)
  await files.undo(files_before)
  await db.batch([
    before ? restoreModule(before) : removeModule(module),
    endDeployment(id, end, 'Tout est remis comme avant.', reason, timestamp(clock())),
  ])
  await files.settle()
  await tell(services, id)
}

async function tell({ db, hub }: Services, id: string): Promise<void> {
  const deployment = await findDeployment(db, id)
  if (!deployment) return
  const event = deploymentEvent(deployment)
  if (deployment.finished_at === null) hub.publish(deploymentTopic(id), event)
  else hub.finish(deploymentTopic(id), event)
}
