/** The names of the settings: plain ones may be shown, secret ones are stored sealed. */
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

/** The settings in the form that may be shown: a secret appears only as set or not set. */
export type ShownSettings = Record<PlainKey, string> & Record<`${SecretKey}_set`, boolean>

export function isSecret(key: SettingKey): key is SecretKey {
  return SECRET.some((secret) => secret === key)
}

/** Returns the names in `values` that are settings. */
export function keysOf<key extends SettingKey>(values: Partial<Record<key, string>>): key[] {
  const known: readonly string[] = [...PLAIN, ...SECRET]
  const isKey = (name: string): name is key => known.includes(name)
  return Object.keys(values).filter(isKey)
}
