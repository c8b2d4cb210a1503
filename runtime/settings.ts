import type { Database } from '../db/client.ts'
import { readSettings, writeSettingOnce, writeSettings } from '../db/settings.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Config } from './config.ts'
import { Failure } from './errors.ts'
import type { Log } from './log.ts'
import { SecretError, type Secrets } from './secrets.ts'
import { parseAddress } from './ssh-address.ts'

/** Where to knock, and the key that must answer (`ssh-ed25519 SHA256:…`; empty until the first one is pinned). */
export interface SshServer {
  host: string
  port: number
  hostKey: string
}

/** The service account on that host. */
export interface SshAccount extends SshServer {
  username: string
  password: string
}

export interface Settings {
  hasSshHost(): Promise<boolean>
  /** The host of login checks. Throws `ssh_host_missing`. */
  sshServer(): Promise<SshServer>
  /** The host with the service account. Throws `ssh_incomplete` or `ssh_password_unreadable`. */
  sshAccount(): Promise<SshAccount>
  /** Pins a host key if none is pinned; returns the one that is pinned then. */
  pinHostKey(hostKey: string): Promise<string>
  /** Fills what is empty or can no longer be decrypted of the SSH settings, unless they speak of another host. */
  fill(ssh: Config['ssh']): Promise<void>
}

export function createSettings({
  db,
  secrets,
  clock,
  log,
}: {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
}): Settings {
  const now = () => timestamp(clock())
  const server = (values: Map<string, string>): SshServer | undefined => {
    const address = parseAddress(values.get('ssh_host') ?? '')
    return address && { ...address, hostKey: values.get('ssh_host_key') ?? '' }
  }
  const unreadable = (values: Map<string, string>): boolean => {
    try {
      secrets.open('ssh_password', values.get('ssh_password') ?? '')
      return false
    } catch {
      return true
    }
  }
  return {
    hasSshHost: async () => server(await readSettings(db)) !== undefined,
    async sshServer() {
      const found = server(await readSettings(db))
      if (!found) throw new Failure('ssh_host_missing')
      return found
    },
    async sshAccount() {
      const values = await readSettings(db)
      const found = server(values)
      const username = values.get('ssh_username') ?? ''
      const sealed = values.get('ssh_password') ?? ''
      if (!found || username === '' || sealed === '') throw new Failure('ssh_incomplete')
      try {
        return { ...found, username, password: secrets.open('ssh_password', sealed) }
      } catch (cause) {
        if (!(cause instanceof SecretError)) throw cause
        log.error('ssh_password cannot be decrypted: PANEL_SECRET_KEY or secret.key is not the one that encrypted it')
        throw new Failure('ssh_password_unreadable', { cause })
      }
    },
    async pinHostKey(hostKey) {
      if (await writeSettingOnce(db, 'ssh_host_key', hostKey, now()))
        log.info({ hostKey }, 'host key pinned at first use')
      return (await readSettings(db)).get('ssh_host_key') ?? ''
    },
    async fill({ host, username, password, hostKey }) {
      const stored = await readSettings(db)
      const isSet = (key: string) => (stored.get(key) ?? '') !== '' && !(key === 'ssh_password' && unreadable(stored))
      if (host === '') return
      if (isSet('ssh_host') && stored.get('ssh_host') !== host) {
        log.warn({ ssh_host: stored.get('ssh_host') }, 'PANEL_SSH_HOST is not used: another host is set already')
        return
      }
      const given = {
        ssh_host: host,
        ssh_username: username,
        ssh_password: password === '' ? '' : secrets.seal('ssh_password', password),
        ssh_host_key: hostKey,
      }
      if (username !== '' && isSet('ssh_username') && stored.get('ssh_username') !== username)
        log.warn(
          { ssh_username: stored.get('ssh_username') },
          'PANEL_SSH_USERNAME is not used: another one is set already',
        )
      const missing = Object.entries(given).filter(([key, value]) => value !== '' && !isSet(key))
      if (missing.length === 0) return
      await writeSettings(db, Object.fromEntries(missing), now())
      log.info({ filled: missing.map(([key]) => key), password }, 'SSH settings filled from the environment')
    },
  }
}
