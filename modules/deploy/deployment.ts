/*
 * Records deployments, and continues them after a restart. The record tells a start after a crash whether the change
 * was tried, so that it neither repeats the crash nor leaves the module half installed.
 */

import * as z from 'zod'
import {
  countTry,
  type Deployment,
  type End,
  endDeployment,
  findDeployment,
  lastDeployment,
} from '../../db/deployments.ts'
import type { Database, Statement } from '../../db/libsql/database.ts'
import { removeModule, restoreModule } from '../../db/modules.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Instance } from '../../platform/program.ts'
import type { Actor } from '../../runtime/audit.ts'
import type { Hub, HubEvent } from '../../platform/hub.ts'
import { moduleAuditStatement } from '../codes.ts'
import { moduleFiles, readPlace, removeStrayPlaces } from '../folder.ts'

/** The services that deployments use; `folder` is the folder of modules. */
export interface DeploymentServices {
  db: Database
  folder: string
  instance: Instance
  hub: Hub
  clock: Clock
  log: Log
  supervisor?: Supervisor | undefined
}

/** Another program that restarts the service and decides whether the new one is kept: the helper container. */
export interface Supervisor {
  /** The deployment for which this container was created, maybe long ago. */
  createdFor: string | undefined
  /** Decides what this start does with a deployment of `owner` that waits for a restart. */
  decide(deployment: string, owner: string): Promise<Decision>
  /** Settles when the supervisor has ended its work on a deployment; completes the work that an early end has left. */
  ended(deployment?: string): Promise<void>
}

/**
 * - `try`: this start tries the change, once.
 * - `supervised`: this start tries the change, also when it is repeated, because the supervisor checks whether it
 *   serves.
 * - `wait`: the start that tries the change is still to come.
 * - `leave`: the deployment belongs to another service.
 * - `rollBack`: the change has failed, for this reason.
 */
export type Decision = 'try' | 'supervised' | 'wait' | 'leave' | { rollBack: string }

/**
 * Continues the deployment that a previous start has left, before modules are loaded. Rolls an abandoned change back,
 * unless only the start with it is missing. Returns the deployment that this start tries.
 */
export async function resumeDeployment(services: DeploymentServices): Promise<Deployment | undefined> {
  const { db, folder, instance } = services
  await removeStrayPlaces(folder)
  const place = await readPlace(folder)
  const deployment = place === undefined ? undefined : await lastDeployment(db, place)
  if (!deployment) return undefined
  if (deployment.finished_at !== null) {
    // The service may have ended before it removed these files.
    await removePreviousFiles(services, deployment.module)
    return undefined
  }
  // The owner does not run either after a reboot, or seen from another container.
  const abandoned = !(await instance.runs(deployment.owner))
  if (deployment.state !== 'restarting') {
    if (abandoned) await rollBack(services, deployment, 'failed', 'le service s’est arrêté pendant l’installation')
    return undefined
  }
  const { id, owner } = deployment
  const decision = (await services.supervisor?.decide(id, owner)) ?? 'try'
  if (decision === 'wait') {
    // The helper may end without another start of this service.
    const after = services.supervisor?.ended(id).then(() => resumeDeployment(services))
    after?.catch((error: unknown) => services.log.error({ deployment: id, err: error }, 'deployment stuck'))
    return undefined
  }
  if (decision === 'leave') return undefined
  if (typeof decision === 'object') {
    await rollBack(services, deployment, 'rolled_back', decision.rollBack)
    return undefined
  }
  if ((await countTry(db, id)) === 1 || decision === 'supervised') return deployment
  if (abandoned) await rollBack(services, deployment, 'rolled_back', 'le service n’a pas démarré avec le module')
  return undefined
}

/**
 * Returns whether the supervisor waits for a deployment that this start did not find, because its folder of modules is
 * not the one that was changed.
 */
export async function lacksAwaitedDeployment({ db, supervisor }: DeploymentServices): Promise<boolean> {
  const awaited = supervisor?.createdFor === undefined ? undefined : await findDeployment(db, supervisor.createdFor)
  return awaited?.finished_at === null && (await supervisor?.decide(awaited.id, awaited.owner)) === 'supervised'
}

/**
 * Ends a trial whose code cannot be loaded. If the owner of the deployment still runs, throws an Error, and the owner
 * rolls the change back. Otherwise rolls it back here; with `again`, throws afterwards, so that the next start has the
 * previous code.
 */
export async function failTrial(
  services: DeploymentServices,
  trial: Deployment,
  reason: string,
  again: boolean,
): Promise<void> {
  if (await services.instance.runs(trial.owner)) throw new Error(reason)
  await rollBack(services, trial, 'rolled_back', reason)
  if (again) throw new Error(reason)
}

/**
 * Records that the service serves with the change, in one transaction with `more`, and removes the previous files.
 */
export async function confirmDeployment(
  services: DeploymentServices,
  { id, module }: Pick<Deployment, 'id' | 'module'>,
  line = 'Le service a redémarré.',
  more: readonly Statement[] = [],
): Promise<void> {
  const { db, clock } = services
  await db.batch([...more, endDeployment(id, 'done', line, null, timestamp(clock()))])
  await removePreviousFiles(services, module)
  await publishDeployment(services, id)
}

async function removePreviousFiles({ folder, log }: DeploymentServices, module: string): Promise<void> {
  const files = moduleFiles(folder, module)
  const remove = async () => {
    // While `modules install` runs, the staged and the previous files may be the only ones.
    if (await files.areInPlace()) await files.cleanUp()
  }
  await remove().catch((error: unknown) => log.warn({ module, err: error }, 'the former files of a module stay behind'))
}

/** Restores files and record, and records the reason. Does nothing when the deployment has ended. */
export async function rollBack(
  services: DeploymentServices,
  { id, module, before, files_before }: Deployment,
  end: Exclude<End, 'done'>,
  reason: string,
): Promise<void> {
  const { db, folder, clock } = services
  if ((await findDeployment(db, id))?.finished_at !== null) return
  const files = moduleFiles(folder, module)
  await files.undo(files_before)
  await db.batch([
    before ? restoreModule(before) : removeModule(module),
    endDeployment(id, end, 'Tout est remis comme avant.', reason, timestamp(clock())),
    moduleAuditStatement(services, SERVICE, 'module_taken_back', { target: module, details: { error: reason } }),
  ])
  await files.cleanUp()
  await publishDeployment(services, id)
}

/** The actor of changes that nobody requested. */
const SERVICE: Actor = { user: undefined, address: 'service' }

/** Publishes the state of a deployment; subscribers have to reconnect when it cannot be read. Never rejects. */
export async function publishDeployment({ db, hub, log }: DeploymentServices, id: string): Promise<void> {
  const topic = deploymentTopic(id)
  try {
    const deployment = await findDeployment(db, id)
    if (!deployment) return
    const event = deploymentEvent(deployment)
    if (deployment.finished_at === null) hub.publish(topic, event)
    else hub.finish(topic, event)
  } catch (error) {
    log.warn({ deployment: id, err: error }, 'who watches a deployment could not be told')
    hub.fail(topic, error)
  }
}

/** The id of a deployment. Any text is accepted; the database knows which ids exist. */
export const DeploymentId = z.string().meta({
  id: 'DeploymentId',
  description: 'Names the deployment of a module.',
  examples: ['0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31'],
  override: { format: 'uuid' },
})

/** Returns the event for subscribers of a deployment, which contains the whole deployment. */
export function deploymentEvent(deployment: Deployment): HubEvent {
  const seq = deployment.log.length
  return { type: 'deployment', start: seq - 1, seq, data: deploymentView(deployment) }
}

/** Returns the topic of a deployment in the hub. */
export const deploymentTopic = (id: string) => `deploy:${id}`

/** Returns a deployment as clients see it. */
export function deploymentView({ id, module, state, log, error, started_at, finished_at }: Deployment) {
  return { id, module, state, log, error, started_at, finished_at }
}
