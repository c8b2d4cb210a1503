import * as z from 'zod'

/**
 * A text from outside for a column. A text with a NUL is stored as bytes, because libSQL cuts a text at its first NUL.
 */
export function storedText(text: string): string | Buffer {
  return text.includes('\0') ? Buffer.from(text) : text
}

/** Parses a column written with `storedText`. */
export const StoredText = z.union([
  z.string(),
  z.instanceof(ArrayBuffer).transform((bytes) => Buffer.from(bytes).toString()),
])

/** Whether an error says that another change is under way. This change was then not made. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
