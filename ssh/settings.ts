import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { parseAddress } from '../platform/addresses.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import { type SettingGroup, type SettingsStore, settingText } from '../settings/settings.ts'
import { sshFailure } from './codes.ts'
import { newSshKey, readSshKey, type SshKey } from './key.ts'

/** At least one character, no control characters, white space only between others. */
const TRIMMED = '^[^\\p{Cc}\\s]([^\\p{Cc}]*[^\\p{Cc}\\s])?$'

export const SshHost = settingText(255)
  .refine((value) => parseAddress(value) !== undefined, 'hôte, hôte:port ou [adresse IPv6]:port')
  .meta({ format: 'ssh-address', examples: ['pve1.example', 'pve1.example:2222', '[2001:db8::7]:22'] })
export const SshUsername = z
  .string()
  .max(256)
  .min(1, 'un nom d’utilisateur')
  .regex(/^[^\p{Cc}]*$/u, 'sans caractère de contrôle')
  .refine((value) => value === value.trim(), 'sans blanc au début ni à la fin')
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { pattern: TRIMMED }) })
export const SshPassword = settingText(1_024).meta({ pattern: '^[^\\u0000]*$' })

/**
 * A fingerprint as `ssh-keygen -l` writes it, with or without the key's type before it. An empty text trusts the next
 * key that answers.
 */
export const SshHostKey = z
  .string()
  .regex(/^$|^([\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$/, 'une empreinte « SHA256:… », précédée ou non du type de clé')

/** An ed25519 private key in OpenSSH's own form. Empty texts and keys alike; see `readSshKey`. */
export const SshPrivateKey = settingText(4_096).refine(
  (value) => value === '' || readSshKey(value) !== undefined,
  'une clé privée ed25519 d’OpenSSH, sans phrase secrète',
)

/**
 * The settings of the host and of the service account. `ssh_key_next` is a key that the host does not have yet, and
 * `ssh_key_retired` public keys that are still to be removed from it, one a line: the service alone sets the two.
 */
export const SSH_SETTINGS = {
  fields: {
    ssh_host: SshHost,
    ssh_username: SshUsername,
    ssh_password: SshPassword,
    ssh_key: SshPrivateKey,
    ssh_key_next: SshPrivateKey,
    ssh_key_retired: settingText(2_000),
    ssh_host_key: SshHostKey,
  },
  secrets: ['ssh_password', 'ssh_key', 'ssh_key_next'],
} as const satisfies SettingGroup

/** The address of the host and its trusted key (`ssh-ed25519 SHA256:…`; empty until the first key is pinned). */
export interface SshServer {
  /** The stored value of `ssh_host`. */
  address: string
  host: string
  port: number
  hostKey: string
}

/** The host with its service account, which has a key, a password or both. */
export interface SshAccount extends SshServer {
  username: string
  /** Empty for an account by key alone. */
  password: string
  /** The private key in OpenSSH's own form. */
  key?: string | undefined
}

export interface SshSettings {
  hasSshHost(): Promise<boolean>
  /** Whether `sshAccount` has an answer. Logs nothing when it has none. */
  hasSshAccount(): Promise<boolean>
  /** Returns the host for login checks. Throws `ssh_host_missing`. */
  sshServer(): Promise<SshServer>
  /** Returns the host with the service account. Throws `ssh_incomplete` or `ssh_password_unreadable`. */
  sshAccount(): Promise<SshAccount>
  /** Returns the service account's key, and the one that waits for the host; undefined for none that can be read. */
  sshKeys(): Promise<{ current: SshKey | undefined; next: SshKey | undefined }>
  /** Returns the public keys that may still be on the host although they are not used any more. */
  retiredSshKeys(): Promise<string[]>
  setRetiredSshKeys(keys: readonly string[]): Promise<void>
  /** Returns the key that waits for the host. Makes one if none waits. */
  nextSshKey(): Promise<SshKey>
  /**
   * Pins the key of the host at `address` if no key is pinned, and returns the pinned key. Returns undefined when the
   * settings name another address by now. The pinned key stays when the host changes, so that only the trusted host
   * receives the password.
   */
  pinHostKey(hostKey: string, address: string): Promise<string | undefined>
  /**
   * Fills the SSH settings that are empty or cannot be decrypted, unless the stored ones name another host. Resolves
   * to true when a setting was filled.
   */
  fillSsh(ssh: Config['ssh']): Promise<boolean>
}

type Key = keyof typeof SSH_SETTINGS.fields
type Secret = (typeof SSH_SETTINGS.secrets)[number]
type Store = Pick<SettingsStore<Key, Secret>, 'read' | 'noteUnreadable' | 'fill' | 'fillIfEmpty' | 'fillOnce'>
type Stored = Awaited<ReturnType<Store['read']>>

/** The reading of the SSH settings, over the stored ones. */
export function createSshSettings(store: Store, log: Log): SshSettings {
  const server = (stored: Stored): SshServer | undefined => {
    const address = stored.text('ssh_host')
    const parsed = parseAddress(address)
    return parsed && { address, ...parsed, hostKey: stored.text('ssh_host_key') }
  }

  return {
    hasSshHost: async () => server(await store.read()) !== undefined,
    async hasSshAccount() {
      const stored = await store.read()
      const secret = stored.secret('ssh_key') || stored.secret('ssh_password')
      return server(stored) !== undefined && stored.text('ssh_username') !== '' && Boolean(secret)
    },
    async sshServer() {
      const found = server(await store.read())
      if (!found) throw sshFailure('ssh_host_missing')
      return found
    },
    async sshAccount() {
      const stored = await store.read()
      const found = server(stored)
      const username = stored.text('ssh_username')
      const password = stored.secret('ssh_password')
      const key = stored.secret('ssh_key')
      if (!found || username === '' || (password === '' && key === '')) throw sshFailure('ssh_incomplete')
      // A secret that cannot be decrypted is not needed while the other one works.
      const unreadable = [
        ...(password === undefined ? [store.noteUnreadable('ssh_password')] : []),
        ...(key === undefined ? [store.noteUnreadable('ssh_key')] : []),
      ]
      if (!password && !key) throw sshFailure('ssh_password_unreadable', { cause: unreadable[0] })
      const privateKey = key && readSshKey(key)?.privateKey
      return { ...found, username, password: password ?? '', ...(privateKey && { key: privateKey }) }
    },
    async sshKeys() {
      const stored = await store.read()
      const read = (name: 'ssh_key' | 'ssh_key_next') => readSshKey(stored.secret(name) ?? '')
      return { current: read('ssh_key'), next: read('ssh_key_next') }
    },
    retiredSshKeys: async () =>
      (await store.read())
        .text('ssh_key_retired')
        .split('\n')
        .filter((key) => key !== ''),
    setRetiredSshKeys: (keys) => store.fill({ ssh_key_retired: keys.join('\n') }),
    async nextSshKey() {
      const waiting = readSshKey((await store.read()).secret('ssh_key_next') ?? '')
      if (waiting) return waiting
      const made = newSshKey().privateKey
      const counted = await store.fillOnce('ssh_key_next', made, (stored) => readSshKey(stored) !== undefined)
      // The waiting key of a moment ago has just been taken into use: the next one is another.
      return readSshKey(counted ?? '') ?? this.nextSshKey()
    },
    async pinHostKey(hostKey, address) {
      if (await store.fillIfEmpty('ssh_host_key', hostKey, { key: 'ssh_host', value: address }))
        log.info({ hostKey }, 'host key pinned at first use')
      const stored = await store.read()
      return stored.text('ssh_host') === address ? stored.text('ssh_host_key') : undefined
    },
    async fillSsh({ host, username, password, keyFile, hostKey }) {
      const stored = await store.read()
      if (host === '') return false
      const before = {
        ssh_host: stored.text('ssh_host'),
        ssh_username: stored.text('ssh_username'),
        ssh_password: stored.secret('ssh_password') ?? '',
        ssh_key: stored.secret('ssh_key') ?? '',
        ssh_host_key: stored.text('ssh_host_key'),
      }
      if (before.ssh_host !== '' && before.ssh_host !== host) {
        log.warn({ ssh_host: before.ssh_host }, 'PANEL_SSH_HOST is not used: another host is set already')
        return false
      }
      if (username !== '' && before.ssh_username !== '' && before.ssh_username !== username)
        log.warn({ ssh_username: before.ssh_username }, 'PANEL_SSH_USERNAME is not used: another one is set already')
      if (password !== '' && before.ssh_password !== '' && before.ssh_password !== password)
        log.warn('PANEL_SSH_PASSWORD is not used: another one is set already (change it by « settings set »)')
      // Later the file may be gone: the stored key counts.
      const key = keyFile === undefined || before.ssh_key !== '' ? '' : await readKeyFile(keyFile)
      const given = {
        ssh_host: host,
        ssh_username: username,
        ssh_password: password,
        ssh_key: key,
        ssh_host_key: hostKey,
      }
      const missing = KEYS.filter((key) => given[key] !== '' && before[key] === '')
      if (missing.length === 0) return false
      await store.fill(Object.fromEntries(missing.map((key) => [key, given[key]])))
      log.info({ filled: missing }, 'SSH settings filled from the environment')
      return true
    },
  }
}

const KEYS = ['ssh_host', 'ssh_username', 'ssh_password', 'ssh_key', 'ssh_host_key'] as const

/** Reads the file of `PANEL_SSH_KEY`; a file that has no usable key stops the start. */
async function readKeyFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error): never => {
    throw new ConfigError(`Configuration invalide :\n  PANEL_SSH_KEY : ${error.message}`)
  })
  const key = readSshKey(text)
  if (key) return key.privateKey
  throw new ConfigError(
    `Configuration invalide :\n  PANEL_SSH_KEY : ${file} n’est pas une clé privée ed25519 d’OpenSSH, sans phrase secrète`,
  )
}
