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

/** The type and the SHA-256 fingerprint of a host key, as `ssh-keygen -l` writes it. */
export function fingerprint(key: Buffer): string {
  const type = key.toString('latin1', 4, 4 + key.readUInt32BE(0))
  return `${type} SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** Whether a key, with its type, is the pinned one, which may be without it; any is where none is pinned. */
export function matches(presented: string, pinned: string): boolean {
  return pinned === '' || presented === pinned || presented.endsWith(` ${pinned}`)
}

/** What to ask a host for, the type of the pinned key first. */
export function keyAlgorithms(pinned: string): ServerHostKeyAlgorithm[] {
  const [type = ''] = pinned.split(' ')
  const wanted = (name: string) => name === type || (type === 'ssh-rsa' && name.startsWith('rsa-'))
  return [...KEY_ALGORITHMS.filter(wanted), ...KEY_ALGORITHMS.filter((name) => !wanted(name))]
}
