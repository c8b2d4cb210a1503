import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileAtomically, isCode } from '../../platform/files.ts'

/**
 * Proof that an installer can read this machine's console or the data folder. It keeps everybody else who reaches the
 * port from installing.
 */
export interface SetupToken {
  /** Returns the token, and creates it if there is none. */
  make(): Promise<string>
  matches(given: string): Promise<boolean>
  /** Removes the token after the installation. */
  remove(): Promise<void>
}

/** Stores the token in `<folder>/setup-token`, readable by its owner alone. */
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
      // A full disk may have left an empty file.
      await rm(file, { force: true })
      await createFileAtomically(file, `${randomBytes(18).toString('base64url')}\n`).catch((error: unknown) => {
        // When two instances start at once, both return the first one's token.
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

/**
 * The setup token without a file: every instance derives the same token from the secret key, and the token does not
 * reveal the key.
 */
export function derivedSetupToken(secretKey: Buffer): SetupToken {
  const own = createHmac('sha256', secretKey).update('ops-panel setup token').digest('base64url').slice(0, 24)
  return {
    make: async () => own,
    async matches(given) {
      const [one, other] = [Buffer.from(own), Buffer.from(given)]
      return one.length === other.length && timingSafeEqual(one, other)
    },
    // A derived token is invalid once a host is configured.
    async remove() {},
  }
}
