/*
 * Modules: code from a forge that the service loads when it starts, and never later. A module that cannot be loaded is
 * left out, and a change that does not start is rolled back (`deploy/`). The declarations of a module are parsed as
 * strictly as the compiler checks those of the service. The room must not know what the functions of the service do.
 */

import { isBeingDeployed } from '../db/deployments.ts'
import type { Database } from '../db/libsql/database.ts'
import { findModule, listModules, type ModuleRow } from '../db/modules.ts'
import type { Log } from '../platform/log.ts'
import type { User } from '../runtime/context.ts'
import { fail } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import type { Task } from '../runtime/task.ts'
import { moduleFailure } from './codes.ts'
import type { KnownCodes } from './declarations.ts'
import { type ModuleGuard, unguarded } from './guard/guard.ts'
import { guarded } from './guard/endpoints.ts'
import { guardedHeader, TEXT_POLICY } from './headers.ts'
import { type KitServices, kitOf, tasksOf } from './kit/kit.ts'
import type { SettingsDefinition } from './kit/settings.ts'
import { type Telling, tellAs } from './kit/told.ts'
import { type LoadedModules, loadModules, type ModuleProblem } from './loader.ts'
import type { ModulePage } from './page.ts'

export { MODULES_ACTIONS, MODULES_ERRORS } from './codes.ts'
export { createDeployer, type Deployer, detectDeployer, noDeployer } from './deploy/deployer.ts'
export {
  confirmDeployment,
  deploymentEvent,
  DeploymentId,
  type DeploymentServices,
  deploymentTopic,
  deploymentView,
  failTrial,
  lacksAwaitedDeployment,
  resumeDeployment,
} from './deploy/deployment.ts'
export { reachEngine } from './deploy/docker/engine.ts'
export { findContainer } from './deploy/docker/restart.ts'
export { runSwap } from './deploy/docker/swap.ts'
export { nearest } from './faults.ts'
export { FILE_LIMITS, moduleFiles } from './folder.ts'
export type { TakenOut } from './guard/culprits.ts'
export { createGuard, type Guard } from './guard/guard.ts'
export { forgetEnds } from './guard/notes.ts'
export { Inspection, inspectModule } from './inspect.ts'
export type { ModuleProblem } from './loader.ts'
export { PageSection, PageWords } from './page.ts'
export { callOf } from './page-check.ts'
export { isPageTicket, pageTicket, readPageFile } from './page-files.ts'

/** The modules as this start of the service has loaded them. */
export interface Modules {
  /** The endpoints of the loaded modules, to be mounted. Those of a module that is no longer enabled answer 404. */
  functions: readonly AnyFunction[]
  /** The pages that loaded modules declare, by id; also of one that is no longer enabled. */
  pages: ReadonlyMap<string, ModulePage>
  /** The tasks of the loaded modules. Those of a module that is no longer enabled do nothing. */
  tasks: readonly Task<KitServices>[]
  /** Ends the runs of tasks, because the service stops. */
  endTasks(): void
  /** Returns the modules that are enabled now and loaded, with their endpoints, for the documents. */
  documented(): Promise<DocumentedModule[]>
  /** Returns why the code of a module was not loaded. */
  problem(id: string): ModuleProblem | undefined
  /** Returns whether the code in memory is that of this record. */
  isLoaded(module: ModuleRow): boolean
  /** Runs a change of a module. Throws a Failure `module_busy` during another change or a deployment of it. */
  change<result>(id: string, work: () => Promise<result>): Promise<result>
  /** Stops handling the unhandled rejections of modules. */
  stop(): void
}

/** The problem of every module when the service starts without their code, after several early exits in a row. */
export const AFTER_CRASHES: ModuleProblem = {
  problem: 'load_failed',
  detail:
    'Le service s’est arrêté plusieurs fois de suite : il a démarré sans le code des modules. Redémarrez-le pour les essayer à nouveau.',
}

const NOTHING: Omit<LoadedModules, 'problems' | 'errors'> = { functions: [], pages: new Map(), parts: new Map() }

/**
 * Loads the code of the enabled modules from `<folder>/<id>`, except of those that were taken out. A module that cannot be
 * loaded is logged and left out.
 * With `without`, no code is loaded, and each module has this problem.
 */
export async function startModules({
  db,
  folder,
  log,
  known,
  without,
  guard = unguarded,
}: {
  db: Database
  folder: string
  log: Log
  known: KnownCodes
  without?: ModuleProblem | undefined
  guard?: ModuleGuard
}): Promise<Modules> {
  const installed = await listModules(db)
  const wanted = installed.flatMap(({ id, is_enabled, backend, fault }) =>
    is_enabled && backend !== null && fault === null ? [{ id, file: backend }] : [],
  )
  const logRejection = (error: unknown) => log.error({ err: error }, 'a promise that nobody waited for was rejected')
  // By default, Node ends the process at an unhandled rejection. Even a module that is left out may cause one.
  if (wanted.length > 0) process.on('unhandledRejection', logRejection)
  if (!without) guard.watch(installed.filter(({ id }) => wanted.some((each) => each.id === id)))
  const { functions, pages, parts, problems } = without
    ? { ...NOTHING, problems: new Map(wanted.map(({ id }) => [id, without])) }
    : await loadModules(folder, wanted, known, log, guard)
  if (without && wanted.length > 0) log.warn('started without the code of the modules')
  const loaded = new Map(
    installed
      .filter(({ id }) => wanted.some((each) => each.id === id) && !problems.has(id))
      .map((row) => [row.id, row]),
  )
  const isLoaded = ({ id, backend, version, commit }: ModuleRow) => {
    const inMemory = loaded.get(id)
    return (
      inMemory !== undefined &&
      inMemory.backend === backend &&
      inMemory.version === version &&
      inMemory.commit === commit
    )
  }
  const answering = functions.map((fn) => whileEnabled(db, fn, (id) => parts.get(id)?.settings))
  // Documents need the schemas as they were declared: their names and descriptions are kept apart from them.
  const endpoints = new Map([...loaded.keys()].map((id) => [id, answering.filter((fn) => ownerOf(fn) === id)]))
  const stopping = new AbortController()
  const changing = new Set<string>()
  return {
    stop: () => void process.off('unhandledRejection', logRejection),
    functions: answering.map((fn) => guarded(guard, ownerOf(fn), fn)),
    pages,
    tasks: tasksOf(parts, stopping.signal, guard),
    endTasks: () => stopping.abort(),
    documented: async () => (loaded.size === 0 ? [] : documentedOf(await listModules(db), endpoints)),
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

/** A loaded module with its endpoints. */
export interface DocumentedModule {
  id: string
  name: string
  description: string
  functions: readonly AnyFunction[]
}

function documentedOf(
  rows: readonly ModuleRow[],
  endpoints: ReadonlyMap<string, readonly AnyFunction[]>,
): DocumentedModule[] {
  return rows.flatMap(({ id, name, description, is_enabled, backend }) => {
    const functions = is_enabled && backend !== null ? endpoints.get(id) : undefined
    return functions ? [{ id, name, description, functions }] : []
  })
}

/** Returns the id of the module that an endpoint belongs to. */
function ownerOf({ path }: AnyFunction): string {
  return /^\/api\/modules\/([^/]+)\//.exec(path)?.[1] ?? ''
}

/**
 * Makes a function answer 404 while its module is disabled, taken out or removed. It reads the record before each call, because
 * another instance or the console may change it. A newer version on record has no effect until its code is loaded.
 */
function whileEnabled(
  db: Database,
  fn: AnyFunction,
  settingsOf: (id: string) => SettingsDefinition | undefined,
): AnyFunction {
  const id = ownerOf(fn)
  return {
    ...fn,
    errors: [...(fn.errors ?? []), 'not_found', 'module_store_full'],
    async precondition(context: ModuleContext) {
      const module = await findModule(db, id)
      if (!module?.is_enabled || module.backend === null || module.fault !== null) throw fail('not_found')
      if (context.user) context.user = { ...context.user, isAdmin: context.user.role === 'admin' }
      if (fn.contentType !== undefined) context.header('content-security-policy', TEXT_POLICY)
      context.header = guardedHeader(id, context.header)
      tellAs(id, context)
      Object.assign(context, kitOf(context, id, settingsOf(id)))
    },
  }
}

/** The part of a request's context that differs for handlers of modules. */
interface ModuleContext extends KitServices, Telling {
  user: FormerUser | undefined
  header(name: string, value: string): void
}

/** The user as handlers of modules get it: those made for version 0.1 ask `isAdmin`. */
type FormerUser = User & { isAdmin?: boolean }
