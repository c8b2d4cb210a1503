import { randomInt } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<unix seconds>-<8 of a-z, 0-9>` */
export function newJobId(now: Date): string {
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${Math.floor(now.getTime() / 1000)}-${random}`
}
