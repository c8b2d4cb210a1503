import { lstat, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode } from '../../platform/files.ts'
import { sizeText } from './forge-requests.ts'

/**
 * Returns the content of a file of a folder that holds a module, or a French sentence that says why it cannot be installed.
 * Links are not followed, not even to other files of the folder: a page would publish the keys of a clone.
 */
export async function readFolderFile(folder: string, name: string, most: number): Promise<Buffer | string> {
  try {
    const path = join(await realpath(folder), name)
    const found = await lstat(path)
    if (found.isSymbolicLink()) return `${name} est un lien symbolique`
    if ((await realpath(path)) !== path) return `${name} est derrière un lien symbolique`
    if (!found.isFile()) return `${name} n’est pas un fichier`
    if (found.size > most) return `${name} dépasse ${sizeText(most)}`
    return await readFile(path)
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return `${name} n’existe pas`
    return `${name} ne peut pas être lu (${error instanceof Error ? error.message : String(error)})`
  }
}
