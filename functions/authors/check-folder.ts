/*
 * Checks the folder of a module as an installation and a start would, for its author. The code runs in a process of its
 * own, from a copy in a folder without anything else, so that a missing file or package shows.
 */

import { spawn } from 'node:child_process'
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { FILE_LIMITS, Inspection, moduleFiles } from '../../modules/modules.ts'
import { ownProgram } from '../../platform/program.ts'
import { CommandError } from '../../runtime/command.ts'
import { type Descriptor, parseDescriptor } from '../registry/descriptor.ts'
import { readFolderFile } from '../registry/folder-file.ts'
import { PAGE_TOO_LARGE } from '../registry/installation.ts'
import { descriptorRemarks, documentRemarks } from './remarks.ts'

/** The state of a module's folder. */
export interface CheckedFolder {
  /** Undefined when `module.json` is invalid. */
  descriptor: Descriptor | undefined
  /** The files that an installation would take, by path. */
  files: ReadonlyMap<string, Buffer>
  /** The declarations of the code; undefined without code, or when it was not loaded. */
  found: Inspection | undefined
  /** French sentences. */
  faults: string[]
  /** Mistakes that keep the module from nothing, as French sentences. */
  remarks: string[]
}

/** The search path of a child; nothing of the caller's environment reaches it. */
export const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The code must be loaded within this time. */
const LOAD_MS = 5_000
/** The time for the process to start on a busy machine. */
const START_MS = 30_000
/** Characters of what the code writes to the standard error. */
const MAX_SAID = 2_000

/** Returns the path of the folder that an author has typed. Throws a CommandError when there is none. */
export async function existingFolder(typed: string): Promise<string> {
  const folder = resolve(typed)
  if ((await stat(folder).catch(() => undefined))?.isDirectory()) return folder
  throw new CommandError(`${folder} n’est pas un dossier.`)
}

/** Checks a folder. Never rejects because of what the folder contains. */
export async function checkFolder(folder: string): Promise<CheckedFolder> {
  const faults: string[] = []
  const files = new Map<string, Buffer>()
  const take = async (name: string, most: number) => {
    const read = await readFolderFile(folder, name, most)
    if (typeof read === 'string') faults.push(read)
    else files.set(name, read)
    return typeof read === 'string' ? undefined : read
  }
  const text = await take('module.json', FILE_LIMITS.descriptor)
  const parsed = text && parseDescriptor(text.toString())
  if (parsed && 'reasons' in parsed)
    faults.push(
      ...parsed.reasons.map(
        ({ field, message }) => `module.json : ${field ? `${field} : ` : ''}${message}${field ? '' : jsonPlace(text)}`,
      ),
    )
  const descriptor = parsed && 'descriptor' in parsed ? parsed.descriptor : undefined
  if (!descriptor) return { descriptor, files, found: undefined, faults, remarks: [] }
  const pageFiles = descriptor.page?.files ?? []
  let ofPage = 0
  for (const name of pageFiles) ofPage += (await take(name, FILE_LIMITS.pageFile))?.length ?? 0
  if (ofPage > FILE_LIMITS.page) faults.push(PAGE_TOO_LARGE)
  const code = descriptor.has_backend ? await take(descriptor.backend, FILE_LIMITS.code) : undefined
  if (
    !descriptor.has_backend &&
    typeof (await readFolderFile(folder, descriptor.backend, FILE_LIMITS.code)) !== 'string'
  )
    faults.push(`module.json : has_backend : ${descriptor.backend} existe, mais has_backend n’est pas true`)
  if (code) faults.push(...lazyImports(code.toString(), descriptor.backend))
  const loaded = code && (await inspected(descriptor, files))
  const found = typeof loaded === 'string' ? undefined : loaded
  faults.push(...(typeof loaded === 'string' ? [loaded] : (found?.faults ?? [])))
  const hasPage = pageFiles.length > 0 || (found?.sections ?? null) !== null
  const document = files.get(pageFiles[0] ?? '')?.toString() ?? ''
  const remarks = [
    ...descriptorRemarks(text?.toString() ?? '', descriptor, hasPage),
    ...documentRemarks(document, pageFiles),
  ]
  return { descriptor, files, found, faults, remarks }
}

/** Returns ` (module.json:3:5)`, the place where a text stops being JSON; an empty text when Node does not tell it. */
function jsonPlace(text: Buffer): string {
  try {
    JSON.parse(text.toString().replace(/^\uFEFF/, ''))
    return ''
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : '') ?? []
    return line === undefined ? '' : ` (module.json:${line}:${column})`
  }
}

/** Comments name types, which nobody loads. A string such as an accept header may hold what looks like a comment. */
const STRING_OR_COMMENT =
  /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)|\/\*(?:[\s\S]*?\*\/|[\s\S]*$)|\/\/.*$/gm

/** Imports inside functions, which the load of the file does not show. */
function lazyImports(code: string, file: string): string[] {
  const names = Array.from(
    code
      .replace(STRING_OR_COMMENT, (_, string: string | undefined) => string ?? ' ')
      .matchAll(/\b(?:import|require)\s*\(\s*(['"])([^'"\n]{1,200})\1\s*\)/g),
    ([, , name = '']) => name,
  )
  return [...new Set(names)]
    .filter((name) => !name.startsWith('node:'))
    .slice(0, 5)
    .map((name) => `${file} importe « ${name} » dans une fonction : seuls des noms en « node: » sont possibles`)
}

/** Loads the code in a process of its own. Returns what it declares, or a sentence. */
async function inspected(
  { id, backend }: Descriptor,
  files: ReadonlyMap<string, Buffer>,
): Promise<Inspection | string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ops-panel-check-')))
  try {
    const placed = moduleFiles(folder, id)
    await placed.stage(files)
    await placed.replace()
    return await loadApart(folder, id, backend)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function loadApart(folder: string, id: string, file: string): Promise<Inspection | string> {
  const [program = '', ...args] = ownProgram()
  // Nothing of the caller's environment: the code of a module must not read the settings of a service.
  const child = spawn(program, [...args, 'inspect-module', folder, id, file], {
    cwd: folder,
    env: { PATH: SEARCH_PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_SAID)
  })
  return new Promise((resolve, reject) => {
    let late = setTimeout(() => settle(`${file} n’a pas pu être chargé : le programme n’a pas démarré`), START_MS)
    const settle = (result: Inspection | string) => {
      clearTimeout(late)
      child.kill('SIGKILL')
      resolve(result)
    }
    child.on('error', reject)
    child.on('message', (message) => {
      if (message === 'ready') {
        clearTimeout(late)
        const text = `${file} n’est pas chargé après ${LOAD_MS / 1000} s : son code bloque, ou attend hors d’une fonction`
        late = setTimeout(() => settle(text), LOAD_MS + 500)
        return
      }
      const { data } = Inspection.safeParse(message)
      settle(data ?? `${file} a envoyé un message inattendu`)
    })
    child.on('close', (code, signal) => {
      const last = said.trim().split('\n').slice(-12).join('\n')
      settle(
        `${file} a mis fin au programme pendant son chargement (${signal ?? `code ${code}`})${last ? ` :\n${last}` : ''}`,
      )
    })
  })
}
