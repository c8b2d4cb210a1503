/*
 * The kit of a module: what its code gets beyond the services of the panel, a store and its settings; and the tasks that
 * it declares. The room's other files must not know how a module stores or when its tasks run.
 */

import { randomUUID } from 'node:crypto'
import type { Log } from '../../platform/log.ts'
import type { Task } from '../../runtime/task.ts'
import type { ModuleGuard } from '../guard/guard.ts'
import { readSettings, type SettingsDefinition, type SettingsValues } from './settings.ts'
import { type ModuleStore, moduleStore, type StoreServices } from './store.ts'
import { moduleTask, type TaskDefinition } from './tasks.ts'

/** The services that the kit needs; handlers and tasks have them all. */
export interface KitServices extends StoreServices {
  log: Log
}

/** Additions to the context of a module's handlers and tasks. */
export interface ModuleKit {
  store: ModuleStore
  /** Returns the settings that the module has declared; an empty object without a declaration. */
  moduleSettings(): Promise<SettingsValues>
}

/** The declarations of a module beyond its endpoints and its page. */
export interface ModuleParts {
  settings: SettingsDefinition | undefined
  tasks: readonly TaskDefinition[]
}

export function kitOf(services: KitServices, id: string, settings: SettingsDefinition | undefined): ModuleKit {
  return {
    store: moduleStore(services, id),
    moduleSettings: async () => (settings ? readSettings(services, id, settings) : {}),
  }
}

/** Returns the tasks of the loaded modules as tasks of the service. `stopping` ends their runs. */
export function tasksOf(
  parts: ReadonlyMap<string, ModuleParts>,
  stopping: AbortSignal,
  guard: ModuleGuard,
): Task<KitServices>[] {
  const owner = randomUUID()
  return [...parts].flatMap(([id, { settings, tasks }]) => {
    const contextOf = (services: KitServices) => kitOf(services, id, settings)
    // Only the module's own code counts as its own: a run first asks the database whether it is due.
    const call = (work: () => unknown) => guard.within(id, work)
    return tasks.map((task) => moduleTask(id, task, { owner, stopping, contextOf, call }))
  })
}
