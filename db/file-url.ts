import { resolve } from 'node:path'

/** The address of a local database, in which libSQL reads `%41` as a letter and what follows `?` or `#` as something else. */
export function fileUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`
}

/** The file of a `file:` address; undefined for any other one. */
export function filePath(url: string): string | undefined {
  const [, path] = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/.exec(url) ?? []
  return path === undefined ? undefined : resolve(decodeURIComponent(path))
}
