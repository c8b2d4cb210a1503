import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode, writeNew } from './whole-file.ts'

/** Who may install: whoever can read this machine's console or the data folder, and nobody who reaches the port first. */
export interface SetupToken {
  /** The token, made if there is none yet. */
  make(): Promise<string>
  matches(given: string): Promise<boolean>
  /** It is of no use any more. */
  remove(): Promise<void>
}

/** Kept in `<folder>/setup-token`, readable by its owner alone. */
export function createSetupToken(folder: string): SetupToken {
  const file = join(folder, 'setup-token')
  const read = async (): Promise<string> => {
    try {
      return (await readFile(file, 'utf8')).trim()
    } catch {
      return ''
    }
  }
  return {
    async make() {
      const known = await read()
      if (known !== '') return known
      // A full disk may have left one without a word in it.
      await rm(file, { force: true })
      await writeNew(file, `${randomBytes(18).toString('base64url')}\n`).catch((error: unknown) => {
        // Of two that start at once, both tell the first one's.
        if (!isCode(error, 'EEXIST')) throw error
      })
      return read()
    },
    async matches(given) {
      const [own, other] = [Buffer.from(await read()), Buffer.from(given)]
      return own.length > 0 && own.length === other.length && timingSafeEqual(own, other)
    },
    remove: () => rm(file, { force: true }),
  }
}
