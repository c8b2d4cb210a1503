import * as z from 'zod'
import { SETTINGS } from '../services.ts'

/** The fingerprint of a host's key in the notation of the check: an administrator compares it and sends it back. */
export const HostKey = z.string().meta({
  id: 'HostKey',
  description: 'The fingerprint of a host’s key, as `ssh-keygen -l` writes it.',
  examples: ['SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc'],
  override: { pattern: '^([\\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$' },
})

/** Any subset of the settings. An unknown name is refused, because it is a misspelt setting. */
export const ConsoleChange = z
  .strictObject(SETTINGS.fields)
  .omit({ ssh_key_next: true, ssh_key_retired: true, forge_token_origin: true })
  .partial()

/** The same for requests: a private key never comes from a browser. */
export const SettingsChange = ConsoleChange.omit({ ssh_key: true })

/** Removes entries that are `undefined`. */
export function given(change: z.output<typeof ConsoleChange>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
