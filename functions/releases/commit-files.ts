/*
 * Reads files of one commit, and proves that they are its. A forge takes a `ref` for a branch or a tag before it takes it
 * for a commit (Gitea: `getRefNameLegacy`), so that a branch with the name of a commit would replace its files. The
 * address of a tree names an object alone, and a tree names each file by the hash of its content.
 */

import { createHash } from 'node:crypto'
import { ForgeError } from '../forge/error.ts'
import { type FoundFile, folderEntries, type GitEntry, readFile } from '../registry/forge-files.ts'
import type { ForgeRequests } from '../registry/forge-requests.ts'

interface Home {
  org: string
  repository: string
}

interface Bounds {
  maxBytes: number
  signal: AbortSignal
}

/** The files of a commit. */
export interface CommitFiles {
  /**
   * Returns a file; undefined when the commit has none at this path. Rejects with a ForgeError: `missing` when the
   * repository has no such commit, `unreadable` when the file is too long, or when the forge sends other content.
   */
  read(path: string, bounds: Bounds): Promise<FoundFile | undefined>
}

export function commitFiles(requests: ForgeRequests, home: Home, commit: string): CommitFiles {
  const folders = new Map<string, Promise<readonly GitEntry[]>>()
  const folder = (id: string, signal: AbortSignal) => {
    const known = folders.get(id)
    if (known) return known
    const reading = folderEntries(requests, { ...home, id }, signal)
    folders.set(id, reading)
    return reading
  }

  const entryAt = async (path: string, signal: AbortSignal): Promise<GitEntry | undefined> => {
    const names = path.split('/')
    let id = commit
    for (const [at, name] of names.entries()) {
      const entry = (await folder(id, signal)).find((each) => each.path === name)
      if (at === names.length - 1 || entry?.kind !== 'folder') return at === names.length - 1 ? entry : undefined
      id = entry.id
    }
    return undefined
  }

  return {
    async read(path, { maxBytes, signal }) {
      const entry = await entryAt(path, signal)
      if (entry?.kind === 'link') return 'symlink'
      if (entry?.kind !== 'file') return undefined
      const found = await readFile(requests, { ...home, path, ref: commit }, { maxBytes, signal })
      if (found === 'lfs_pointer') return found
      if (Buffer.isBuffer(found) && isContent(found, entry.id)) return found
      throw new ForgeError('unreadable', `la forge n’envoie pas le fichier du commit ${commit}`)
    },
  }
}

/** Whether these bytes are the ones that Git has named by this hash. */
function isContent(bytes: Buffer, id: string): boolean {
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === id
}
