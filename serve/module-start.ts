import { Worker } from 'node:worker_threads'
import type { Deployment } from '../db/deployments.ts'
import type { Statement } from '../db/libsql/database.ts'
import { AUDIT_ACTIONS, ERRORS } from '../functions/services.ts'
import {
  AFTER_CRASHES,
  type DeploymentServices,
  failTrial,
  type Guard,
  lacksAwaitedDeployment,
  type Modules,
  resumeDeployment,
  startModules,
  type TakenOut,
} from '../modules/modules.ts'
import { eventStatement } from '../notifications/notifications.ts'
import type { Handoff } from './handoff.ts'

/**
 * Resumes the deployment that an earlier start left open, and loads the modules but those that have ended the service. `trial` is the deployment that
 * succeeds once this start serves. Rejects when its module cannot be loaded and another service or another start
 * replaces this one.
 */
export async function startWithModules(
  services: DeploymentServices,
  guard: Guard,
  handoff: Handoff | undefined,
): Promise<{ modules: Modules; trial: Deployment | undefined }> {
  const { db, folder, log } = services
  // The service starts in spite of the error; the next installation reports it.
  const { trial, failed } = await resumeDeployment(services).then(
    (found) => ({ trial: found, failed: false }),
    (error: unknown) => {
      log.error({ err: error }, 'an installation could not be rolled back')
      return { trial: undefined, failed: true }
    },
  )
  if (trial) handoff?.report('trying')
  else if (!failed && (await lacksAwaitedDeployment(services)))
    throw new Error('le dossier des modules n’a pas les fichiers de ce qui est installé')
  const { withoutAll, isDifferent } = await guard.begin({
    trial: trial?.id,
    endsTooOften: handoff?.withoutModules ?? false,
  })
  if (isDifferent) handoff?.report('narrowed')
  const watch = handoff && exitWithParent()
  const modules = await startModules({
    db,
    folder,
    log,
    known: { errors: ERRORS, actions: AUDIT_ACTIONS },
    without: withoutAll ? AFTER_CRASHES : undefined,
    guard,
  }).finally(() => watch?.stop())
  const broken = trial && modules.problem(trial.module)
  if (!trial || !broken) return { modules, trial }
  try {
    await failTrial(services, trial, broken.detail, handoff !== undefined)
  } catch (error) {
    modules.stop()
    throw error
  }
  return { modules, trial: undefined }
}

/** Makes the event of a module that was taken out, for the transaction that does it. */
export function takenOutEvent({ id, name, fault, at }: TakenOut): Statement {
  const details = { module: id, name, message: fault }
  return eventStatement({ key: `module_taken_out:${id}:${at}`, at, event: 'module_taken_out', target: null, details })
}

const LOOK_MS = 500

/**
 * Ends this process when its parent has ended, even while a module's code blocks the main thread for ever. `stop` ends
 * the watch.
 */
export function exitWithParent(): { stop(): Promise<void> } {
  const watch = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL') }, ${LOOK_MS})`
  const watcher = new Worker(watch, { eval: true })
  // The service works without the watch too.
  watcher.on('error', () => {})
  return {
    async stop() {
      await watcher.terminate()
    },
  }
}
