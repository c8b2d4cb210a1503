/*
 * Modules: code from a forge that the service loads when it starts, and never later. A module that cannot be loaded is left out,
 * and a change that does not start is rolled back (`deploy/`). The declarations of a module are parsed as strictly as the
 * compiler checks those of the service. The room must not know what the functions of the service do.
 */

import { isBeingDeployed } from '../db/deployments.ts'
import type { Database } from '../db/libsql/database.ts'
import { findModule, listModules, type ModuleRow } from '../db/modules.ts'
import type { Log } from '../platform/log.ts'
import { fail } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { moduleFailure } from './codes.ts'
import type { KnownCodes } from './declarations.ts'
import { loadModules, type ModuleProblem } from './loader.ts'

export { MODULES_ACTIONS, MODULES_ERRORS } from './codes.ts'
export { createDeployer, type Deployer, detectDeployer, noDeployer } from './deploy/deployer.ts'
export {
  confirmDeployment,
  deploymentEvent,
  DeploymentId,
  type DeploymentServices,
  deploymentTopic,
  deploymentView,
  giveUp,
  isLost,
  resumeDeployment,
} from './deploy/deployment.ts'
export { reachEngine } from './deploy/docker/engine.ts'
export { findContainer } from './deploy/docker/restart.ts'
export { runSwap } from './deploy/docker/swap.ts'
export { moduleFiles } from './folder.ts'
export type { ModuleProblem } from './loader.ts'

/** What this start of the service has made of the modules that are installed. */
export interface Modules {
  /** The endpoints of those with code, to be mounted. One that is no longer enabled answers 404. */
  functions: readonly AnyFunction[]
  /** Why a module's code could not be loaded. */
  problem(id: string): ModuleProblem | undefined
  /** Whether the code in memory is that of the module as it is recorded. */
  isLoaded(module: ModuleRow): boolean
  /** One change of a module at a time: a Failure `module_busy` while another one, or its deployment, is under way. */
  change<result>(id: string, work: () => Promise<result>): Promise<result>
  /** Hears no more of what modules leave alone. */
  stop(): void
}

/** Why no module's code is loaded, after the service has ended several times in a row. */
export const AFTER_CRASHES: ModuleProblem = {
  problem: 'load_failed',
  detail:
    'Le service s’est arrêté plusieurs fois de suite : il a démarré sans le code des modules. Redémarrez-le pour les essayer à nouveau.',
}

/**
 * Loads the code of the enabled modules from `<folder>/<id>`. What cannot be loaded is logged and left out; with `without` all of
 * it is, for that reason.
 */
export async function startModules({
  db,
  folder,
  log,
  known,
  without,
}: {
  db: Database
  folder: string
  log: Log
  known: KnownCodes
  without?: ModuleProblem | undefined
}): Promise<Modules> {
  const installed = await listModules(db)
  const wanted = installed.flatMap(({ id, is_enabled, backend }) =>
    is_enabled && backend !== null ? [{ id, file: backend }] : [],
  )
  const stray = (error: unknown) => log.error({ err: error }, 'a promise that nobody waited for was rejected')
  // What a module leaves alone must not end the service, as it would by default; one that is left out has run as well.
  if (wanted.length > 0) process.on('unhandledRejection', stray)
  const { functions, problems } = without
    ? { functions: [], problems: new Map(wanted.map(({ id }) => [id, without])) }
    : await loadModules(folder, wanted, known, log)
  if (without && wanted.length > 0) log.warn('started without the code of the modules')
  const loaded = new Map(
    installed
      .filter(({ id }) => wanted.some((each) => each.id === id) && !problems.has(id))
      .map((row) => [row.id, row]),
  )
  const isLoaded = ({ id, backend, version, commit }: ModuleRow) => {
    const at = loaded.get(id)
    return at !== undefined && at.backend === backend && at.version === version && at.commit === commit
  }
  const changing = new Set<string>()
  return {
    stop: () => void process.off('unhandledRejection', stray),
    functions: functions.map((fn) => whileEnabled(db, fn)),
    problem: (id) => problems.get(id),
    isLoaded,
    async change(id, work) {
      if (changing.has(id)) throw moduleFailure('module_busy')
      changing.add(id)
      try {
        if (await isBeingDeployed(db, id)) throw moduleFailure('module_busy')
        return await work()
      } finally {
        changing.delete(id)
      }
    },
  }
}

/** The id of the module that an address belongs to. */
const OWNER = /^\/api\/modules\/([^/]+)\//

/**
 * Also on another instance, and from the console: what counts is the record. A newer version on record changes nothing until
 * its code is loaded.
 */
function whileEnabled(db: Database, fn: AnyFunction): AnyFunction {
  const [, id = ''] = OWNER.exec(fn.path) ?? []
  return {
    ...fn,
    errors: [...(fn.errors ?? []), 'not_found'],
    async precondition() {
      const module = await findModule(db, id)
      if (!module?.is_enabled || module.backend === null) throw fail('not_found')
    },
  }
}
