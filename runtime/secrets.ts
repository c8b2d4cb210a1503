import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A sealed value that this key cannot open: another key made it, or it was changed. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

export interface Secrets {
  /** AES-256-GCM with a fresh nonce; `name` is bound in, so that a value cannot stand in for another. */
  seal(name: string, text: string): string
  /** Throws a SecretError when the value was not sealed under this name with this key. */
  open(name: string, sealed: string): string
}

const FORM = 'v1'
const NONCE = 12
const TAG = 16

/** `key` has 32 bytes. A sealed value is `v1.<base64url of nonce, tag and ciphertext>`. */
export function createSecrets(key: Buffer): Secrets {
  return {
    seal(name, text) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG }).setAAD(Buffer.from(name))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${FORM}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(name, sealed) {
      try {
        const [form, text = ''] = sealed.split('.')
        if (form !== FORM) throw new Error('unknown form')
        const bytes = Buffer.from(text, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
        decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
        return decipher.update(bytes.subarray(NONCE + TAG), undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        throw new SecretError(`${name} cannot be decrypted`, { cause })
      }
    },
  }
}

/** The key of `<folder>/secret.key`, made once, readable by its owner alone. */
export async function loadSecretKey(folder: string): Promise<Buffer> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'secret.key')
  const key = decodeKey((await readIfThere(file)) ?? (await makeKey(file)))
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes in base64`)
  await chmod(file, 0o600)
  return key
}

/** A link, unlike a rename, never replaces: of two who start at once, both read the first one's key. */
async function makeKey(file: string): Promise<string> {
  const fresh = `${file}.${randomUUID()}`
  await writeFile(fresh, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  try {
    await link(fresh, file)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    await unlink(fresh)
  }
  return readFile(file, 'utf8')
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function decodeKey(text: string): Buffer {
  return Buffer.from(text.trim(), 'base64')
}
