import * as z from 'zod'
import type { Config } from '../../platform/config.ts'
import { isLink } from '../../platform/links.ts'
import { failuresOf } from '../../runtime/errors.ts'
import {
  type SettingGroup,
  type SettingsStore,
  settingText,
  type ShownOf,
  type ValuesOf,
} from '../../settings/settings.ts'
import { FORGE_ERRORS } from './codes.ts'

/** The address of a Gitea or Forgejo that modules are installed from, including its path. */
export interface ForgeAddress {
  url: string
  org: string
  token: string | undefined
  /** SHA-256 of the agreed certificate; absent or empty when a certificate authority vouches for it. */
  fingerprint?: string | undefined
}

const ForgeUrl = settingText(2_000)
  .refine(
    (value) => value === '' || isLink(value, { notation: 'plain' }),
    'l’adresse http: ou https: d’une forge, sans identifiants',
  )
  .meta({ format: 'url-without-credentials', examples: ['https://forge.example', ''] })
const ForgeOrg = z.string().regex(/^[\w.-]{0,100}$/, 'le nom d’une organisation de la forge')
const ForgeToken = z.string().regex(/^[\x21-\x7e]{0,1024}$/, 'un jeton sans espace')
/** SHA-256 of a certificate, as pairs of hexadecimal digits. */
const Fingerprint = z.string().regex(/^$|^([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}$/, 'une empreinte SHA-256 (AA:BB:…)')

/**
 * The settings of the forge. `forge_token_origin` is the only origin that gets the stored token: the service alone sets
 * it, together with the token.
 */
export const FORGE_SETTINGS = {
  fields: {
    forge_url: ForgeUrl,
    forge_org: ForgeOrg,
    forge_token: ForgeToken,
    forge_token_origin: settingText(300),
    forge_fingerprint: Fingerprint,
  },
  secrets: ['forge_token'],
} as const satisfies SettingGroup

type Key = keyof typeof FORGE_SETTINGS.fields
type Secret = (typeof FORGE_SETTINGS.secrets)[number]
/** The forge of the environment: `PANEL_FORGE_URL`, `PANEL_FORGE_ORG` and `PANEL_FORGE_TOKEN`. */
type Environment = Config['forge']
type Change = Omit<ValuesOf<Key>, 'forge_token_origin'>

export interface ForgeSettings {
  /**
   * Returns the forge in use: the stored settings, where the environment gives the ones that are not stored. Returns
   * undefined without an address or an organisation. Throws `forge_token_unreadable`.
   */
  forge(environment: Environment): Promise<ForgeAddress | undefined>
  /**
   * Returns the forge that a change would put in use. The stored token is left out (`isTokenHeld`) where the change
   * names another certificate, as nobody has agreed to that one yet.
   */
  forgeWith(change: Change, environment: Environment): Promise<(ForgeAddress & { isTokenHeld: boolean }) | undefined>
}

const fail = failuresOf(FORGE_ERRORS)

/** The reading of the forge's settings, over the stored ones. */
export function createForgeSettings(store: Pick<SettingsStore<Key, Secret>, 'read' | 'noteUnreadable'>): ForgeSettings {
  const forgeWith: ForgeSettings['forgeWith'] = async (change, environment) => {
    const stored = await store.read()
    const text = (name: 'forge_url' | 'forge_org' | 'forge_fingerprint') => change[name] ?? stored.text(name)
    const url = text('forge_url') || environment?.url || ''
    const origin = originOf(url)
    // The organisation and the token of the environment belong to its own address alone.
    const given = environment && originOf(environment.url) === origin ? environment : undefined
    const org = text('forge_org') || given?.org || ''
    if (url === '' || org === '') return undefined
    const fingerprint = text('forge_fingerprint')
    const address = { url, org, fingerprint, isTokenHeld: false }
    if (change.forge_token) return { ...address, token: change.forge_token }
    const own = stored.text('forge_token_origin') === origin ? stored.secret('forge_token') : ''
    if (own === undefined) throw fail('forge_token_unreadable', { cause: store.noteUnreadable('forge_token') })
    const token = own || given?.token
    const isTokenHeld = token !== undefined && fingerprint !== stored.text('forge_fingerprint')
    return { ...address, token: isTokenHeld ? undefined : token, isTokenHeld }
  }
  return {
    forgeWith,
    async forge(environment) {
      const found = await forgeWith({}, environment)
      return found && { url: found.url, org: found.org, token: found.token, fingerprint: found.fingerprint }
    },
  }
}

type Shown = ShownOf<Key, Secret>

/**
 * Binds the token of a change to the origin that it is for. An address of another origin forgets the stored token, which
 * is sent to no other site. Returns undefined for a token without any address.
 */
export function boundToken<values extends Change>(
  change: values,
  now: Pick<Shown, 'forge_url' | 'forge_token_origin' | 'forge_token_set'>,
  environment: Environment,
): { values: values & { forge_token_origin?: string }; removed: Secret[] } | undefined {
  const origin = originOf((change.forge_url ?? now.forge_url) || environment?.url || '')
  if (change.forge_token)
    return origin === '' ? undefined : { values: { ...change, forge_token_origin: origin }, removed: [] }
  const stays = change.forge_url === undefined || !now.forge_token_set || origin === now.forge_token_origin
  if (stays) return { values: change, removed: [] }
  return { values: { ...change, forge_token_origin: '' }, removed: ['forge_token'] }
}

/** Whether a change trusts another certificate for a token that is known already. */
export function trustsAnother(change: Change, now: Shown, environment: Environment): boolean {
  if (change.forge_token) return false
  const next = change.forge_fingerprint ?? now.forge_fingerprint
  const before = originOf(now.forge_url || environment?.url || '')
  const origin = originOf((change.forge_url ?? now.forge_url) || environment?.url || '')
  // A certificate that was accepted for one site is another one for a second site.
  if (next === now.forge_fingerprint && (next === '' || origin === before)) return false
  const isStored = now.forge_token_set && now.forge_token_origin === origin
  return isStored || (environment?.token !== undefined && originOf(environment.url) === origin)
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
