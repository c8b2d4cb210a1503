import * as z from 'zod'
import { type ChannelRow, findChannel, LastAttempt } from '../../db/notifications/channels.ts'
import type { Database } from '../../db/libsql/database.ts'
import {
  ChannelKind,
  ChannelName,
  type ChannelSettings,
  Chosen,
  chosenOf,
  EVENT_NAMES,
  GivenSettings,
  openChannel,
  ShownSettings,
  shownSettings,
} from '../../notifications/notifications.ts'
import { SecretError, type Secrets } from '../../platform/secrets.ts'
import { fail } from '../services.ts'

/** More than anybody reads. */
export const MOST_CHANNELS = 50

/** The id of a channel. The schema accepts any string; a lookup in the database decides whether the channel exists. */
export const ChannelId = z.string().meta({
  id: 'ChannelId',
  description: 'Names a channel.',
  examples: ['2f1e0d3c4b5a697887969504'],
})

/** A channel as it is shown: of its secrets, whether they are set. */
export const Channel = z.object({
  id: ChannelId,
  name: ChannelName,
  kind: ChannelKind,
  settings: ShownSettings,
  ...Chosen.shape,
  enabled: z.boolean(),
  last: LastAttempt.nullable().meta({ description: 'The newest attempt to send something; null before the first.' }),
})
export type Channel = z.infer<typeof Channel>

const DESCRIPTION =
  'Each kind has settings of its own. `email`: `host`, `port`, `security`, `from`, `to`, and `username` with `password`. `ntfy`: `url`, `topic`, and `token`. `gotify`: `url`, `token`. `webhook`: `url`, `secret`. `apprise`: `url`, `key`. `matrix`: `url`, `room`, `token`. Each may have `allow_self_signed`.'

export const EXAMPLE_SETTINGS = {
  url: 'https://push.example',
  topic: 'ops-panel',
  token: 'tk_AgQdq7mVBoFD37zQVN29RhuMz',
}

const Settings = GivenSettings.meta({ description: DESCRIPTION })

const shape = { ...Chosen.shape, enabled: z.boolean() }

/** A new channel. By default it gets every notice, in French. */
export const NewChannel = z
  .strictObject({
    name: ChannelName,
    kind: ChannelKind,
    settings: Settings,
    events: shape.events.default([...EVENT_NAMES]),
    targets: shape.targets.default('all'),
    minimum: shape.minimum.default('info'),
    quiet: shape.quiet.default(null),
    language: shape.language.default('fr'),
    output: shape.output.default(false),
    enabled: shape.enabled.default(true),
  })
  .meta({ examples: [{ name: 'Astreinte', kind: 'ntfy', settings: EXAMPLE_SETTINGS, minimum: 'warning' }] })

/** Any subset of a channel. A setting that is left out stays, and so does an empty secret; `null` removes one. */
export const ChannelChange = z.strictObject({ name: ChannelName, settings: Settings, ...shape }).partial()

export const EXAMPLE_CHANNEL: Channel = {
  id: '2f1e0d3c4b5a697887969504',
  name: 'Astreinte',
  kind: 'ntfy',
  settings: { url: 'https://push.example', topic: 'ops-panel', allow_self_signed: false, token_set: true },
  events: ['regressed', 'schedule_stopped', 'host_unreachable'],
  targets: 'all',
  minimum: 'warning',
  quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Paris' },
  language: 'fr',
  output: false,
  enabled: true,
  last: { at: '2026-03-01T02:31:07.000Z', ok: true, error: null },
}

/** The settings of a stored channel. Secrets that another key sealed count as missing. */
export function settingsOf(row: ChannelRow, secrets: Secrets): ChannelSettings {
  try {
    return openChannel(row, secrets.open)
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    return openChannel(row, () => '{}')
  }
}

export function shownChannel(row: ChannelRow, secrets: Secrets): Channel {
  const { id, name, enabled, last } = row
  const kind = ChannelKind.parse(row.kind)
  return { id, name, kind, settings: shownSettings(kind, settingsOf(row, secrets)), ...chosenOf(row), enabled, last }
}

/**
 * A channel as the audit log has it, which keeps it for ever: of its secrets, whether they are set, and of its address,
 * whose path may be a secret, the scheme, host and port.
 */
export function channelForAudit(
  kind: ChannelKind,
  { name, enabled, chosen, settings }: { name: string; enabled: boolean; chosen: Chosen; settings: ChannelSettings },
): object {
  const { url, ...shown } = shownSettings(kind, settings)
  const place = typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : undefined
  return { name, enabled, ...chosen, ...shown, ...(place !== undefined && { url: place }) }
}

/** Reads a channel; throws `channel_missing`. */
export async function expectChannel(db: Database, id: string): Promise<ChannelRow> {
  const row = await findChannel(db, id)
  if (!row) throw fail('channel_missing')
  return row
}

/** Throws `channel_settings_invalid` for problems, each with its field. */
export function expectSound(problems: readonly { field: string; message: string }[]): void {
  if (problems.length === 0) return
  const details = problems.map(({ field, message }) => ({ field: `settings.${field}`, message }))
  throw fail('channel_settings_invalid', { details })
}

/** Names of what a channel chooses, each once. */
export function withoutRepeats({ events, targets, ...rest }: Chosen): Chosen {
  return { events: [...new Set(events)], targets: targets === 'all' ? targets : [...new Set(targets)], ...rest }
}

const ChosenChange = z.strictObject(Chosen.shape).partial()

/** The choices of a channel after a change. */
export function chosenAnew(former: Chosen, change: z.infer<typeof ChosenChange>): Chosen {
  return withoutRepeats({
    events: change.events ?? former.events,
    targets: change.targets ?? former.targets,
    minimum: change.minimum ?? former.minimum,
    quiet: change.quiet === undefined ? former.quiet : change.quiet,
    language: change.language ?? former.language,
    output: change.output ?? former.output,
  })
}

/** The names of what differs between two states of a channel. */
export function differing(before: object, after: object): string[] {
  const [one, other] = [
    new Map<string, unknown>(Object.entries(before)),
    new Map<string, unknown>(Object.entries(after)),
  ]
  const names = [...new Set([...one.keys(), ...other.keys()])]
  return names.filter((name) => JSON.stringify(one.get(name)) !== JSON.stringify(other.get(name)))
}
