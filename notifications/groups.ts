import type { OpenEvent } from '../db/notifications/notices.ts'
import { SEVERITIES, type Severity } from './event.ts'
import { WORST_FIRST } from './message.ts'

/** A group of a run is closed this long after its first event at the latest. */
export const OPEN_MS = 10 * 60_000
/** A group with a critical event: a run that stops because of it says so in the same notice. */
const CRITICAL_MS = 5_000
/** An event that lies further ahead was stored before the clock was set back. */
const SKEW_MS = 60_000

const RANK: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 }

/** An open event whose severity is known. */
export type GroupedEvent = OpenEvent & { severity: Severity }

/**
 * Returns the groups that are to become notices now. Events of one run are a group, which is closed when its run has ended
 * or it has waited long enough; any other event is a group of its own, and closed at once. `all` closes every group.
 * Critical groups come first.
 */
export function closedGroups(
  events: readonly GroupedEvent[],
  { atWork, nowMs, all = false }: { atWork: ReadonlySet<string>; nowMs: number; all?: boolean },
): GroupedEvent[][] {
  const single = events.filter(({ run }) => run === null).map((event) => [event])
  const runs = grouped(
    events.filter(({ run }) => run !== null),
    ({ run }) => run ?? '',
  )
  const hasWaited = (group: readonly GroupedEvent[], ms: number) =>
    group.some(({ at }) => {
      const age = nowMs - Date.parse(at)
      return age >= ms || age < -SKEW_MS
    })
  const isClosed = (run: string, group: readonly GroupedEvent[]) =>
    all ||
    !atWork.has(run) ||
    hasWaited(group, OPEN_MS) ||
    hasWaited(
      group.filter(({ severity }) => severity === 'critical'),
      CRITICAL_MS,
    )
  const closed = [...runs].filter(([run, group]) => isClosed(run, group)).map(([, group]) => group)
  const order = (group: readonly GroupedEvent[]) => Number(!group.some(({ severity }) => severity === 'critical'))
  return [...single, ...closed].sort(
    (one, other) => order(one) - order(other) || (one[0]?.id ?? 0) - (other[0]?.id ?? 0),
  )
}

/** The worst event of a group, in the order of messages; the first of several. Undefined for an empty group. */
export function worstOf<event extends { event: string; severity: Severity }>(
  events: readonly event[],
): event | undefined {
  return events.reduce<event | undefined>(
    (worst, each) => (worst === undefined || place(each) < place(worst) ? each : worst),
    undefined,
  )
}

/** An event that this version does not know comes after the others of its severity. */
function place({ event, severity }: { event: string; severity: Severity }): number {
  const known: readonly string[] = WORST_FIRST
  const at = known.indexOf(event)
  return at >= 0 ? at : WORST_FIRST.findLastIndex((each) => SEVERITIES[each] === severity) + 0.5
}

/**
 * The target of a notice: the one that its events are about; null when there are several, or none. An event without a target, such
 * as the stop of a schedule because of one container, leaves it.
 */
export function targetOf(events: readonly { target: string | null }[]): string | null {
  const [first, ...others] = new Set(events.flatMap(({ target }) => target ?? []))
  return others.length === 0 ? (first ?? null) : null
}

export interface Wanted {
  events: readonly string[]
  targets: 'all' | readonly string[]
  minimum: Severity
}

/** Whether a channel gets an event. An event without a target concerns every channel. */
export function isWanted(
  { event, target, severity }: { event: string; target: string | null; severity: Severity },
  { events, targets, minimum }: Wanted,
): boolean {
  return (
    events.includes(event) &&
    (targets === 'all' || target === null || targets.includes(target)) &&
    RANK[severity] >= RANK[minimum]
  )
}

/** Groups values by a key, in the order of their first occurrence. */
export function grouped<value>(values: readonly value[], keyOf: (value: value) => string): Map<string, value[]> {
  const groups = new Map<string, value[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return groups
}
