import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'

/** A key of the service account. */
export interface SshKey {
  /** The private half in OpenSSH's own form, without a passphrase. */
  privateKey: string
  /** The public half, as `ssh-ed25519 AAAA…`. */
  publicKey: string
  /** `SHA256:…`, as `ssh-keygen -l` writes it. */
  fingerprint: string
}

/** ssh2 presents no certificates, and a made key needs no choice: ed25519 is the one type. */
export const KEY_TYPE = 'ssh-ed25519'
const MAGIC = Buffer.from('openssh-key-v1\0')
const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----'
const END = '-----END OPENSSH PRIVATE KEY-----'
/** The PKCS #8 form of an ed25519 key up to its 32 bytes: RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** A key has some 400 characters. */
const MOST = 4_096

/** Makes a new key. */
export function newSshKey(): SshKey {
  const { d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return keyOf(Buffer.from(d, 'base64url'))
}

/**
 * Reads an ed25519 private key in OpenSSH's own form. Line ends may be missing, or written as `\n`. Returns undefined for
 * any other text: a key with a passphrase, of another type, or whose halves do not belong together.
 */
export function readSshKey(text: string): SshKey | undefined {
  if (text.length > MOST) return undefined
  const trimmed = text.replaceAll('\\n', '\n').trim()
  if (!trimmed.startsWith(BEGIN) || !trimmed.endsWith(END)) return undefined
  const body = Buffer.from(trimmed.slice(BEGIN.length, -END.length).replace(/\s/g, ''), 'base64')
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  try {
    const outer = reader(body.subarray(MAGIC.length))
    const [cipher, kdf] = [outer.field().toString(), outer.field().toString()]
    outer.field()
    if (cipher !== 'none' || kdf !== 'none' || outer.number() !== 1) return undefined
    const stated = outer.field()
    const inner = reader(outer.field())
    const [check, again] = [inner.number(), inner.number()]
    if (check !== again || inner.field().toString() !== KEY_TYPE) return undefined
    inner.field()
    const key = keyOf(inner.field().subarray(0, 32))
    return publicText(stated) === key.publicKey ? key : undefined
  } catch {
    return undefined
  }
}

/** The options of the key's line: sshd lets it run commands and open terminals, and nothing else. */
export const KEY_OPTIONS = 'restrict,pty'

/** Returns the line of `authorized_keys` for a key, with other options if there are some. */
export function authorizedLine({ publicKey }: Pick<SshKey, 'publicKey'>, options: string = KEY_OPTIONS): string {
  return `${options === '' ? '' : `${options} `}${publicKey} ops-panel`
}

/** `seed` has the 32 bytes of which everything else of an ed25519 key is made. */
function keyOf(seed: Buffer): SshKey {
  const whole = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(whole).export({ format: 'jwk' })
  const half = Buffer.from(x, 'base64url')
  const blob = Buffer.concat([field(KEY_TYPE), field(half)])
  // The same number twice tells a reader that it has decrypted the key. One key has one text.
  const check = createHash('sha256').update(blob).digest().subarray(0, 4)
  const secret = [check, check, field(KEY_TYPE), field(half), field(Buffer.concat([seed, half])), field('ops-panel')]
  const length = secret.reduce((sum, part) => sum + part.length, 0)
  const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, n) => n + 1))
  const none = [field('none'), field('none'), field(''), number(1)]
  const body = Buffer.concat([MAGIC, ...none, field(blob), field(Buffer.concat([...secret, padding]))])
  const lines = body.toString('base64').match(/.{1,70}/g) ?? []
  return {
    privateKey: `${[BEGIN, ...lines, END].join('\n')}\n`,
    publicKey: publicText(blob),
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
  }
}

function publicText(blob: Buffer): string {
  return `${KEY_TYPE} ${blob.toString('base64')}`
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A field of SSH: its length, then its bytes. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([number(bytes.length), bytes])
}

/** Reads fields one after the other; throws a RangeError at the end of the bytes. */
function reader(bytes: Buffer) {
  let at = 0
  const number = () => {
    const value = bytes.readUInt32BE(at)
    at += 4
    return value
  }
  return {
    number,
    field() {
      const length = number()
      if (at + length > bytes.length) throw new RangeError('a field ends after the key')
      at += length
      return bytes.subarray(at - length, at)
    },
  }
}
