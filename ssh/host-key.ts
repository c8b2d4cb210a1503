import { createHash } from 'node:crypto'
import type { ServerHostKeyAlgorithm } from 'ssh2'

const KEY_ALGORITHMS: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

/** Returns the type and the SHA-256 fingerprint of a host key, in the format of `ssh-keygen -l`. */
export function fingerprint(key: Buffer): string {
  const type = key.toString('latin1', 4, 4 + key.readUInt32BE(0))
  return `${type} SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/**
 * Says whether a key with its type is the pinned one; a pinned key may lack the type. Every key matches an empty pin.
 */
export function matches(presented: string, pinned: string): boolean {
  return pinned === '' || presented === pinned || presented.endsWith(` ${pinned}`)
}

/** Returns the key types to offer, with the type of the pinned key first. */
export function keyAlgorithms(pinned: string): ServerHostKeyAlgorithm[] {
  const [type = ''] = pinned.split(' ')
  const wanted = (name: string) => name === type || (type === 'ssh-rsa' && name.startsWith('rsa-'))
  return [...KEY_ALGORITHMS.filter(wanted), ...KEY_ALGORITHMS.filter((name) => !wanted(name))]
}
