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

/** How a channel stands by its last delivery. */
export type ChannelStanding = 'paused' | 'unused' | 'delivered' | 'refused'

export function standingOf({ enabled, last }: Pick<Channel, 'enabled' | 'last'>): ChannelStanding {
  if (!enabled) return 'paused'
  return last === null ? 'unused' : last.ok ? 'delivered' : 'refused'
}

export const CHANNEL_STATUS = { paused: 'off', unused: 'unknown', delivered: 'ok', refused: 'err' } as const
export const SEVERITY_STATUS = { critical: 'err', warning: 'warn', info: 'info' } as const
export const DELIVERY_STATUS = { waiting: 'run', delivered: 'ok', given_up: 'err', quiet: 'stale' } as const
