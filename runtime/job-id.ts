import { randomBytes, randomInt } from 'node:crypto'
import * as z from 'zod'

/** Names a job. Whether there is one by a name is the database's to say. */
export const JobId = z.string().meta({
  id: 'JobId',
  description: 'Names a job.',
  examples: ['1772366400-k3x9q2pa'],
  override: { pattern: '^[0-9]+-[a-z0-9]{8}$' },
})

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<unix seconds>-<8 of a-z, 0-9>` */
export function newJobId(now: Date): string {
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${Math.floor(now.getTime() / 1000)}-${random}`
}

/** Names a job's folder on the host, where everybody can list it: nothing of the id can be told from it. */
export function newJobFolder(): string {
  return randomBytes(16).toString('hex')
}
