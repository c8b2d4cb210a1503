import { randomUUID } from 'node:crypto'
import { lchown, link, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The text of a file; undefined when it is not there. */
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
 * Makes a folder for its owner alone, with those above it. Not by Node's `recursive`, which goes round for ever where a
 * file system makes no folders (/proc). Rejects with ENOENT there.
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

/** Writes a file for its owner alone that appears whole, or not at all. Rejects with EEXIST when there is one. */
export async function createFileAtomically(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomUUID()}`
  try {
    await writeDurably(fresh, text)
    await linkAtomically(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Writes a file for its owner alone in place of the one that is there: who reads it sees the one or the other, whole. */
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

/** Gives a finished file its name. Rejects with EEXIST when another one has it: a link, unlike a rename, never replaces. */
export async function linkAtomically(fresh: string, file: string): Promise<void> {
  try {
    await link(fresh, file)
  } catch (error) {
    // A memory stick may know no links.
    if (isCode(error, 'EEXIST') || (await exists(file))) throw error
    await rename(fresh, file)
  }
  await rm(fresh, { force: true })
  await syncFolderOf(file)
}

/** Waits until what was written of a file will survive a loss of power. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The same for the names in its folder. */
export function syncFolderOf(file: string): Promise<void> {
  return syncFile(dirname(file))
}

/** Whose a file is. */
export interface Owner {
  uid: number
  gid: number
}

/**
 * Only root can give files away; for others every file they make is theirs, as it should be. Never what a link leads to,
 * which who may write in the folder could lay for root; and without opening the file: closing it again would end the
 * locks that SQLite holds on it in this process. What is theirs already is left alone: root may have been deprived of that right.
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

/** The address of a local database, in which libSQL reads `%41` as a letter and what follows `?` or `#` as something else. */
export function fileUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`
}

/** The form of a local address: `file:<path>`, `file:///<path>` or `file://localhost/<path>`. */
const LOCAL = /^file:(?:\/\/(?:localhost)?(?=\/[^/]))?(?!\/\/)([^?#]+)$/

/**
 * Whether a `file:` address names one file, and that one. A `%` that begins no character, a `?` or a `#` stand for themselves
 * in no address: what would be opened is another file than the one that was meant, in silence.
 */
export function namesFile(url: string): boolean {
  const [, path] = LOCAL.exec(url) ?? []
  try {
    return path !== undefined && !decodeURIComponent(path).includes('\0')
  } catch {
    return false
  }
}

/** The file of a `file:` address; undefined for any other one. */
export function filePath(url: string): string | undefined {
  const [, path] = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/.exec(url) ?? []
  return path === undefined ? undefined : resolve(decodeURIComponent(path))
}
