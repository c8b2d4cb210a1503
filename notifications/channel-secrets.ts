import * as z from 'zod'
import type { ChannelRow } from '../db/notifications/channels.ts'
import {
  ChannelKind,
  type ChannelSettings,
  type Chosen,
  chosenOf,
  type GivenSettings,
  isSecret,
  PlainSettings,
  SecretSettings,
  settingsOfKind,
  ShownSettings,
} from './channel.ts'

/*
 * The secrets of a channel: how they are stored, when a change needs them again, and what of them is shown. The address of a webhook
 * is one of them, because many services take whoever knows it for its owner.
 */

/** Whether the address of a channel of this kind is stored and shown as a secret. */
const hidesUrl = (kind: string) => kind === 'webhook'

/** The name under which a channel's secrets are sealed: those of one channel open in no other. */
export const sealName = (id: string) => `notification_channel:${id}`

type Seal = (name: string, text: string) => string

/** Returns the settings of a channel as its row stores them: those that are no secret as JSON, and the others sealed. */
export function sealedSettings(
  { id, kind }: Pick<ChannelRow, 'id' | 'kind'>,
  { plain, secrets }: ChannelSettings,
  seal: Seal,
): Pick<ChannelRow, 'settings' | 'secrets'> {
  const { url, ...rest } = plain
  const hides = hidesUrl(kind) && url !== undefined
  return {
    settings: JSON.stringify(hides ? rest : plain),
    secrets: seal(sealName(id), JSON.stringify(hides ? { ...secrets, url } : secrets)),
  }
}

/** A channel whose secrets are open: in memory only, while something is sent. */
export interface OpenChannel extends ChannelSettings {
  id: string
  name: string
  kind: ChannelKind
  chosen: Chosen
}

const Sealed = z.strictObject({ ...SecretSettings.shape, url: PlainSettings.shape.url })

/** Parses a stored channel. `open` decrypts its secrets, and may throw. */
export function openChannel(row: ChannelRow, open: (name: string, sealed: string) => string): OpenChannel {
  const { url, ...secrets } = Sealed.parse(JSON.parse(open(sealName(row.id), row.secrets)))
  return {
    id: row.id,
    name: row.name,
    kind: ChannelKind.parse(row.kind),
    plain: { ...PlainSettings.parse(JSON.parse(row.settings)), ...(url !== undefined && { url }) },
    secrets,
    chosen: chosenOf(row),
  }
}

/** Whether a former version has stored the row, with an address that is a secret now. */
export function hasBareUrl({ kind, settings }: Pick<ChannelRow, 'kind' | 'settings'>): boolean {
  return hidesUrl(kind) && PlainSettings.parse(JSON.parse(settings)).url !== undefined
}

/** Stands in place of a part of an address that is not shown. */
const CUT = '…'
/** A part of a path with so many characters may be a token. Names of hooks are shorter, and a part that is cut harms nobody. */
const TOKEN = 16

/** The parts of an address that whoever sees it must not learn. */
export function hiddenParts(kind: ChannelKind, { url }: PlainSettings): string[] {
  if (url === undefined || !hidesUrl(kind)) return []
  const { pathname, search } = new URL(url)
  return [
    ...pathname.split('/').filter((part) => part.length >= TOKEN),
    ...(search.length > 1 ? [search.slice(1)] : []),
  ]
}

/** Returns an address as it is shown: without the parts of the path that may be tokens, and without the query. */
function shownUrl(kind: ChannelKind, { url }: PlainSettings): string | undefined {
  if (url === undefined || hiddenParts(kind, { url }).length === 0) return url
  const { origin, pathname, search } = new URL(url)
  const path = pathname.split('/').map((part) => (part.length >= TOKEN ? CUT : part))
  return `${origin}${path.join('/')}${search.length > 1 ? `?${CUT}` : ''}`
}

/** Settings as they may be shown. */
export function shownSettings(kind: ChannelKind, { plain, secrets }: ChannelSettings): z.infer<typeof ShownSettings> {
  const flags = settingsOfKind(kind)
    .filter(isSecret)
    .map((name) => [`${name}_set`, secrets[name] !== undefined])
  const url = shownUrl(kind, plain)
  return ShownSettings.parse({
    allow_self_signed: false,
    ...plain,
    ...(url !== undefined && { url }),
    ...Object.fromEntries(flags),
  })
}

/** Returns what a change gives, without an address that is the shown form of the stored one: that one stays. */
export function withoutShownUrl(kind: ChannelKind, given: GivenSettings, former: PlainSettings): GivenSettings {
  const { url, ...rest } = given
  const isShown = url != null && hiddenParts(kind, former).length > 0 && url === shownUrl(kind, former)
  return isShown ? rest : given
}

/** Why a change needs the secrets again: they would go to another machine, or be sent with less protection. */
export type Asked = { because: 'elsewhere' | 'weaker'; fields: string[] }

/**
 * The secrets that a change would send to another machine than the one that they were given for, or over a connection that proves
 * less. A person who makes such a change must know them, or a stolen session could have them sent to a machine of its own.
 */
export function secretsToAsk(
  kind: ChannelKind,
  former: ChannelSettings,
  next: PlainSettings,
  given: GivenSettings,
): Asked | undefined {
  const isElsewhere = placeOf(former.plain) !== placeOf(next)
  if (!isElsewhere && !isWeaker(former.plain, next)) return undefined
  const fields = Object.keys(former.secrets).filter((name) => isSecret(name) && given[name] !== null && !given[name])
  // With another machine, the address is given anyway.
  if (!isElsewhere && !given.url && hiddenParts(kind, former.plain).length > 0) fields.push('url')
  return fields.length === 0 ? undefined : { because: isElsewhere ? 'elsewhere' : 'weaker', fields }
}

/** The machine that a channel sends to: the origin of its address, or the host and port of its mail server. */
function placeOf({ url, host, port }: PlainSettings): string {
  return url === undefined ? `${host?.toLowerCase()} ${port}` : new URL(url).origin
}

function isWeaker(former: PlainSettings, next: PlainSettings): boolean {
  const isUnproved = next.allow_self_signed === true && former.allow_self_signed !== true
  return isUnproved || (next.security === 'none' && former.security !== undefined && former.security !== 'none')
}
