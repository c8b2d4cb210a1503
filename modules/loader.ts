/*
 * Loads the code of modules. A module that throws, hangs at its import or leads out of its folder does not keep the
 * service from starting.
 */

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
import { type KnownCodes, parseDeclarations } from './declarations.ts'
import { ModuleError } from './faults.ts'
import { FILE_LIMITS } from './folder.ts'
import { type ModuleGuard, unguarded } from './guard/guard.ts'
import type { ModuleParts } from './kit/kit.ts'
import type { ModulePage } from './page.ts'
import { waitPlace } from './place.ts'
import { moduleZod } from './schemas.ts'

/** A module with code; `file` is the path of its backend inside `<folder>/<id>`. */
export interface BackendModule {
  id: string
  file: string
}

/** The reason why the code of a module is not loaded. */
export interface ModuleProblem {
  problem: 'files_missing' | 'load_failed'
  /** French, for administrators. */
  detail: string
}

export interface LoadedModules {
  /** The declarations of all modules, to be mounted after those of the service. */
  functions: readonly AnyFunction[]
  /** The pages that modules declare, by id. */
  pages: ReadonlyMap<string, ModulePage>
  /** The settings and tasks of all modules, by id. */
  parts: ReadonlyMap<string, ModuleParts>
  /** The modules that were left out, by id. */
  problems: ReadonlyMap<string, ModuleProblem>
  /** The errors behind the problems, by id: their author wants more than one sentence. */
  errors: ReadonlyMap<string, unknown>
}

/** Accepts any types: a module is not compiled with the service, and its declarations are parsed. */
const defineFunction = functionDeclarations<RuntimeServices, string, string>()

/** Marks a declaration as a page. */
const definePage = (declared: object) => ({ ...declared, kind: 'page' })
/** Marks a declaration as the settings of the module. */
const defineSettings = (declared: object) => ({ ...declared, kind: 'settings' })
/** Marks a declaration as a task. */
const defineTask = (declared: object) => ({ ...declared, kind: 'task' })

/** Top-level await is not allowed, so an import takes milliseconds even from a slow disk; a longer one never ends. */
const IMPORT_MS = 5_000
/** The detail of a module whose import takes longer. */
export const LATE = `le chargement ne s’est pas terminé en ${IMPORT_MS / 1000} s (await hors d’une fonction ?)`

/**
 * Loads the code of modules from `<folder>/<id>/<file>`. A module that fails is left out, with a line in the log; never
 * rejects. A process reads a file once: a newer version takes effect at the next start.
 */
export async function loadModules(
  folder: string,
  modules: readonly BackendModule[],
  known: KnownCodes,
  log: Log,
  guard: ModuleGuard = unguarded,
): Promise<LoadedModules> {
  const functions: AnyFunction[] = []
  const pages = new Map<string, ModulePage>()
  const parts = new Map<string, ModuleParts>()
  const problems = new Map<string, ModuleProblem>()
  const errors = new Map<string, unknown>()
  // One after another, so that a slow import counts against its own module only.
  for (const { id, file } of modules) {
    // Logged before the import, because a module may end or block the process.
    log.info({ module: id }, 'loading module')
    try {
      const path = await locate(folder, id, file)
      const declared = parseDeclarations(id, await guard.loading(id, () => declarations(path)), known)
      functions.push(...declared.functions)
      if (declared.page) pages.set(id, declared.page)
      parts.set(id, { settings: declared.settings, tasks: declared.tasks })
    } catch (error) {
      const found = problemOf(error, file)
      problems.set(id, found)
      errors.set(id, error)
      log.warn({ module: id, ...found, err: error }, 'module left out')
    }
  }
  return { functions, pages, parts, problems, errors }
}

/** Returns the path of a module's file without links; throws when the file is not inside the folder of the module. */
async function locate(folder: string, id: string, file: string): Promise<string> {
  const real = (path: string) => realpath(path).catch((error: unknown) => Promise.reject(asMissing(error, file)))
  // The folder of all modules may be a link; that of one module may not.
  const home = join(await real(folder), id)
  const path = await real(join(home, file))
  if (!path.startsWith(home + sep)) throw new ModuleError(`${file} mène hors du dossier du module`)
  const found = await stat(path)
  if (!found.isFile()) throw new ModuleError(`${file} n’est pas un fichier`)
  if (found.size > FILE_LIMITS.code) throw new ModuleError(`${file} dépasse ${FILE_LIMITS.code / 1024 / 1024} Mio`)
  return path
}

/** Returns what the default export of a module's file returns, still unparsed. */
async function declarations(path: string): Promise<unknown> {
  const loaded = await withTimeout(load(path))
  const declare = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : undefined
  if (typeof declare !== 'function') throw new ModuleError('l’export par défaut n’est pas une fonction')
  const declared: unknown = declare({ z: moduleZod, defineFunction, definePage, defineSettings, defineTask })
  if (!(declared instanceof Promise)) return declared
  // A rejection that nobody awaits must not end the process.
  declared.catch(() => {})
  throw new ModuleError('l’export par défaut renvoie une promesse, pas une liste de déclarations')
}

async function load(path: string): Promise<unknown> {
  // The executable can require files, but not import them.
  if (isExecutable()) return createRequire(path)(path)
  return import(/* @vite-ignore */ pathToFileURL(path).href)
}

async function withTimeout<result>(loading: Promise<result>): Promise<result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ModuleError(LATE)), IMPORT_MS)
  })
  try {
    return await Promise.race([loading, late])
  } finally {
    clearTimeout(timer)
  }
}

const Missing = z.object({ code: z.enum(['ENOENT', 'ENOTDIR']) })

function asMissing(error: unknown, file: string): unknown {
  if (!Missing.safeParse(error).success) return error
  return new ModuleError(`${file} n’existe pas dans le dossier du module`, { problem: 'files_missing', cause: error })
}

const Waiting = z.object({ code: z.literal('ERR_REQUIRE_ASYNC_MODULE') })

/** Whether this is Node's error for a module that `require` cannot load, because it waits outside of its functions. */
export const isWait = (error: unknown): boolean => Waiting.safeParse(error).success

/**
 * Returns why the executable cannot load a file that this program has loaded or still loads: it waits outside of its
 * functions. A Node that requires no ES modules (20) looks at the code alone.
 */
export function findWait(path: string, file: string): ModuleProblem | undefined {
  const place = waitPlace(path, file)
  if (place !== undefined) return waiting(file, place)
  if (!process.features.require_module) return undefined
  try {
    createRequire(path)(path)
    return undefined
  } catch (error) {
    return isWait(error) ? waiting(file, undefined) : undefined
  }
}

const waiting = (file: string, place: string | undefined): ModuleProblem => ({
  problem: 'load_failed',
  detail:
    place === undefined
      ? `${file} attend hors d’une fonction (await), ce qui n’est pas possible`
      : `${file} attend hors d’une fonction (await), ce qui n’est pas possible (${place})`,
})

/** Describes an error; one that the module or Node has thrown keeps its own message. */
function problemOf(error: unknown, file: string): ModuleProblem {
  if (error instanceof ModuleError) {
    return { problem: error.problem, detail: error.message }
  }
  if (isWait(error)) return waiting(file, undefined)
  const message = error instanceof Error ? error.message : inspect(error)
  return { problem: 'load_failed', detail: `${file} : ${message}` }
}
