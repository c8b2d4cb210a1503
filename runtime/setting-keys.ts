/** The settings by name: what may be shown, and what is kept sealed. */
const PLAIN = [
  'ssh_host',
  'ssh_username',
  'ssh_host_key',
  'hypervisor_url',
  'hypervisor_fingerprint',
  'dashboard_shortcuts',
] as const
export const SECRET = ['ssh_password', 'hypervisor_token'] as const
export type PlainKey = (typeof PLAIN)[number]
export type SecretKey = (typeof SECRET)[number]
export type SettingKey = PlainKey | SecretKey
export type SettingValues = Partial<Record<SettingKey, string>>

/** The settings as they may be shown: of a secret only whether there is one. */
export type ShownSettings = Record<PlainKey, string> & Record<`${SecretKey}_set`, boolean>

export function isSecret(key: SettingKey): key is SecretKey {
  return SECRET.some((secret) => secret === key)
}

/** The names of the values that are settings. */
export function keysOf<key extends SettingKey>(values: Partial<Record<key, string>>): key[] {
  const known: readonly string[] = [...PLAIN, ...SECRET]
  const isKey = (name: string): name is key => known.includes(name)
  return Object.keys(values).filter(isKey)
}
