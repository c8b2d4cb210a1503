import type { Channel, EventName, Kind } from './notification.ts'
import { leastOf, toldEvents } from './notification.ts'

/** The fields of each kind in their order. */
export const FIELDS = {
  email: ['host', 'port', 'security', 'username', 'password', 'from', 'to'],
  ntfy: ['url', 'topic', 'token'],
  gotify: ['url', 'token'],
  webhook: ['url', 'secret'],
  apprise: ['url', 'key'],
  matrix: ['url', 'room', 'token'],
} as const satisfies Readonly<Record<Kind, readonly string[]>>
export type FieldName = (typeof FIELDS)[Kind][number]

export const KINDS = ['ntfy', 'email', 'gotify', 'webhook', 'apprise', 'matrix'] as const satisfies readonly Kind[]
const SECRETS: ReadonlySet<string> = new Set(['password', 'token', 'secret', 'key'])

/** Whether the service keeps a field to itself: it says only that it is set. */
export function isSecret(field: FieldName): boolean {
  return SECRETS.has(field)
}

type Security = 'none' | 'starttls' | 'tls'

/** A channel as the form has it. A secret is empty where the stored one stays. */
export interface ChannelDraft {
  name: string
  kind: Kind
  fields: Readonly<Partial<Record<FieldName, string>>>
  selfSigned: boolean
  events: readonly EventName[]
  targets: 'all' | readonly string[]
  quiet: boolean
  from: string
  to: string
  timezone: string
  language: 'fr' | 'en'
  output: boolean
}

/** The values of a form as the service takes them. */
export interface ChannelBody {
  name: string
  settings: Record<string, unknown>
  events: EventName[]
  targets: 'all' | string[]
  minimum: Channel['minimum']
  quiet: Channel['quiet']
  language: 'fr' | 'en'
  output: boolean
}

/** The port of a mail server by its security. */
export const PORTS: Readonly<Record<Security, string>> = { none: '25', starttls: '587', tls: '465' }

interface Beginning {
  kind: Kind
  events: readonly EventName[]
  timezone: string
  language: 'fr' | 'en'
}

export function newChannel({ kind, events, timezone, language }: Beginning): ChannelDraft {
  return {
    name: '',
    kind,
    fields:
      kind === 'email'
        ? { security: 'starttls', port: PORTS.starttls }
        : kind === 'ntfy'
          ? { url: 'https://ntfy.sh' }
          : {},
    selfSigned: false,
    events,
    targets: 'all',
    quiet: false,
    from: '22:00',
    to: '07:00',
    timezone,
    language,
    output: false,
  }
}

export function channelDraft(channel: Channel, timezone: string): ChannelDraft {
  const { name, kind, settings, targets, quiet, language, output } = channel
  const fields: Partial<Record<FieldName, string>> = {}
  for (const field of FIELDS[kind]) {
    const value: unknown = Reflect.get(settings, field)
    if (Array.isArray(value)) fields[field] = value.join(', ')
    else if (typeof value === 'string' || typeof value === 'number') fields[field] = `${value}`
  }
  return {
    name,
    kind,
    fields,
    selfSigned: Reflect.get(settings, 'allow_self_signed') === true,
    events: toldEvents(channel),
    targets,
    quiet: quiet !== null,
    from: quiet?.from ?? '22:00',
    to: quiet?.to ?? '07:00',
    timezone: quiet?.timezone ?? timezone,
    language,
    output,
  }
}

/** Whether the service has the secret of a field. */
export function hasSecret(channel: Channel | undefined, field: FieldName): boolean {
  return channel !== undefined && Reflect.get(channel.settings, `${field}_set`) === true
}

/** The body of a request. A secret that is left empty is left out: the stored one stays. */
export function bodyOf(draft: ChannelDraft): ChannelBody {
  const { name, kind, fields, selfSigned, events, targets, quiet, from, to, timezone, language, output } = draft
  const settings: Record<string, unknown> = { allow_self_signed: selfSigned }
  for (const field of FIELDS[kind]) {
    const text = (fields[field] ?? '').trim()
    if (isSecret(field)) {
      if (text !== '') settings[field] = text
    } else if (field === 'port') settings[field] = /^\d{1,6}$/.test(text) ? Number(text) : 0
    else if (field === 'to') settings[field] = text.split(/[\s,;]+/).filter(Boolean)
    // An empty name means that the server asks for none, so its password goes, too.
    else if (field === 'username' && text === '') Object.assign(settings, { username: null, password: null })
    else settings[field] = text
  }
  if (settings.username === null) settings.password = null
  return {
    name: name.trim(),
    settings,
    events: [...events],
    targets: targets === 'all' ? 'all' : [...targets],
    minimum: leastOf(events),
    quiet: quiet ? { from, to, timezone } : null,
    language,
    output,
  }
}

/** The parts of the form that differ from the stored channel. */
export function changesOf(draft: ChannelDraft, stored: Channel): Partial<ChannelBody> {
  const typed = bodyOf(draft)
  const before = bodyOf(channelDraft(stored, draft.timezone))
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
  const settings = Object.fromEntries(
    Object.entries(typed.settings).filter(([name, value]) => !isSame(value, before.settings[name])),
  )
  const { settings: _, ...rest } = typed
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name, value]) => !isSame(value, Reflect.get(before, name)))),
    ...(Object.keys(settings).length > 0 && { settings }),
  }
}
