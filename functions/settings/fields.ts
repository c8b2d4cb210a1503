import * as z from 'zod'
import { parseAddress } from '../../platform/addresses.ts'
import { isLink, SAFE_LINK, SAFE_LINK_TEXT } from '../../platform/links.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'

/** The format of the dashboard shortcuts. */
const Shortcuts = z
  .array(
    z.object({
      label: z.string().min(1).max(80),
      href: z
        .string()
        .max(2_000)
        .refine((href) => isLink(href, SAFE_LINK), SAFE_LINK_TEXT)
        .meta({ format: 'link', examples: ['/updates', 'https://pve1.example:8006'] }),
      icon: z.string().max(80).optional(),
    }),
  )
  .max(100)

/** A text without NUL, which neither a host nor a database accepts. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'caractère interdit')

/** A token of the hypervisor, without the characters that `text` excludes. */
const TOKEN = '^$|^[^\\s\\u0000@!=]+@[^\\s\\u0000@!=]+![^\\s\\u0000@!=]+=[0-9a-fA-F-]{36}$'
/** At least one character, no control characters, white space only between others. */
const TRIMMED = '^[^\\p{Cc}\\s]([^\\p{Cc}]*[^\\p{Cc}\\s])?$'

export const SshHost = text(255)
  .refine((value) => parseAddress(value) !== undefined, 'hôte, hôte:port ou [adresse IPv6]:port')
  .meta({ format: 'ssh-address', examples: ['pve1.example', 'pve1.example:2222', '[2001:db8::7]:22'] })
export const SshUsername = z
  .string()
  .max(256)
  .min(1, 'un nom d’utilisateur')
  .regex(/^[^\p{Cc}]*$/u, 'sans caractère de contrôle')
  .refine((value) => value === value.trim(), 'sans blanc au début ni à la fin')
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { pattern: TRIMMED }) })
export const SshPassword = text(1_024).meta({ pattern: '^[^\\u0000]*$' })
/** The fingerprint of a host's key in the notation of the check: an administrator compares it and sends it back. */
export const HostKey = z.string().meta({
  id: 'HostKey',
  description: 'The fingerprint of a host’s key, as `ssh-keygen -l` writes it.',
  examples: ['SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc'],
  override: { pattern: '^([\\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$' },
})

/**
 * A fingerprint as `ssh-keygen -l` writes it, with or without the key's type before it. An empty text trusts the next
 * key that answers.
 */
export const SshHostKey = z
  .string()
  .regex(/^$|^([\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$/, 'une empreinte « SHA256:… », précédée ou non du type de clé')
export const HypervisorUrl = text(2_000)
  .refine(
    (value) => value === '' || isLink(value, { notation: 'any' }),
    'une adresse https://hôte:port (ou http:), sans identifiants',
  )
  .meta({ format: 'url-without-credentials', examples: ['https://pve1.example:8006', ''] })
/** `user@realm!tokenid=uuid` of Proxmox VE. */
export const HypervisorToken = text(256)
  .regex(/^$|^[^\s@!=]+@[^\s@!=]+![^\s@!=]+=[0-9a-fA-F-]{36}$/, 'un jeton utilisateur@royaume!nom=uuid')
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { pattern: TOKEN }) })
/** SHA-256 of a certificate, as pairs of hexadecimal digits. */
const Fingerprint = z.string().regex(/^$|^([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}$/, 'une empreinte SHA-256 (AA:BB:…)')

/** JSON text of a list of `{label, href, icon?}`. */
export const DashboardShortcuts = z
  .string()
  .max(64 * 1024)
  .superRefine((value, { addIssue }) => {
    const parsed = checked(Shortcuts, parseJson(value))
    if (parsed.success) return
    const [issue] = parsed.error.issues
    addIssue(
      `le texte JSON d’une liste de {label, href, icon?} (${issue?.path.join('.') || 'liste'} : ${issue?.message})`,
    )
  })
  .meta({
    override({ jsonSchema }) {
      const { $schema, ...contentSchema } = z.toJSONSchema(Shortcuts, { io: 'input' })
      Object.assign(jsonSchema, { contentMediaType: 'application/json', contentSchema })
    },
  })

/** The example of the documents. */
export const EXAMPLE_SHORTCUTS = '[{"label":"Proxmox","href":"https://pve1.example:8006"}]'

/** Any subset of the settings. An unknown name is refused, because it is a misspelt setting. */
export const SettingsChange = z
  .strictObject({
    ssh_host: SshHost,
    ssh_username: SshUsername,
    ssh_password: SshPassword,
    ssh_host_key: SshHostKey,
    hypervisor_url: HypervisorUrl,
    hypervisor_token: HypervisorToken,
    hypervisor_fingerprint: Fingerprint,
    dashboard_shortcuts: DashboardShortcuts,
  })
  .partial()

/** Removes entries that are `undefined`. */
export function given(change: z.output<typeof SettingsChange>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
