import * as z from 'zod'
import { isLink } from '../../platform/links.ts'
import { failuresOf } from '../../runtime/errors.ts'
import { type SettingGroup, type SettingsStore, settingText } from '../../settings/settings.ts'
import { HYPERVISOR_ERRORS } from './codes.ts'

/** A token of the hypervisor, without the characters that `settingText` excludes. */
const TOKEN = '^$|^[^\\s\\u0000@!=]+@[^\\s\\u0000@!=]+![^\\s\\u0000@!=]+=[0-9a-fA-F-]{36}$'

export const HypervisorUrl = settingText(2_000)
  .refine(
    (value) => value === '' || isLink(value, { notation: 'any' }),
    'une adresse https://hôte:port (ou http:), sans identifiants',
  )
  .meta({ format: 'url-without-credentials', examples: ['https://pve1.example:8006', ''] })
/** `user@realm!tokenid=uuid` of Proxmox VE. */
export const HypervisorToken = settingText(256)
  .regex(/^$|^[^\s@!=]+@[^\s@!=]+![^\s@!=]+=[0-9a-fA-F-]{36}$/, 'un jeton utilisateur@royaume!nom=uuid')
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { pattern: TOKEN }) })
/** SHA-256 of a certificate, as pairs of hexadecimal digits. */
const Fingerprint = z.string().regex(/^$|^([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}$/, 'une empreinte SHA-256 (AA:BB:…)')

/** The settings of the hypervisor's API. */
export const HYPERVISOR_SETTINGS = {
  fields: { hypervisor_url: HypervisorUrl, hypervisor_token: HypervisorToken, hypervisor_fingerprint: Fingerprint },
  secrets: ['hypervisor_token'],
} as const satisfies SettingGroup

/** Address and credentials of the hypervisor’s API. */
export interface HypervisorAccess {
  url: string
  /** `user@realm!tokenid=uuid` */
  token: string
  /** SHA-256 of the trusted certificate; empty when a certificate authority vouches for it. */
  fingerprint: string
}

export interface HypervisorSettings {
  /** Returns undefined unless both address and token are set. Throws `hypervisor_token_unreadable`. */
  hypervisor(): Promise<HypervisorAccess | undefined>
}

type Key = keyof typeof HYPERVISOR_SETTINGS.fields
type Secret = (typeof HYPERVISOR_SETTINGS.secrets)[number]

const fail = failuresOf(HYPERVISOR_ERRORS)

/** The reading of the hypervisor's settings, over the stored ones. */
export function createHypervisorSettings(
  store: Pick<SettingsStore<Key, Secret>, 'read' | 'noteUnreadable'>,
): HypervisorSettings {
  return {
    async hypervisor() {
      const stored = await store.read()
      const [url, fingerprint] = [stored.text('hypervisor_url'), stored.text('hypervisor_fingerprint')]
      const token = stored.secret('hypervisor_token')
      if (url === '' || token === '') return undefined
      if (token !== undefined) return { url, token, fingerprint }
      throw fail('hypervisor_token_unreadable', { cause: store.noteUnreadable('hypervisor_token') })
    },
  }
}
