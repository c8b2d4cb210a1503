import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import { createFileAtomically, exists, isCode, makeFolder } from './files.ts'

/** A sealed value cannot be opened: another key sealed it, or it was changed. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

export interface Secrets {
  /**
   * Encrypts by AES-256-GCM with a fresh nonce. The value is bound to `name`, so that it cannot replace another one.
   */
  seal(name: string, text: string): string
  /** Throws a SecretError when the value was not sealed under this name with this key. */
  open(name: string, sealed: string): string
  /**
   * Returns a short authentication code of the text, bound to `name`. It takes microseconds; only the key can make it.
   */
  mark(name: string, text: string): string
}

const FORM = 'v1'
const NONCE = 12
const TAG = 16
/** Bytes of a mark. */
const MARK = 16

/** `key` has 32 bytes. A sealed value is `v1.<base64url of nonce, tag and ciphertext>`. */
export function createSecrets(key: Buffer): Secrets {
  const hmac = (secret: Buffer, text: string) => createHmac('sha256', secret).update(text).digest()
  // The key itself only seals.
  const marking = hmac(key, 'ops-panel/mark')
  return {
    mark: (name, text) => hmac(marking, `${name}\0${text}`).toString('base64url', 0, MARK),
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

/** Returns the path of the key in the data folder. */
export function secretKeyFile(folder: string): string {
  return join(folder, 'secret.key')
}

/** Encodes a key as in files and variables: 32 bytes in base64. */
export function encodeKey(key: Buffer): string {
  return `${key.toString('base64')}\n`
}

/** Reads the key from `<folder>/secret.key`, and creates it if missing; only its owner can read it. */
export async function loadSecretKey(folder: string): Promise<Buffer> {
  await makeFolder(folder)
  const file = secretKeyFile(folder)
  if (!(await exists(file))) await makeKey(file)
  const key = await readSecretKey(folder)
  await chmod(file, 0o600)
  return key
}

/** Reads the same key, and rejects when it is missing. */
export async function readSecretKey(folder: string): Promise<Buffer> {
  const file = secretKeyFile(folder)
  const key = decodeKey(await readFile(file, 'utf8'))
  if (key.length !== 32) throw new ConfigError(`${file} ne contient pas 32 octets en base64.`)
  return key
}

/** If two processes start at once, the first key stays. */
async function makeKey(file: string): Promise<void> {
  try {
    await createFileAtomically(file, encodeKey(randomBytes(32)))
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
}

export function decodeKey(text: string): Buffer {
  return Buffer.from(text.trim(), 'base64')
}
