import type { Deployment } from '../db/deployments.ts'
import { type DeploymentServices, giveUp, isLost, resumeDeployment } from './deployment.ts'
import { AFTER_CRASHES, type Modules, startModules } from './modules.ts'
import { endWithParent } from './orphan.ts'
import type { Succession } from './succession.ts'

/**
 * Goes on with what the start before has left, and loads the modules. `trial` is the deployment that is done when this start
 * serves. Rejects when that module cannot be loaded, and another service serves on or another start is to follow.
 */
export async function startWithModules(
  services: DeploymentServices,
  succession: Succession | undefined,
): Promise<{ modules: Modules; trial: Deployment | undefined }> {
  const { db, folder, log } = services
  // What is in the way is for who installs the next one.
  const { trial, failed } = await resumeDeployment(services).then(
    (found) => ({ trial: found, failed: false }),
    (error: unknown) => {
      log.error({ err: error }, 'an installation could not be taken back')
      return { trial: undefined, failed: true }
    },
  )
  if (trial) succession?.tell('trying')
  else if (!failed && (await isLost(services)))
    throw new Error('le dossier des modules n’a pas les fichiers de ce qui est installé')
  const watch = succession && endWithParent()
  const without = succession?.withoutModules ? AFTER_CRASHES : undefined
  const modules = await startModules({ db, folder, log, without }).finally(() => watch?.stop())
  const broken = trial && modules.problem(trial.module)
  if (!trial || !broken) return { modules, trial }
  try {
    await giveUp(services, trial, broken.detail, succession !== undefined)
  } catch (error) {
    modules.stop()
    throw error
  }
  return { modules, trial: undefined }
}
