import type { Answer } from '../../client/index.ts'

export type Channel = Answer<'GET /api/notifications/channels'>['channels'][number]
export type Kind = Channel['kind']
export type EventName = Channel['events'][number]
export type Severity = Channel['minimum']
export type Notice = Answer<'GET /api/notifications/notices'>['notices'][number]
export type Delivery = Notice['deliveries'][number]

/** The severity of each event, as the service has it. */
export const SEVERITIES: Readonly<Record<EventName, Severity>> = {
  regressed: 'critical',
  rollback_failed: 'critical',
  schedule_stopped: 'critical',
  host_unreachable: 'critical',
  upgrade_failed: 'warning',
  rolled_back: 'warning',
  schedule_missed: 'warning',
  check_failed: 'warning',
  disk_low: 'warning',
  module_taken_out: 'warning',
  security_updates_available: 'warning',
  reboot_required: 'warning',
  sign_in_from_new_address: 'warning',
  upgrade_done: 'info',
  updates_available: 'info',
  settings_changed: 'info',
}

const RANK: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 }

/** The severities, the worst first. */
export const ORDER = ['critical', 'warning', 'info'] as const satisfies readonly Severity[]

/** The events of a severity. */
export function eventsOf(severity: Severity): EventName[] {
  return ALL_EVENTS.filter((name) => SEVERITIES[name] === severity)
}

const ALL_EVENTS: readonly EventName[] = Object.keys(SEVERITIES).filter(isEvent)

function isEvent(name: string): name is EventName {
  return Object.hasOwn(SEVERITIES, name)
}

/** The events that a channel is told of: those that it names and that are grave enough. */
export function toldEvents({ events, minimum }: Pick<Channel, 'events' | 'minimum'>): EventName[] {
  return ALL_EVENTS.filter((name) => events.includes(name) && RANK[SEVERITIES[name]] >= RANK[minimum])
}

/** The least severity of these events. */
export function leastOf(events: readonly EventName[]): Severity {
  return [...ORDER].reverse().find((severity) => events.some((name) => SEVERITIES[name] === severity)) ?? 'info'
}

/** Whether a channel gets all events of its least severity and of all above, so that one word says which. */
export function isWhole(events: readonly EventName[]): boolean {
  const least = RANK[leastOf(events)]
  return ALL_EVENTS.every((name) => RANK[SEVERITIES[name]] < least || events.includes(name))
}

/**
 * How a channel stands by its last delivery. `refused`: what was refused is tried again. `given_up`: it is not. `lost`: the channel
 * works, but a message was given up before.
 */
export type ChannelStanding = 'paused' | 'unused' | 'delivered' | 'refused' | 'given_up' | 'lost'

/** The deliveries to a channel as the newest notices tell of them. These are not all, so nothing is counted. */
export interface Sending {
  isWaiting: boolean
  /** The earliest of the next attempts, as RFC 3339. */
  nextAt: string | undefined
  isGivenUp: boolean
}

export function sendingOf(channel: string, notices: readonly Notice[]): Sending {
  const own = notices.flatMap(({ deliveries }) => deliveries.filter(({ channel_id: id }) => id === channel))
  const waiting = own.filter(({ state }) => state === 'waiting')
  return {
    isWaiting: waiting.length > 0,
    nextAt: waiting.flatMap(({ next_at: at }) => at ?? []).sort()[0],
    isGivenUp: own.some(({ state }) => state === 'given_up'),
  }
}

export function standingOf({ enabled, last }: Pick<Channel, 'enabled' | 'last'>, sending: Sending): ChannelStanding {
  if (!enabled) return 'paused'
  if (last?.ok === false) return !sending.isWaiting && sending.isGivenUp ? 'given_up' : 'refused'
  if (sending.isGivenUp) return 'lost'
  return last === null ? 'unused' : 'delivered'
}

export const CHANNEL_STATUS = {
  paused: 'off',
  unused: 'unknown',
  delivered: 'ok',
  refused: 'err',
  given_up: 'err',
  lost: 'warn',
} as const

const WORST: Readonly<Record<ChannelStanding, number>> = {
  given_up: 0,
  refused: 0,
  lost: 1,
  delivered: 2,
  unused: 2,
  paused: 2,
}

/** Channels that do not get through come first; the others keep their order. */
export function worstChannels(channels: readonly Channel[], notices: readonly Notice[]): Channel[] {
  const rank = (each: Channel) => WORST[standingOf(each, sendingOf(each.id, notices))]
  return [...channels].sort((one, other) => rank(one) - rank(other))
}

/** Whether a channel gets an event: of all targets, of some, or not at all; `paused` while it would. */
export type Told = 'all' | 'some' | 'paused' | 'no'

export function toldOf(channel: Channel, event: EventName): Told {
  if (!toldEvents(channel).includes(event)) return 'no'
  if (!channel.enabled) return 'paused'
  return channel.targets === 'all' ? 'all' : 'some'
}
export const SEVERITY_STATUS = { critical: 'err', warning: 'warn', info: 'info' } as const
export const DELIVERY_STATUS = { waiting: 'run', delivered: 'ok', given_up: 'err', quiet: 'stale' } as const
