import type { Database } from '../db/client.ts'
import { findModule, listModules, type ModuleRow } from '../db/modules.ts'
import { loadModules, type ModuleProblem } from './backend-modules.ts'
import { Failure } from './errors.ts'
import type { AnyFunction } from './function.ts'
import type { Log } from './log.ts'

/** What this start of the service has made of the modules that are installed. */
export interface Modules {
  /** The endpoints of those with code, to be mounted. One that is no longer enabled answers like an unknown address. */
  functions: readonly AnyFunction[]
  /** Why a module's code could not be loaded. */
  problem(id: string): ModuleProblem | undefined
  /** Whether the code in memory is that of the module as it is recorded. */
  isLoaded(module: ModuleRow): boolean
  /** One change of a module at a time: a Failure `module_busy` while another one is under way. */
  change<result>(id: string, work: () => Promise<result>): Promise<result>
}

/** Loads the code of the enabled modules from `<folder>/<id>`. What cannot be loaded is logged and left out. */
export async function startModules({ db, folder, log }: { db: Database; folder: string; log: Log }): Promise<Modules> {
  const installed = await listModules(db)
  const wanted = installed.flatMap(({ id, is_enabled, backend }) =>
    is_enabled && backend !== null ? [{ id, file: backend }] : [],
  )
  const { functions, problems } = await loadModules(folder, wanted, log)
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
    functions: functions.map((fn) => whileEnabled(db, fn, isLoaded)),
    problem: (id) => problems.get(id),
    isLoaded,
    async change(id, work) {
      if (changing.has(id)) throw new Failure('module_busy')
      changing.add(id)
      try {
        return await work()
      } finally {
        changing.delete(id)
      }
    },
  }
}

/** The id of the module that an address belongs to. */
const OWNER = /^\/api\/modules\/([^/]+)\//

/** Also on another instance, and from the console: what counts is the record. */
function whileEnabled(db: Database, fn: AnyFunction, isLoaded: Modules['isLoaded']): AnyFunction {
  const [, id = ''] = OWNER.exec(fn.path) ?? []
  return {
    ...fn,
    errors: [...(fn.errors ?? []), 'not_found'],
    async precondition() {
      const module = await findModule(db, id)
      if (!module?.is_enabled || !isLoaded(module)) throw new Failure('not_found')
    },
  }
}
