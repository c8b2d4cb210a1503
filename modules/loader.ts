import { realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import * as z from 'zod'
import type { Log } from '../platform/log.ts'
import { isExecutable } from '../platform/program.ts'
import type { RuntimeServices } from '../runtime/context.ts'
import { type AnyFunction, functionDeclarations } from '../runtime/function.ts'
import { type KnownCodes, ModuleError, parseDeclarations } from './declarations.ts'

/** A module whose code is to be loaded: `file` is its backend's name in the folder `<folder>/<id>`. */
export interface BackendModule {
  id: string
  file: string
}

export interface ModuleProblem {
  problem: 'files_missing' | 'load_failed'
  /** French, for administrators. */
  detail: string
}

export interface LoadedModules {
  /** What all of them declare, ready to be mounted after the service's own. */
  functions: readonly AnyFunction[]
  /** The modules that are left out, by id. */
  problems: ReadonlyMap<string, ModuleProblem>
}

/** A module is not compiled with the service: its declarations are parsed, whatever their types. */
const defineFunction = functionDeclarations<RuntimeServices, string, string>()

/** Top-level await is not allowed, so an import takes milliseconds, on a slow disk too: longer means never. */
const IMPORT_MS = 5_000
/** This service with all of its packages is hardly larger: more is a mistake, and would stay in memory. */
const LARGEST_MIB = 5

/**
 * Loads the code of modules, `<folder>/<id>/<file>` each. One that fails is left out, with a line in the log; never
 * rejects. A file is read once in a process: a newer one under its name counts from the next start.
 */
export async function loadModules(
  folder: string,
  modules: readonly BackendModule[],
  known: KnownCodes,
  log: Log,
): Promise<LoadedModules> {
  const functions: AnyFunction[] = []
  const problems = new Map<string, ModuleProblem>()
  // One after another, so that none is blamed for the time that another takes.
  for (const { id, file } of modules) {
    // Said before: a module may end the process, or never come back.
    log.info({ module: id }, 'loading module')
    try {
      const path = await find(folder, id, file)
      functions.push(...parseDeclarations(id, await declarations(path), known))
    } catch (error) {
      const found = problemOf(error, file)
      problems.set(id, found)
      log.warn({ module: id, ...found, err: error }, 'module left out')
    }
  }
  return { functions, problems }
}

/** The path of a module's file, without links, once it is known to be one that belongs to the module. */
async function find(folder: string, id: string, file: string): Promise<string> {
  const real = (path: string) => realpath(path).catch((error: unknown) => Promise.reject(missing(error, file)))
  // The folder of all modules may be a link; a module's own is none.
  const home = join(await real(folder), id)
  const path = await real(join(home, file))
  if (!path.startsWith(home + sep)) throw new ModuleError(`${file} mène hors du dossier du module`)
  const found = await stat(path)
  if (!found.isFile()) throw new ModuleError(`${file} n’est pas un fichier`)
  if (found.size > LARGEST_MIB * 1024 * 1024) throw new ModuleError(`${file} dépasse ${LARGEST_MIB} Mio`)
  return path
}

/** What the default export of a module's file declares, not looked at yet. */
async function declarations(path: string): Promise<unknown> {
  const loaded = await inTime(load(path))
  const declare = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : undefined
  if (typeof declare !== 'function') throw new ModuleError('l’export par défaut n’est pas une fonction')
  const declared: unknown = declare({ z, defineFunction })
  if (!(declared instanceof Promise)) return declared
  // Nobody waits for it: that it rejects must not end the process.
  declared.catch(() => {})
  throw new ModuleError('l’export par défaut renvoie une promesse, pas une liste de déclarations')
}

async function load(path: string): Promise<unknown> {
  // It cannot import files, but require them.
  if (isExecutable()) return createRequire(path)(path)
  return import(/* @vite-ignore */ pathToFileURL(path).href)
}

async function inTime<result>(loading: Promise<result>): Promise<result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const seconds = IMPORT_MS / 1000
    timer = setTimeout(
      () => reject(new ModuleError(`le chargement ne s’est pas terminé en ${seconds} s (await hors d’une fonction ?)`)),
      IMPORT_MS,
    )
  })
  try {
    return await Promise.race([loading, late])
  } finally {
    clearTimeout(timer)
  }
}

const Missing = z.object({ code: z.enum(['ENOENT', 'ENOTDIR']) })

function missing(error: unknown, file: string): unknown {
  if (!Missing.safeParse(error).success) return error
  return new ModuleError(`${file} n’existe pas dans le dossier du module`, { problem: 'files_missing', cause: error })
}

/** What was thrown by the module itself, or by Node about it, is told in its own words. */
function problemOf(error: unknown, file: string): ModuleProblem {
  if (error instanceof ModuleError) return { problem: error.problem, detail: error.message }
  return { problem: 'load_failed', detail: `${file} : ${error instanceof Error ? error.message : inspect(error)}` }
}
