import { countTimes, type Timetable } from './cron.ts'
import type { MissedReason, RunProgress, ScheduleSettings } from './schedule.ts'

/** So many missed times of one schedule are counted: more are told as this many. */
export const MOST_COUNTED = 300

/**
 * Clocks of two instances differ by seconds. Only a clock that is set back by more than this is followed; until then, the
 * times that an instance with a faster clock has taken stay taken.
 */
export const CLOCK_SKEW_MS = 120_000

const MINUTE = 60_000

/** The facts that decide about the times of a schedule that have come. */
export interface SlotFacts {
  /** The times up to this moment are accounted for. */
  handled: number
  windowMinutes: number
  /** All schedules are paused. */
  paused: boolean
  /** A run of the schedule is not finished. */
  busy: boolean
}

/** The decision about the times of a schedule that have come. */
export interface TakenSlots {
  /** The time that runs now. */
  run: number | undefined
  /** The newest of the times that are missed, and how many they are. */
  missed: { due: number; count: number; reason: MissedReason } | undefined
  /** The times up to this moment are accounted for from now on. */
  handled: number
  /** The first time after that. */
  next: number | undefined
}

/**
 * Decides about all times that have come since the last decision. The newest runs if its window is open; all others are
 * missed. A clock that was set back makes no time come twice that it has passed, except that of a run that never was.
 */
export function takeSlots(table: Timetable, facts: SlotFacts, now: number): TakenSlots {
  const { handled, windowMinutes, paused, busy } = facts
  if (handled > now + CLOCK_SKEW_MS) return { run: undefined, missed: undefined, handled: now, next: table.next(now) }
  const newest = table.last(now)
  if (newest === undefined || newest <= handled)
    return { run: undefined, missed: undefined, handled, next: table.next(handled) }
  const open = now < newest + windowMinutes * MINUTE
  const next = table.next(newest)
  const whenOpen = busy ? 'former_run' : undefined
  const whenOn = open ? whenOpen : 'service_away'
  const reason: MissedReason | undefined = paused ? 'all_paused' : whenOn
  const missedUpTo = reason === undefined ? newest - 1 : newest
  const count = countTimes(table, { after: handled, upTo: missedUpTo, most: MOST_COUNTED })
  const due = table.last(missedUpTo)
  const rest = reason ?? 'service_away'
  const missed = count === 0 || due === undefined ? undefined : { due, count, reason: rest }
  return { run: reason === undefined ? newest : undefined, missed, handled: newest, next }
}

/** When a run that is due then may begin nothing more. */
export function closesAt(due: number, { window_minutes }: Pick<ScheduleSettings, 'window_minutes'>): number {
  return due + window_minutes * MINUTE
}

/** The progress of a run that has just begun. */
export function newProgress({ waves }: Pick<ScheduleSettings, 'waves'>): RunProgress {
  const nothing = { state: 'waiting', run_id: null, started_at: null, finished_at: null, jobs: [] } as const
  return { waves: waves.map((wave) => ({ ...wave, ...nothing, jobs: [] })), reboot: null }
}
