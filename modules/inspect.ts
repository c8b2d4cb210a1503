/*
 * Loads the code of one module as the service would, and tells what it declares, for authors. It runs the code, so the
 * caller does it in a process of its own.
 */

import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { createLog } from '../platform/log.ts'
import type { KnownCodes } from './declarations.ts'
import { ModuleError } from './faults.ts'
import { type BackendModule, findWait, isWait, LATE, loadModules } from './loader.ts'
import { placeOf } from './place.ts'

/** The declarations of a module, or why its code cannot be loaded; sentences are French. */
export const Inspection = z.object({
  faults: z.array(z.string()),
  functions: z.array(
    z.object({
      method: z.string(),
      path: z.string(),
      auth: z.string(),
      stepUp: z.boolean(),
      limit: z.string(),
    }),
  ),
  sections: z.number().nullable(),
  settings: z.array(z.object({ name: z.string(), secret: z.boolean() })),
  tasks: z.array(z.object({ name: z.string(), every: z.number() })),
})
export type Inspection = z.infer<typeof Inspection>

/** The imports of one module that are named. */
const TOLD = 5

/** Inspects the module in `<folder>/<id>`. Never rejects. */
export async function inspectModule(folder: string, module: BackendModule, known: KnownCodes): Promise<Inspection> {
  const imports = watchImports(join(folder, module.id))
  try {
    const { log } = createLog({ level: 'silent', write: () => {} })
    const { functions, pages, parts, problems, errors } = await loadModules(folder, [module], known, log)
    const path = join(folder, module.id, module.file)
    const found = problems.get(module.id)
    const error = errors.get(module.id)
    // Loading ends in the same way in the executable and in every other program.
    const wait = !found || found.detail === LATE || isWait(error) ? findWait(path, module.file) : undefined
    // Node's own words name the copy of the code, and an import that is told anyway.
    const isTold = imports.foreign.size > 0 && /^\S+ : Cannot find (?:package|module)/.test(found?.detail ?? '')
    const ofLoad = !found || isTold ? [] : faultsOf(found.detail, error, path, module.file)
    const { settings, tasks = [] } = parts.get(module.id) ?? {}
    return {
      faults: [
        ...[...imports.foreign]
          .slice(0, TOLD)
          .map((name) => `${module.file} importe « ${name} » : seuls des noms en « node: » sont possibles`),
        ...(wait ? [wait.detail] : ofLoad),
      ],
      functions: functions.map(({ method, path, auth, stepUp, rateLimit }) => ({
        method,
        path,
        auth,
        stepUp: stepUp ?? false,
        limit: rateLimit ? `${rateLimit.limit} en ${rateLimit.seconds} s` : 'sans limite',
      })),
      sections: pages.get(module.id)?.sections.length ?? null,
      settings: Object.keys(settings?.fields.shape ?? {}).map((name) => ({
        name,
        secret: settings?.secrets.includes(name) ?? false,
      })),
      tasks: tasks.map(({ name, every }) => ({ name, every })),
    }
  } finally {
    imports.stop()
  }
}

const faultsOf = (detail: string, error: unknown, path: string, file: string) =>
  error instanceof ModuleError ? error.all : [`${detail}${placeOf(error, path, file)}`]

/** Notes what the files of a folder import, while it is watched. A Node without such hooks (20) notes nothing. */
function watchImports(folder: string): { foreign: ReadonlySet<string>; stop(): void } {
  const foreign = new Set<string>()
  const within = pathToFileURL(`${folder}/`).href
  const hooks = nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      const isOwn = context.parentURL?.startsWith(within) === true
      const isEntry = specifier.startsWith(folder) || specifier.startsWith(within)
      if (isOwn && !isEntry && !specifier.startsWith('node:')) foreign.add(specifier.slice(0, 200))
      return next(specifier, context)
    },
  })
  return { foreign, stop: () => hooks?.deregister() }
}
