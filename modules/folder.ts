import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
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
 * The files of one module, in `<folder>/<id>`. New ones are laid beside and then take the place of the old ones, which stay
 * at hand until all is well. Each step may be repeated, also by the next start of the service.
 */
export interface ModuleFiles {
  /** Whether there are any in place. */
  areThere(): Promise<boolean>
  /** Lays these beside, by name. What root makes in the folder of another account is that account's. */
  lay(files: ReadonlyMap<string, Buffer>): Promise<void>
  /** Puts what was laid beside in place, if anything was; the old ones are put aside. */
  replace(): Promise<void>
  /** Puts those in place aside. */
  putAside(): Promise<void>
  /** Back to how it was before; `before` is whether there were any. */
  undo(before: boolean): Promise<void>
  /** Forgets what lies beside. */
  settle(): Promise<void>
  /** Removes all of it. */
  remove(): Promise<void>
}

export function moduleFiles(folder: string, id: string): ModuleFiles {
  const place = join(folder, id)
  // No id begins with a dot.
  const [fresh, old] = [join(folder, `.${id}.new`), join(folder, `.${id}.old`)]
  const forget = (each: string) => rm(each, { recursive: true, force: true })
  let laid = false
  const putAside = async () => {
    if (!(await exists(place))) return
    await forget(old)
    await rename(place, old)
    await syncFolderOf(place)
  }
  return {
    areThere: () => exists(place),
    async lay(files) {
      await makeModulesFolder(folder)
      const owner = await stat(folder)
      await forget(fresh)
      await mkdir(fresh, { mode: 0o700 })
      await chownTo(fresh, owner)
      for (const [name, bytes] of files) await writeInside(fresh, name, bytes, owner)
      laid = true
    },
    putAside,
    async replace() {
      if (!(await exists(fresh))) {
        if (laid) throw new Error('les nouveaux fichiers du module ont disparu entre-temps')
        return
      }
      await putAside()
      await rename(fresh, place)
      laid = false
      await syncFolderOf(place)
    },
    async undo(before) {
      await forget(fresh)
      if (!before) return forget(place)
      if (!(await exists(old))) return
      await forget(place)
      await rename(old, place)
      await syncFolderOf(place)
    },
    async settle() {
      await forget(fresh)
      await forget(old)
    },
    async remove() {
      for (const each of [place, fresh, old]) await forget(each)
    },
  }
}

const PLACE = '.place'

/**
 * The name of a folder of modules, kept in it: other machines that share the database have folders by the same path.
 * Undefined when it has none yet.
 */
export async function knownPlace(folder: string): Promise<string | undefined> {
  return (await readIfExists(join(folder, PLACE)))?.trim() || undefined
}

/** The same, given to the folder if it has none, which is made if it is not there. */
export async function placeOf(folder: string): Promise<string> {
  const known = await knownPlace(folder)
  if (known) return known
  await makeModulesFolder(folder)
  const file = join(folder, PLACE)
  const name = randomUUID()
  await createFileAtomically(file, `${name}\n`).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error
  })
  await chownTo(file, await stat(folder))
  return (await knownPlace(folder)) ?? name
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
