import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'

const COUNT = 10
/** Random bytes of a code: 120 bits, so that a plain hash hides it. */
const BYTES = 15
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Recovery codes in an answer: the only one that shows them. */
export const RecoveryCodes = z.array(z.string()).meta({
  description: 'Ten codes, each of which replaces a factor once. They are shown now and never again.',
})

export const EXAMPLE_CODES = ['LV3O-4YQA-7PZM-XE2C-K6TN-WB5D', 'TGKW-5NRD-QJ6B-HU4S-2MAE-YC7P']

/** Makes ten codes, and the hashes under which they are stored. */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: COUNT }, newCode)
  return { codes, hashes: codes.map(recoveryHash) }
}

/** Returns the hash of a code, however it was typed: without spaces and dashes, in capitals. */
export function recoveryHash(code: string): string {
  const plain = code.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase()
  return createHash('sha256').update(plain).digest('hex')
}

/** 24 letters in groups of four: each is five of the random bits. */
function newCode(): string {
  const bits = [...randomBytes(BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = bits.replaceAll(/.{5}/g, (five) => LETTERS[Number.parseInt(five, 2)] ?? '')
  return letters.replaceAll(/(.{4})(?=.)/g, '$1-')
}
