import type { ParsedKey } from 'ssh2'
import { SshError } from './connection.ts'
import { fingerprint, keyAlgorithms, matches } from './host-key.ts'
import type { SshAccount } from './settings.ts'

/** Time limit of the whole question. */
const PROBE_MS = 20_000
/** sshd ends a connection after six refused keys (MaxAuthTries), and counts it once in its penalties. */
export const MOST_KEYS = 5

/**
 * Returns those of at most five public keys with which the host would let the account in: sshd answers that before it
 * asks for a signature, and nothing is signed. Rejects with an SshError when the host does not answer for all of them.
 */
export async function acceptedKeys(
  { host, port, username, hostKey }: Omit<SshAccount, 'password' | 'key'>,
  publicKeys: readonly string[],
): Promise<string[]> {
  if (publicKeys.length === 0) return []
  if (publicKeys.length > MOST_KEYS) throw new RangeError(`at most ${MOST_KEYS} keys`)
  // ssh2 takes a tenth of the start-up time; see `connect`.
  const { default: ssh2 } = await import('ssh2')
  const client = new ssh2.Client()
  const accepted: string[] = []
  try {
    return await new Promise<string[]>((resolve, reject) => {
      const fail = (message: string, cause?: Error) => reject(new SshError('unreachable', message, { cause }))
      class Probe extends ssh2.BaseAgent<ParsedKey> {
        getIdentities(give: (error: undefined, keys: ParsedKey[]) => void): void {
          const keys = publicKeys.map((key) => ssh2.utils.parseKey(key))
          give(
            undefined,
            keys.flatMap((key) => (key instanceof Error ? [] : [key])),
          )
        }
        /** Called only for a key that the host accepts; the refusal to sign goes on to the next key. */
        sign(key: ParsedKey, _data: Buffer, options: unknown, done?: (error: Error) => void): void {
          const text = `${key.type} ${key.getPublicSSH().toString('base64')}`
          accepted.push(text)
          const refuse = typeof options === 'function' ? options : done
          refuse?.(new Error('only asked'))
        }
      }
      let tried = false
      client.on('error', (error: Error & { level?: string }) => {
        if (error.level === 'client-authentication') resolve(publicKeys.filter((key) => accepted.includes(key)))
        else if (error.level !== 'agent') fail(error.message, error)
      })
      client.on('close', () => fail('la connexion a été coupée'))
      client.connect({
        ...{ host, port, username, readyTimeout: PROBE_MS },
        authHandler: () => {
          if (tried) return false
          tried = true
          return { type: 'agent', username, agent: new Probe() }
        },
        hostVerifier: (key: Buffer) => matches(fingerprint(key), hostKey),
        algorithms: { serverHostKey: keyAlgorithms(hostKey) },
      })
    })
  } finally {
    client.destroy()
  }
}
