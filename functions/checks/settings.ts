import * as z from 'zod'
import type { SettingGroup, SettingsStore } from '../../settings/settings.ts'

const DEFAULTS = { checks_automatic: 'on', checks_parallel: '6' } as const

const Automatic = z.enum(['on', 'off'])
/** The number as text, as all settings are. */
const Parallel = z.string().regex(/^([1-9]|1[0-6])$/, 'un nombre de 1 à 16')

/** The settings of checks. */
export const CHECKS_SETTINGS = {
  fields: { checks_automatic: Automatic, checks_parallel: Parallel },
  secrets: [],
  defaults: DEFAULTS,
} as const satisfies SettingGroup

export interface ChecksSettings {
  /**
   * Whether checks start by themselves, and how many targets one check of all inspects at a time. As many automatic
   * checks may run at once.
   */
  checks(): Promise<{ automatic: boolean; parallel: number }>
}

/** The reading of the settings of checks, over the stored ones. A value that cannot be read is the default. */
export function createChecksSettings(
  store: Pick<SettingsStore<keyof typeof CHECKS_SETTINGS.fields, never>, 'read'>,
): ChecksSettings {
  return {
    async checks() {
      const stored = await store.read()
      const parallel = Parallel.safeParse(stored.text('checks_parallel')).data ?? DEFAULTS.checks_parallel
      return { automatic: stored.text('checks_automatic') !== 'off', parallel: Number(parallel) }
    },
  }
}
