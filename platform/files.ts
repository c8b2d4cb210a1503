import { randomUUID } from 'node:crypto'
import { lchown, link, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Returns the text of a file; undefined when it does not exist. */
export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false
    throw error
  }
}

/**
 * Creates a folder and its missing parents, accessible to the owner only. Node's `recursive` is not used, because it
 * never returns on a file system that cannot create folders (/proc); this rejects with ENOENT there.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if (isCode(error, 'EEXIST') && (await stat(folder)).isDirectory()) return
    if (!isCode(error, 'ENOENT') || dirname(folder) === folder || (await exists(dirname(folder)))) throw error
    await makeFolder(dirname(folder))
    await makeFolder(folder)
  }
}

/** Creates a file, accessible to the owner only, completely or not at all. Rejects with EEXIST when it exists. */
export async function createFileAtomically(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomUUID()}`
  try {
    await writeDurably(fresh, text)
    await linkAtomically(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
}

/**
 * Replaces a file by a new one, accessible to the owner only. A reader sees the old or the new content, never a
 * mixture.
 */
export async function replaceFileAtomically(file: string, text: string, owner?: Owner): Promise<void> {
  const fresh = `${file}.${randomUUID()}`
  try {
    await writeDurably(fresh, text)
    if (owner) await chownTo(fresh, owner)
    await rename(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
  await syncFolderOf(file)
}

/**
 * Gives a finished file its name. Rejects with EEXIST when the name is taken: unlike a rename, a link never replaces.
 */
export async function linkAtomically(fresh: string, file: string): Promise<void> {
  try {
    await link(fresh, file)
  } catch (error) {
    // Some file systems have no links, such as FAT on a memory stick.
    if (isCode(error, 'EEXIST') || (await exists(file))) throw error
    await rename(fresh, file)
  }
  await rm(fresh, { force: true })
  await syncFolderOf(file)
}

/** Resolves when the written content of a file is safe from a loss of power. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The same for the entries of the file's folder. */
export function syncFolderOf(file: string): Promise<void> {
  return syncFile(dirname(file))
}

/** The owner of a file. */
export interface Owner {
  uid: number
  gid: number
}

/**
 * Changes the owner of a file if this process is root; any other account owns what it creates. Does not follow a link,
 * which another account could have placed for root. Does not open the file: closing it would release the locks that
 * SQLite holds on it in this process. Does nothing when the owner is right, because even root may lack this right.
 */
export async function chownTo(file: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0) return
  const now = await lstat(file)
  if (now.uid !== uid || now.gid !== gid) await lchown(file, uid, gid)
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/**
 * Returns the `file:` address of a local database. libSQL decodes `%41`, and `?` and `#` end the path, so all are
 * escaped.
 */
export function fileUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`
}

/** A local address: `file:<path>`, `file:///<path>` or `file://localhost/<path>`. */
const LOCAL = /^file:(?:\/\/(?:localhost)?(?=\/[^/]))?(?!\/\/)([^?#]+)$/

/**
 * Whether a `file:` address names exactly one file. An address with an invalid `%`, or with `?` or `#`, is refused,
 * because libSQL would silently open a different file.
 */
export function namesFile(url: string): boolean {
  const [, path] = LOCAL.exec(url) ?? []
  try {
    return path !== undefined && !decodeURIComponent(path).includes('\0')
  } catch {
    return false
  }
}

/** Returns the path of a `file:` address; undefined for any other address. */
export function filePath(url: string): string | undefined {
  const [, path] = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/.exec(url) ?? []
  return path === undefined ? undefined : resolve(decodeURIComponent(path))
}
