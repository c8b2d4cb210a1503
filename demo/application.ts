import { createHash } from 'node:crypto'
import { VERSION_LINE } from '../functions/applications/run-script.ts'
import type { Program } from './process.ts'

/** The text that the imitated network gives for an address of code. */
export function codeOf(address: string): string {
  return `#!/usr/bin/env bash\n# ${address}\necho "Updated successfully!"\n`
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function digestOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Imitates `FETCH`. */
export const fetchCode: Program = async (addresses, { stdout }) => {
  for (const [at, address] of addresses.entries()) {
    const text = codeOf(address)
    await stdout(`file ${at} ${digestOfText(text)}\n ${Buffer.from(text).toString('base64')}\n`)
  }
  await stdout('end\n')
  return 0
}

/** Imitates `RUN_SCRIPT`: an application that its script brings to the next version. */
export const runApplication: Program = async (_words, { stdout }) => {
  await stdout(`Updated successfully!\n\n${VERSION_LINE}1.0 -> 1.1\n`)
  return 0
}
