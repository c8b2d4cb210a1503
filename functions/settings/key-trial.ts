import type { Log } from '../../platform/log.ts'
import { acceptedKeys, createHost, MOST_KEYS, type SshAccount, SshError } from '../../ssh/ssh.ts'

/**
 * Says whether the host lets the account in with this key alone and runs a command, over a connection of its own. Rejects
 * with an SshError when the host gives no clear answer.
 */
export async function letsIn(account: SshAccount, key: string, log: Log): Promise<boolean> {
  const alone = { ...account, password: '', key }
  const settings = {
    sshServer: async () => alone,
    sshAccount: async () => alone,
    pinHostKey: async (seen: string) => seen,
  }
  const host = createHost({ settings, log })
  try {
    const { code } = await host.exec(['true'])
    if (code === 0) return true
    throw new SshError('refused', `${account.username} ne peut exécuter aucune commande avec cette clé`)
  } catch (error) {
    if (error instanceof SshError && error.reason === 'bad_credentials') return false
    throw error
  } finally {
    host.close()
  }
}

/** Returns the former public keys that the host accepts, and those about which it does not say. */
export async function stillAccepted(account: SshAccount, publicKeys: readonly string[]): Promise<string[]> {
  const accepted: string[] = []
  for (let first = 0; first < publicKeys.length; first += MOST_KEYS) {
    const some = publicKeys.slice(first, first + MOST_KEYS)
    try {
      accepted.push(...(await acceptedKeys(account, some)))
    } catch (error) {
      if (!(error instanceof SshError)) throw error
      // Each further question might cost the service a penalty of sshd.
      return [...accepted, ...publicKeys.slice(first)]
    }
  }
  return accepted
}
