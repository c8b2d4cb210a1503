import { randomBytes } from 'node:crypto'
import { readRun } from '../../db/schedules/runs.ts'
import { readSchedule, recentRuns, type ScheduleRow, type SetSchedule } from '../../db/schedules/schedules.ts'
import { pingSecret, ScheduleSettings, timetable } from '../../schedules/schedules.ts'
import { fail, type Services } from '../services.ts'
import { RECENT, type Schedule, shownSchedule } from './schedule.ts'
import { ruleProblems, type SetFields } from './schedule-input.ts'

/** The id of a new schedule, or of a run that a person starts. */
export function newId(): string {
  return randomBytes(12).toString('hex')
}

/** Returns the fields that a person has set. */
export function fieldsOf(row: ScheduleRow): SetFields {
  const { name, enabled, cron, timezone, settings } = row
  return { name, enabled, cron, timezone, ...ScheduleSettings.parse(JSON.parse(settings)) }
}

/** Returns the row of these fields. Throws `schedule_invalid` when they break a rule. */
export function rowOf({
  id,
  fields,
  ping,
  owner,
  pausedReason = null,
}: {
  id: string
  fields: SetFields
  ping: string | null
  owner: number
  pausedReason?: string | null
}): SetSchedule {
  const problems = ruleProblems(fields)
  if (problems.length > 0) throw fail('schedule_invalid', { details: problems })
  const { name, enabled, cron, timezone } = fields
  const settings = JSON.stringify(ScheduleSettings.parse(fields))
  const paused_reason = enabled ? null : pausedReason
  return { id, name, enabled, cron, timezone, settings, ping, created_by: owner, paused_reason }
}

/** Returns the times of a schedule that begins, or begins to run at others, at `now`: none of the past is run. */
export function timesFrom({ cron, timezone }: SetFields, now: Date): { handled_ms: number; next_ms: number | null } {
  const handled_ms = now.getTime()
  return { handled_ms, next_ms: timetable(cron, timezone).next(handled_ms) ?? null }
}

/** Seals the address that a schedule pings. */
export function sealedPing(secrets: Services['secrets'], id: string, url: string): string {
  return secrets.seal(pingSecret(id), url)
}

/** Reads a schedule as it is answered. Throws `schedule_missing`. */
export async function readShown({ db, clock }: Pick<Services, 'db' | 'clock'>, id: string): Promise<Schedule> {
  const row = await readSchedule(db, id)
  if (!row) throw fail('schedule_missing')
  const recent = (await recentRuns(db, { schedules: [id], limit: RECENT })).get(id) ?? []
  const newest = recent.at(-1)
  const last = newest && (await readRun(db, newest.id))
  return shownSchedule(row, { last, recent, now: clock() })
}
