/*
 * Settings: the values that administrators set once for all instances, kept in the database, with secrets sealed. A
 * change is stored as a whole together with its audit entry, or not at all, and listeners hear of it afterwards. The
 * room must not know how SSH, the hypervisor or HTTP use a value. Without it, a crash in the middle of a change could
 * send a password to the wrong host.
 */

import type { Database, Statement } from '../db/libsql/database.ts'
import { pinHostKey, readSettings, writeFirstSettings, writeSettings } from '../db/settings.ts'
import { parseAddress } from '../platform/addresses.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import { SecretError, type Secrets } from '../platform/secrets.ts'
import { settingsFailure } from './codes.ts'
import type { HypervisorAccess } from './hypervisor-access.ts'
import {
  isSecret,
  keysOf,
  type PlainKey,
  SECRET,
  type SecretKey,
  type SettingKey,
  type SettingValues,
  type ShownSettings,
} from './keys.ts'

export { SETTINGS_ERRORS } from './codes.ts'
export type { HypervisorAccess } from './hypervisor-access.ts'
export type { SettingValues, ShownSettings } from './keys.ts'

/** The address of the host and its trusted key (`ssh-ed25519 SHA256:…`; empty until the first key is pinned). */
export interface SshServer {
  /** The stored value of `ssh_host`. */
  address: string
  host: string
  port: number
  hostKey: string
}

/** The host with its service account. */
export interface SshAccount extends SshServer {
  username: string
  password: string
}

export interface Settings {
  hasSshHost(): Promise<boolean>
  /** Returns the host for login checks. Throws `ssh_host_missing`. */
  sshServer(): Promise<SshServer>
  /** Returns the host with the service account. Throws `ssh_incomplete` or `ssh_password_unreadable`. */
  sshAccount(): Promise<SshAccount>
  /** Returns undefined unless both address and token are set. Throws `hypervisor_token_unreadable`. */
  hypervisor(): Promise<HypervisorAccess | undefined>
  /**
   * Pins the key of the host at `address` if no key is pinned, and returns the pinned key. Returns undefined when the
   * settings name another address by now.
   */
  pinHostKey(hostKey: string, address: string): Promise<string | undefined>
  show(): Promise<ShownSettings>
  /** Returns the stored secrets that cannot be decrypted because another key sealed them. */
  unreadable(): Promise<SecretKey[]>
  /**
   * Changes all of the values or none, and returns the keys whose value changed. An empty secret means no change. The
   * pinned key stays when the host changes, so that only the trusted host receives the password. The audit entry is
   * stored in the same transaction; `audit` builds it from the names of all changed settings and from the old and new
   * values of plain ones.
   */
  change(values: SettingValues, audit?: (details: Record<string, string>) => Statement): Promise<SettingKey[]>
  /** Stores the first settings; returns false and changes nothing when an SSH host is set already. */
  install(values: SettingValues & { ssh_host: string }, audit?: Statement): Promise<boolean>
  /** Calls `listener` with the keys after each change made by this instance. */
  onChange(listener: (keys: readonly SettingKey[]) => void): void
  /**
   * Fills the SSH settings that are empty or cannot be decrypted, unless the stored ones name another host. Resolves
   * to true when a setting was filled.
   */
  fill(ssh: Config['ssh']): Promise<boolean>
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
  const listeners: ((keys: readonly SettingKey[]) => void)[] = []
  const now = () => timestamp(clock())

  const server = (values: Map<string, string>): SshServer | undefined => {
    const address = parseAddress(values.get('ssh_host') ?? '')
    return address && { address: values.get('ssh_host') ?? '', ...address, hostKey: values.get('ssh_host_key') ?? '' }
  }

  /** Returns the secret; empty when none is stored, undefined when it cannot be decrypted. */
  const openSecret = (values: Map<string, string>, key: SecretKey): string | undefined => {
    const sealed = values.get(key) ?? ''
    if (sealed === '') return ''
    try {
      return secrets.open(key, sealed)
    } catch (error) {
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  const current = (values: Map<string, string>, key: SettingKey): string | undefined =>
    isSecret(key) ? openSecret(values, key) : (values.get(key) ?? '')

  /** Returns the values to store: secrets are sealed, empty secrets are left out. */
  const sealed = (values: SettingValues): Record<string, string> =>
    Object.fromEntries(
      keysOf(values).flatMap((key) => {
        const value = values[key]
        if (value === undefined || (isSecret(key) && value === '')) return []
        return [[key, isSecret(key) ? secrets.seal(key, value) : value]]
      }),
    )

  const tellUnreadable = (key: SecretKey) =>
    log.error(
      `${key} cannot be decrypted: PANEL_SECRET_KEY or secret.key is not the one that encrypted it; bring that key back, or set it anew`,
    )

  const tell = (keys: readonly SettingKey[]) => {
    for (const listener of listeners) listener(keys)
  }

  return {
    hasSshHost: async () => server(await readSettings(db)) !== undefined,
    async sshServer() {
      const found = server(await readSettings(db))
      if (!found) throw settingsFailure('ssh_host_missing')
      return found
    },
    async sshAccount() {
      const values = await readSettings(db)
      const found = server(values)
      const username = values.get('ssh_username') ?? ''
      const password = openSecret(values, 'ssh_password')
      if (!found || username === '' || password === '') throw settingsFailure('ssh_incomplete')
      if (password !== undefined) return { ...found, username, password }
      tellUnreadable('ssh_password')
      throw settingsFailure('ssh_password_unreadable', { cause: new SecretError('ssh_password cannot be decrypted') })
    },
    async hypervisor() {
      const values = await readSettings(db)
      const [url, fingerprint] = [values.get('hypervisor_url') ?? '', values.get('hypervisor_fingerprint') ?? '']
      const token = openSecret(values, 'hypervisor_token')
      if (url === '' || token === '') return undefined
      if (token !== undefined) return { url, token, fingerprint }
      tellUnreadable('hypervisor_token')
      throw settingsFailure('hypervisor_token_unreadable', {
        cause: new SecretError('hypervisor_token cannot be decrypted'),
      })
    },
    async pinHostKey(hostKey, address) {
      if (await pinHostKey(db, { hostKey, address }, now())) log.info({ hostKey }, 'host key pinned at first use')
      const values = await readSettings(db)
      return values.get('ssh_host') === address ? (values.get('ssh_host_key') ?? '') : undefined
    },
    async show() {
      const values = await readSettings(db)
      const text = (key: PlainKey) => values.get(key) ?? ''
      const isSet = (key: SecretKey) => (values.get(key) ?? '') !== ''
      return {
        ssh_host: text('ssh_host'),
        ssh_username: text('ssh_username'),
        ssh_password_set: isSet('ssh_password'),
        ssh_host_key: text('ssh_host_key'),
        hypervisor_url: text('hypervisor_url'),
        hypervisor_token_set: isSet('hypervisor_token'),
        hypervisor_fingerprint: text('hypervisor_fingerprint'),
        dashboard_shortcuts: text('dashboard_shortcuts') || '[]',
      }
    },
    async unreadable() {
      const values = await readSettings(db)
      const found = SECRET.filter((key) => openSecret(values, key) === undefined)
      for (const key of found) tellUnreadable(key)
      return found
    },
    async change(given, audit) {
      const stored = await readSettings(db)
      const written = sealed(given)
      const changed = keysOf(given).filter((key) => key in written && given[key] !== current(stored, key))
      // Writes every value, including those that seem unchanged: another change may be under way.
      await writeSettings(
        db,
        written,
        now(),
        audit && changed.length > 0 ? [audit(detailsOf(stored, given, changed))] : [],
      )
      if (changed.length === 0) return []
      log.info({ changed }, 'settings changed')
      tell(changed)
      return changed
    },
    async install(values, audit) {
      const installed = await writeFirstSettings(db, sealed(values), now(), audit ? [audit] : [])
      if (installed) tell(keysOf(values))
      return installed
    },
    onChange(listener) {
      listeners.push(listener)
    },
    async fill({ host, username, password, hostKey }) {
      const stored = await readSettings(db)
      const isSet = (key: SettingKey) => (current(stored, key) ?? '') !== ''
      if (host === '') return false
      if (isSet('ssh_host') && stored.get('ssh_host') !== host) {
        log.warn({ ssh_host: stored.get('ssh_host') }, 'PANEL_SSH_HOST is not used: another host is set already')
        return false
      }
      if (username !== '' && isSet('ssh_username') && stored.get('ssh_username') !== username)
        log.warn(
          { ssh_username: stored.get('ssh_username') },
          'PANEL_SSH_USERNAME is not used: another one is set already',
        )
      if (password !== '' && isSet('ssh_password') && current(stored, 'ssh_password') !== password)
        log.warn('PANEL_SSH_PASSWORD is not used: another one is set already (change it by « settings set »)')
      const given = { ssh_host: host, ssh_username: username, ssh_password: password, ssh_host_key: hostKey }
      const missing = keysOf(given).filter((key) => given[key] !== '' && !isSet(key))
      if (missing.length === 0) return false
      await writeSettings(db, sealed(Object.fromEntries(missing.map((key) => [key, given[key]]))), now())
      log.info({ filled: missing }, 'SSH settings filled from the environment')
      return true
    },
  }
}

/** Characters of a value in the audit log. Only a list of shortcuts can be longer. */
const NOTED = 500

/** Returns the details of a change for the audit log: every name, and the old and new value of plain settings. */
function detailsOf(
  stored: ReadonlyMap<string, string>,
  given: SettingValues,
  changed: readonly SettingKey[],
): Record<string, string> {
  const noted = (text: string) => (text.length > NOTED ? `${text.slice(0, NOTED)}…` : text)
  const values = changed.flatMap((key) =>
    isSecret(key)
      ? []
      : [
          [`${key}_before`, noted(stored.get(key) ?? '')],
          [`${key}_after`, noted(given[key] ?? '')],
        ],
  )
  return { keys: changed.join(', '), ...Object.fromEntries(values) }
}
