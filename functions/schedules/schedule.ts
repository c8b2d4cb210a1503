import * as z from 'zod'
import type { RunRow } from '../../db/schedules/runs.ts'
import type { ScheduleRow, RecentRun as StoredRecentRun } from '../../db/schedules/schedules.ts'
import { timestamp } from '../../platform/clock.ts'
import {
  nextTimes,
  RunProgress,
  RunReboot,
  RunState,
  RunWave,
  ScheduleSettings,
  timetable,
} from '../../schedules/schedules.ts'

/** The id of a schedule. The schema accepts any string; a lookup in the database decides whether the schedule exists. */
export const ScheduleId = z.string().meta({
  id: 'ScheduleId',
  description: 'Names a schedule.',
  examples: ['3b2a1c0d9e8f70615243a4b5'],
})

/** The id of a schedule's run, which a lookup decides about, too. */
export const ScheduleRunId = z.string().meta({
  id: 'ScheduleRunId',
  description: 'Names a run of a schedule.',
  examples: ['7c6b5a4938271605f4e3d2c1'],
})

export const ScheduleRun = z.object({
  id: ScheduleRunId,
  schedule_id: ScheduleId,
  schedule_name: z.string(),
  action: ScheduleSettings.shape.action,
  due_at: z.string(),
  closes_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  started_by: z.string().nullable(),
  state: RunState,
  /** A code. Kept open, so that an entry of another version can be shown. */
  reason: z.string().nullable(),
  missed: z.int().min(0),
  cancelled_by: z.string().nullable(),
  /** Why the last signal to the address that the schedule pings has not arrived. */
  ping_error: z.string().nullable(),
  /** The revision of the schedule that the run carries out; null for runs of former versions. */
  schedule_revision: z.int().nullable(),
  waves: z.array(RunWave),
  reboot: RunReboot.nullable(),
})
export type ScheduleRun = z.infer<typeof ScheduleRun>

/** Returns a stored run as it is answered. */
export function shownRun(row: RunRow): ScheduleRun {
  const { settings, waves, due_ms: _, revision: __, state, ...rest } = row
  return {
    ...rest,
    state: RunState.parse(state),
    action: ScheduleSettings.parse(JSON.parse(settings)).action,
    ...RunProgress.parse(JSON.parse(waves)),
  }
}

/** More than one host has use for. */
export const MOST_SCHEDULES = 500

/** Next times that a schedule shows, and runs of its strip. */
const NEXT = 3
export const RECENT = 14

const RecentRun = z.object({ id: ScheduleRunId, due_at: z.string(), state: RunState })

export const Schedule = z.object({
  id: ScheduleId,
  name: z.string(),
  enabled: z.boolean(),
  cron: z.string(),
  timezone: z.string(),
  ...ScheduleSettings.shape,
  created_by: z.string(),
  next: z.array(z.string()),
  last_run: ScheduleRun.nullable(),
  recent: z.array(RecentRun),
  paused_reason: z.string().nullable(),
  ping_url_set: z.boolean(),
  /** Grows with each change. A run says which one it carries out. */
  revision: z.int(),
})
export type Schedule = z.infer<typeof Schedule>

/** Returns a stored schedule as it is answered; of `recent`, the newest is the last. */
export function shownSchedule(
  row: ScheduleRow,
  { last, recent, now }: { last: RunRow | undefined; recent: readonly StoredRecentRun[]; now: Date },
): Schedule {
  const { id, name, enabled, cron, timezone, settings, created_by_name, paused_reason, ping, revision } = row
  return {
    id,
    name,
    enabled,
    cron,
    timezone,
    ...ScheduleSettings.parse(JSON.parse(settings)),
    created_by: created_by_name,
    next: enabled ? comingTimes(row, now, NEXT) : [],
    last_run: last ? shownRun(last) : null,
    recent: recent.map((run) => ({
      id: run.id,
      due_at: timestamp(new Date(run.due_ms)),
      state: RunState.parse(run.state),
    })),
    paused_reason,
    ping_url_set: ping !== null,
    revision,
  }
}

/** The next times of a schedule that is enabled. */
export function comingTimes(
  { cron, timezone, next_ms }: Pick<ScheduleRow, 'cron' | 'timezone' | 'next_ms'>,
  now: Date,
  count: number,
): string[] {
  try {
    const table = timetable(cron, timezone)
    const times = nextTimes(table, now.getTime(), count)
    return times.map((at) => timestamp(new Date(at)))
  } catch (error) {
    // A program with other time zones has stored it. The task logs it.
    if (!(error instanceof RangeError)) throw error
    return next_ms === null ? [] : [timestamp(new Date(next_ms))]
  }
}

const EXAMPLE_WAVES = [
  { targets: ['lxc:101', 'tag:test'], pause_minutes: 30 },
  { targets: 'rest' as const, pause_minutes: 0 },
]

export const EXAMPLE_SETTINGS = {
  name: 'Nuit du dimanche',
  enabled: true,
  cron: '0 3 * * 0',
  timezone: 'Europe/Paris',
  window_minutes: 180,
  action: 'upgrade' as const,
  only: 'security' as const,
  waves: EXAMPLE_WAVES,
  on_failure: 'stop' as const,
  reboot: 'never' as const,
}

export const EXAMPLE_SCHEDULE_RUN: ScheduleRun = {
  id: '7c6b5a4938271605f4e3d2c1',
  schedule_id: '3b2a1c0d9e8f70615243a4b5',
  schedule_name: 'Nuit du dimanche',
  action: 'upgrade',
  due_at: '2026-03-01T02:00:00.000Z',
  closes_at: '2026-03-01T05:00:00.000Z',
  started_at: '2026-03-01T02:00:01.204Z',
  finished_at: '2026-03-01T02:04:17.530Z',
  started_by: null,
  state: 'stopped',
  reason: 'regressed',
  missed: 0,
  cancelled_by: null,
  ping_error: null,
  schedule_revision: 3,
  waves: [
    {
      targets: ['lxc:101', 'tag:test'],
      pause_minutes: 30,
      state: 'ended',
      run_id: '9d1e0f2c3b4a596877665544',
      started_at: '2026-03-01T02:00:01.204Z',
      finished_at: '2026-03-01T02:04:17.530Z',
      jobs: [{ target: 'lxc:101', job_id: '1772330404-k3x9q2pa', outcome: 'regressed', reason: null }],
    },
    {
      targets: 'rest',
      pause_minutes: 0,
      state: 'waiting',
      run_id: null,
      started_at: null,
      finished_at: null,
      jobs: [],
    },
  ],
  reboot: null,
}

export const EXAMPLE_SCHEDULE: Schedule = {
  id: '3b2a1c0d9e8f70615243a4b5',
  ...EXAMPLE_SETTINGS,
  created_by: 'alice',
  next: ['2026-03-08T02:00:00.000Z', '2026-03-15T02:00:00.000Z', '2026-03-22T02:00:00.000Z'],
  last_run: EXAMPLE_SCHEDULE_RUN,
  recent: [{ id: '7c6b5a4938271605f4e3d2c1', due_at: '2026-03-01T02:00:00.000Z', state: 'stopped' }],
  paused_reason: null,
  ping_url_set: false,
  revision: 3,
}
