import * as z from 'zod'

/** Somebody else's text for a column: libSQL ends a text at its first NUL, so one that has such goes in as bytes. */
export function storedText(text: string): string | Buffer {
  return text.includes('\0') ? Buffer.from(text) : text
}

/** Such a text as it comes back. */
export const StoredText = z.union([
  z.string(),
  z.instanceof(ArrayBuffer).transform((bytes) => Buffer.from(bytes).toString()),
])

/** Another one's change is under way: this one has not been made. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
