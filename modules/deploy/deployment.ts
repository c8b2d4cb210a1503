import * as z from 'zod'
import {
  countTry,
  type Deployment,
  type End,
  endDeployment,
  findDeployment,
  lastDeployment,
} from '../../db/deployments.ts'
import type { Database } from '../../db/libsql/database.ts'
import { removeModule, restoreModule } from '../../db/modules.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Instance } from '../../platform/program.ts'
import type { Actor } from '../../runtime/audit.ts'
import type { Hub, HubEvent } from '../../runtime/hub.ts'
import { moduleAuditStatement } from '../codes.ts'
import { knownPlace, moduleFiles } from '../folder.ts'

/** What deployments are made with; `folder` is that of the modules. */
export interface DeploymentServices {
  db: Database
  folder: string
  instance: Instance
  hub: Hub
  clock: Clock
  log: Log
  judge?: Judge | undefined
}

/** Another program that sees to restarts. */
export interface Judge {
  /** The deployment that this service was made for, maybe long ago. */
  made: string | undefined
  /** What this start is to do with a deployment that waits for a restart, and is `owner`'s. */
  verdict(deployment: string, owner: string): Promise<Verdict>
  /** Settles when it does not see to a deployment any more, and all that it would have done is done. */
  settled(deployment?: string): Promise<void>
}

/**
 * `try`: this is the start with the change, and the only one. `judged`: so it is, however often it is repeated, since the
 * other program looks whether it serves. `wait`: that start is still to come. `leave`: it is another one's. Else it has
 * failed.
 */
export type Verdict = 'try' | 'judged' | 'wait' | 'leave' | { refused: string }

/**
 * Looks at what the start before has left, before modules are loaded. A change that nobody sees to any more is taken back,
 * unless all that is missing is a start with it: that is this one. Returns the deployment that this start tries.
 */
export async function resumeDeployment(services: DeploymentServices): Promise<Deployment | undefined> {
  const { db, folder, instance } = services
  const place = await knownPlace(folder)
  const deployment = place === undefined ? undefined : await lastDeployment(db, place)
  if (!deployment) return undefined
  if (deployment.finished_at !== null) {
    // Its service may have ended right after it.
    await forgetFormer(services, deployment.module)
    return undefined
  }
  // After a reboot, or in another container, nothing is known of the one that began it: nobody sees to it there either.
  const abandoned = !(await instance.runs(deployment.owner))
  if (deployment.state !== 'restarting') {
    if (abandoned) await takeBack(services, deployment, 'failed', 'le service s’est arrêté pendant l’installation')
    return undefined
  }
  const { id, owner } = deployment
  const verdict = (await services.judge?.verdict(id, owner)) ?? 'try'
  if (verdict === 'wait') {
    // It may come to nothing without another start of this service.
    const after = services.judge?.settled(id).then(() => resumeDeployment(services))
    after?.catch((error: unknown) => services.log.error({ deployment: id, err: error }, 'deployment stuck'))
    return undefined
  }
  if (verdict === 'leave') return undefined
  if (typeof verdict === 'object') {
    await takeBack(services, deployment, 'rolled_back', verdict.refused)
    return undefined
  }
  if ((await countTry(db, id)) === 1 || verdict === 'judged') return deployment
  if (abandoned) await takeBack(services, deployment, 'rolled_back', 'le service n’a pas démarré avec le module')
  return undefined
}

/**
 * Whether another program waits for this start to serve with a deployment that is not to be found here: the folder of modules
 * is not the one that was changed.
 */
export async function isLost({ db, judge }: DeploymentServices): Promise<boolean> {
  const awaited = judge?.made === undefined ? undefined : await findDeployment(db, judge.made)
  return awaited?.finished_at === null && (await judge?.verdict(awaited.id, awaited.owner)) === 'judged'
}

/**
 * The code that this start tries cannot be loaded. Beside a service that waits for this one to serve, this start ends with an
 * Error, and that one takes the change back. Else it is taken back here; `again` then ends this start all the same, so that
 * the next one has the former code.
 */
export async function giveUp(
  services: DeploymentServices,
  trial: Deployment,
  reason: string,
  again: boolean,
): Promise<void> {
  if (await services.instance.runs(trial.owner)) throw new Error(reason)
  await takeBack(services, trial, 'rolled_back', reason)
  if (again) throw new Error(reason)
}

/** The service serves with what it tried. */
export async function confirmDeployment(
  services: DeploymentServices,
  { id, module }: Pick<Deployment, 'id' | 'module'>,
  line = 'Le service a redémarré.',
): Promise<void> {
  const { db, clock } = services
  await db.batch([endDeployment(id, 'done', line, null, timestamp(clock()))])
  await forgetFormer(services, module)
  await tell(services, id)
}

async function forgetFormer({ folder, log }: DeploymentServices, module: string): Promise<void> {
  const files = moduleFiles(folder, module)
  const forget = async () => {
    // Between two steps of the console's, those beside are all that there is.
    if (await files.areThere()) await files.settle()
  }
  await forget().catch((error: unknown) => log.warn({ module, err: error }, 'the former files of a module stay behind'))
}

/** Puts files and record back as they were, and records why. Does nothing once it has ended. */
export async function takeBack(
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
  await files.settle()
  await tell(services, id)
}

/** Who does what nobody asked for. */
const SERVICE: Actor = { user: undefined, address: 'service' }

/** Tells those who watch how far it has come; they have to come back where that cannot be read. Never rejects. */
export async function tell({ db, hub, log }: DeploymentServices, id: string): Promise<void> {
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

/** Names a deployment. Whether there is one by a name is the database's to say. */
export const DeploymentId = z.string().meta({
  id: 'DeploymentId',
  description: 'Names the deployment of a module.',
  examples: ['0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31'],
  override: { format: 'uuid' },
})

/** The event for followers of a deployment: the whole deployment, each time. */
export function deploymentEvent(deployment: Deployment): HubEvent {
  const seq = deployment.log.length
  return { type: 'deployment', start: seq - 1, seq, data: deploymentView(deployment) }
}

export const deploymentTopic = (id: string) => `deploy:${id}`

/** A deployment as clients see it. */
export function deploymentView({ id, module, state, log, error, started_at, finished_at }: Deployment) {
  return { id, module, state, log, error, started_at, finished_at }
}
