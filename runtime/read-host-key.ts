import { connect, SshError } from './ssh-connection.ts'

/** No key has this fingerprint, so that nothing is said to who answers. */
const NO_KEY = 'SHA256:'

/** The key that answers there, as `ssh-ed25519 SHA256:…`; no name and no password is sent. Rejects with an SshError. */
export async function readHostKey(server: { host: string; port: number }): Promise<string> {
  try {
    const connection = await connect({ ...server, address: '', username: 'nobody', password: '', hostKey: NO_KEY })
    connection.destroy()
  } catch (error) {
    if (error instanceof SshError && error.reason === 'host_key_changed' && error.hostKey) return error.hostKey
    throw error
  }
  throw new SshError('unreachable', 'aucune clé n’a été présentée')
}
