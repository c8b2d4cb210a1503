import { resolve } from 'node:path'

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
