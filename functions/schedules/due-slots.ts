import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Database } from '../../db/libsql/database.ts'
import { type DueSchedule, dueSchedules, type NewScheduleRun, storeDecision } from '../../db/schedules/slots.ts'
import { timestamp } from '../../platform/clock.ts'
import { eventStatement } from '../../notifications/notifications.ts'
import {
  CLOCK_SKEW_MS,
  closesAt,
  newProgress,
  ScheduleSettings,
  type TakenSlots,
  takeSlots,
  timetable,
} from '../../schedules/schedules.ts'
import type { Services } from '../services.ts'

/** Runs of a schedule that are kept. */
const KEPT_RUNS = 200

type Given = Pick<Services, 'db' | 'clock' | 'log'>

/** The databases whose schedules this process has looked at once. */
const seen = new WeakSet<Database>()

/**
 * Decides about every time of a schedule that has come. The first look of a process is at all schedules, because another version
 * of the program may know other rules of time zones. A schedule that fails is logged, and holds up no other.
 */
export async function takeDueSlots({ db, clock, log }: Given): Promise<void> {
  const now = clock()
  const ms = now.getTime()
  const due = await dueSchedules(db, { now: ms, ahead: ms + CLOCK_SKEW_MS, all: !seen.has(db) })
  seen.add(db)
  for (const schedule of due) {
    try {
      await decide(db, schedule, now)
    } catch (error) {
      log.error({ schedule: schedule.id, err: error }, 'the times of a schedule could not be taken')
    }
    // A database in a file answers in the same turn, and requests would wait for all schedules.
    await turn()
  }
}

async function decide(db: Database, schedule: DueSchedule, now: Date): Promise<void> {
  const settings = ScheduleSettings.parse(JSON.parse(schedule.settings))
  const facts = {
    handled: schedule.handled_ms,
    windowMinutes: settings.window_minutes,
    paused: schedule.paused,
    busy: schedule.busy,
  }
  const taken = takeSlots(timetable(schedule.cron, schedule.timezone), facts, now.getTime())
  const next_ms = taken.next ?? null
  if (taken.handled === schedule.handled_ms && next_ms === schedule.next_ms) return
  const runAt = (due: number, kind: string): NewScheduleRun => ({
    id: idOf(schedule.id, due, kind),
    due_ms: due,
    due_at: timestamp(new Date(due)),
    closes_at: timestamp(new Date(closesAt(due, settings))),
    settings: schedule.settings,
    waves: JSON.stringify(newProgress(settings)),
  })
  await storeDecision(db, schedule, {
    run: taken.run === undefined ? undefined : runAt(taken.run, 'run'),
    missed: taken.missed && missedAt(schedule, taken.missed, runAt(taken.missed.due, 'missed'), now),
    handled_ms: taken.handled,
    next_ms,
    at: timestamp(now),
    most: KEPT_RUNS,
  })
}

/** Of one time there is one id, so that a repeated decision is the same one. */
function idOf(schedule: string, due: number, kind: string): string {
  return createHash('sha256').update(`${schedule} ${due} ${kind}`).digest('hex').slice(0, 24)
}

function missedAt(
  { id, name, timezone }: DueSchedule,
  { count, reason }: NonNullable<TakenSlots['missed']>,
  entry: NewScheduleRun,
  now: Date,
) {
  const details = { schedule: id, name, timezone, run: entry.id, due_at: entry.due_at, count, reason }
  const event = eventStatement({
    key: `schedule_missed:${entry.id}`,
    at: timestamp(now),
    event: 'schedule_missed',
    target: null,
    details,
  })
  // Somebody wanted it so.
  return { ...entry, count, reason, event: reason === 'all_paused' ? undefined : event }
}
