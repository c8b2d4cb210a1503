/*
 * The files of a module on the disk: staged, put in place, rolled back. A service that is killed in the middle of a
 * change leaves either the complete new files or a way back to the previous ones.
 */

import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  chownTo,
  createFileAtomically,
  exists,
  isCode,
  makeFolder,
  type Owner,
  readIfExists,
  syncFolderOf,
} from '../platform/files.ts'

/**
 * The files of one module, in `<folder>/<id>`. New files are staged in `.<id>.new` and then replace the current ones,
 * which stay in `.<id>.old` until `cleanUp`. Each step may be repeated, also by the next start of the service.
 */
export interface ModuleFiles {
  /** Returns whether the module has files in place. */
  areInPlace(): Promise<boolean>
  /** Returns what is wrong with the files in place; undefined when they are those of this release. */
  fault(release: ReleaseFiles): Promise<FilesFault | undefined>
  /**
   * Stages files by their names, with the commit that they come from. They get the owner of the folder of modules, also
   * when root writes them.
   */
  stage(files: ReadonlyMap<string, Buffer>, commit?: string | null): Promise<void>
  /** Puts the staged files in place, if there are any, and the current ones aside. */
  replace(): Promise<void>
  /** Moves the current files aside. */
  putAside(): Promise<void>
  /** Restores the state before the change; `hadFiles` says whether the module had files then. */
  undo(hadFiles: boolean): Promise<void>
  /** Removes the staged and the previous files. */
  cleanUp(): Promise<void>
  /** Removes the current, the staged and the previous files. */
  remove(): Promise<void>
}

/** The names of a module's files, and the commit that they come from; null when they come from a folder. */
export interface ReleaseFiles {
  names: readonly string[]
  commit: string | null
}

/** The first missing file, or the other commit that the files in place come from. */
export type FilesFault = { missing: string } | { other: string }

/** Holds the commit of the files beside it. Neither code nor a file of a page can have this name. */
const RELEASE_FILE = '.release'

/**
 * Most bytes of a module's files, the same for their check, their installation and their use: of `module.json`, of the code
 * (about the size of this service with all its packages; a larger file is a mistake, and would stay in memory), of one file
 * of the page, and of all files of the page together.
 */
export const FILE_LIMITS = {
  descriptor: 64 * 1024,
  code: 5 * 1024 * 1024,
  pageFile: 5 * 1024 * 1024,
  page: 10 * 1024 * 1024,
} as const

/** Returns the files of the module `id` in a folder of modules. */
export function moduleFiles(folder: string, id: string): ModuleFiles {
  const current = join(folder, id)
  // No id of a module begins with a dot.
  const [staged, previous] = [join(folder, `.${id}.new`), join(folder, `.${id}.old`)]
  const removeFolder = (path: string) => rm(path, { recursive: true, force: true })
  let isStaged = false
  const putAside = async () => {
    if (!(await exists(current))) return
    await removeFolder(previous)
    await rename(current, previous)
    await syncFolderOf(current)
  }
  return {
    areInPlace: () => exists(current),
    async fault({ names, commit }) {
      for (const name of names) if (!(await exists(join(current, name)))) return { missing: name }
      // Version 0.1 did not write the commit down.
      const other = (await readIfExists(join(current, RELEASE_FILE)))?.trim()
      return names.length === 0 || !other || commit === null || other === commit ? undefined : { other }
    },
    async stage(files, commit = null) {
      await makeModulesFolder(folder)
      const owner = await stat(folder)
      await removeFolder(staged)
      await mkdir(staged, { mode: 0o700 })
      await chownTo(staged, owner)
      const all = commit === null ? files : new Map([...files, [RELEASE_FILE, Buffer.from(`${commit}\n`)]])
      for (const [name, bytes] of all) await writeInside(staged, name, bytes, owner)
      for (const folder of new Set([...all.keys()].map((name) => dirname(join(staged, name)))))
        await syncFolderOf(join(folder, RELEASE_FILE))
      isStaged = true
    },
    putAside,
    async replace() {
      if (!(await exists(staged))) {
        if (isStaged) throw new Error('les nouveaux fichiers du module ont disparu entre-temps')
        return
      }
      await putAside()
      await rename(staged, current)
      isStaged = false
      await syncFolderOf(current)
    },
    async undo(hadFiles) {
      await removeFolder(staged)
      if (!hadFiles) return removeFolder(current)
      if (!(await exists(previous))) return
      await removeFolder(current)
      await rename(previous, current)
      await syncFolderOf(current)
    },
    async cleanUp() {
      await removeFolder(staged)
      await removeFolder(previous)
    },
    async remove() {
      for (const path of [current, staged, previous]) await removeFolder(path)
    },
  }
}

const PLACE_FILE = '.place'

/**
 * Returns the id of a folder of modules, which the folder contains: other machines that share the database have folders
 * with the same path. Undefined when the folder has no id yet.
 */
export async function readPlace(folder: string): Promise<string | undefined> {
  return (await readIfExists(join(folder, PLACE_FILE)))?.trim() || undefined
}

/** Removes what services have left that were killed while they wrote the id of a folder of modules. */
export async function removeStrayPlaces(folder: string): Promise<void> {
  if (!(await exists(folder))) return
  for (const name of await readdir(folder))
    if (name.startsWith(`${PLACE_FILE}.`)) await rm(join(folder, name), { force: true })
}

/** Returns the id of a folder of modules. Creates the folder and the id where they are missing. */
export async function ensurePlace(folder: string): Promise<string> {
  const known = await readPlace(folder)
  if (known) return known
  await makeModulesFolder(folder)
  const file = join(folder, PLACE_FILE)
  const id = randomUUID()
  const create = () =>
    createFileAtomically(file, `${id}\n`).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error
    })
  // Another service that starts in this moment may take the staged file for one that was left behind.
  await create().catch((error: unknown) => (isCode(error, 'ENOENT') ? create() : Promise.reject(error)))
  await chownTo(file, await stat(folder))
  return (await readPlace(folder)) ?? id
}

async function makeModulesFolder(folder: string): Promise<void> {
  if (await exists(folder)) return
  await makeFolder(folder)
  await chownTo(folder, await stat(dirname(folder)))
}

async function writeInside(folder: string, name: string, bytes: Buffer, owner: Owner): Promise<void> {
  let inner = folder
  for (const part of name.split('/').slice(0, -1)) {
    inner = join(inner, part)
    if (await exists(inner)) continue
    await mkdir(inner, { mode: 0o700 })
    await chownTo(inner, owner)
  }
  const file = join(folder, name)
  await writeFile(file, bytes, { mode: 0o600, flag: 'wx', flush: true })
  await chownTo(file, owner)
}
