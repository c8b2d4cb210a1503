/*
 * The times of schedules: of each, one run or one entry that it was missed, by whichever instance is first. All of a decision
 * is one transaction, conditional on the state that it was made for; a killed service has either done it or not.
 */
import * as z from 'zod'
import { onlyIf } from '../audit.ts'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText, storedText } from '../libsql/text.ts'

const Due = z.object({
  id: z.string(),
  name: StoredText,
  cron: z.string(),
  timezone: z.string(),
  settings: z.string(),
  revision: z.number(),
  handled_ms: z.number(),
  next_ms: z.number().nullable(),
  busy: z.number().transform(Boolean),
  paused: z.number().transform(Boolean),
})
/** A schedule that has to be decided about. `busy`: a run of it is running. `paused`: all schedules are. */
export type DueSchedule = z.infer<typeof Due>

/** Two searches, so that each has its index. */
const DUE = `SELECT id FROM schedules WHERE enabled = 1 AND next_ms <= ?1
  UNION ALL SELECT id FROM schedules WHERE enabled = 1 AND handled_ms > ?2`

/**
 * The schedules whose next time is not after `now`, or that are accounted for up to a time after `ahead`, because the clock was set
 * back. `all`: all that are enabled.
 */
export function dueSchedules(
  db: Database,
  { now, ahead, all = false }: { now: number; ahead: number; all?: boolean },
): Promise<DueSchedule[]> {
  return db.query(
    Due,
    `SELECT id, name, cron, timezone, settings, revision, handled_ms, next_ms,
       EXISTS (SELECT 1 FROM schedule_runs WHERE schedule_id = schedules.id AND state = 'running') AS busy,
       EXISTS (SELECT 1 FROM schedules_pause) AS paused
     FROM schedules WHERE enabled = 1 ${all ? '' : `AND id IN (${DUE})`}`,
    all ? [] : [now, ahead],
  )
}

/** A run to begin. */
export interface NewScheduleRun {
  id: string
  due_ms: number
  due_at: string
  closes_at: string
  settings: string
  waves: string
}

/** Times that were missed, as one entry. `event` tells people; it is an `INSERT … SELECT`. */
export interface MissedSlots extends NewScheduleRun {
  count: number
  reason: string
  event: Statement | undefined
}

/** The decision about the times of a schedule; `at` is now, and `most` the number of its runs that are kept. */
export interface SlotDecision {
  run: NewScheduleRun | undefined
  missed: MissedSlots | undefined
  handled_ms: number
  next_ms: number | null
  at: string
  most: number
}

/** A schedule at a revision. */
type Revised = Pick<DueSchedule, 'id' | 'revision'>

/** Most old runs that one decision removes. */
const REMOVED = 50

const RUN = 'id, schedule_id, schedule_revision, due_ms, due_at, closes_at, settings, waves'
const runValues = ({ id, revision }: Revised, run: NewScheduleRun) => [
  ...[run.id, id, revision, run.due_ms, run.due_at, run.closes_at, run.settings, run.waves],
]

/**
 * Stores a decision about the times of a schedule. False, without a change, when the schedule or the pause was changed since it was
 * read, or a run of it has begun: then it is to be decided anew. A time that already has a run gets no second one.
 */
export async function storeDecision(
  db: Database,
  schedule: Pick<DueSchedule, 'id' | 'revision' | 'handled_ms' | 'paused'>,
  { run, missed, handled_ms, next_ms, at, most }: SlotDecision,
): Promise<boolean> {
  const { id } = schedule
  // The last statement makes this false, so that a repeated transaction changes nothing.
  const same = {
    sql: `EXISTS (SELECT 1 FROM schedules WHERE id = ? AND revision = ? AND handled_ms = ? AND enabled = 1)
      AND ${schedule.paused ? '' : 'NOT '}EXISTS (SELECT 1 FROM schedules_pause)`,
    args: [id, schedule.revision, schedule.handled_ms],
  }
  const hasRun = run && {
    sql: `EXISTS (SELECT 1 FROM schedule_runs WHERE schedule_id = ? AND due_ms = ? AND state <> 'missed' AND started_by IS NULL)`,
    args: [id, run.due_ms],
  }
  const hasMissed = missed && { sql: 'EXISTS (SELECT 1 FROM schedule_runs WHERE id = ?)', args: [missed.id] }
  const all = (...given: (Condition | undefined)[]): Condition => {
    const conditions = given.flatMap((each) => each ?? [])
    return { sql: conditions.map(({ sql }) => sql).join(' AND '), args: conditions.flatMap(({ args }) => args) }
  }
  const conditional = (statement: Statement, condition: Condition) =>
    onlyIf(statement, { sql: `SELECT ${condition.sql}`, args: condition.args })

  const changed = await db.batch([
    // A run that is running, or one of the same time, leaves this one out.
    ...(run
      ? [
          conditional(
            {
              sql: `INSERT OR IGNORE INTO schedule_runs (${RUN}, started_at, state) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running'`,
              args: [...runValues(schedule, run), at],
            },
            same,
          ),
        ]
      : []),
    ...(missed
      ? [
          conditional(
            {
              sql: `INSERT OR IGNORE INTO schedule_runs (${RUN}, finished_at, missed, reason, state)
                    SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'missed'`,
              args: [...runValues(schedule, missed), at, missed.count, missed.reason],
            },
            all(same, hasRun),
          ),
          ...(missed.event ? [conditional(missed.event, all(same, hasRun, hasMissed))] : []),
        ]
      : []),
    {
      sql: `DELETE FROM schedule_runs WHERE id IN (
              SELECT id FROM schedule_runs WHERE schedule_id = ? AND state <> 'running' ORDER BY due_ms DESC, id DESC LIMIT ${REMOVED} OFFSET ?)`,
      args: [id, most],
    },
    setTimes(id, { handled_ms, next_ms }, all(same, hasRun, hasMissed)),
  ])
  return (changed.at(-1) ?? 0) > 0
}

interface Condition {
  sql: string
  args: (string | number)[]
}

function setTimes(
  id: string,
  { handled_ms, next_ms }: { handled_ms: number; next_ms: number | null },
  condition: Condition,
): Statement {
  return {
    sql: `UPDATE schedules SET handled_ms = ?, next_ms = ? WHERE id = ? AND ${condition.sql}`,
    args: [handled_ms, next_ms, id, ...condition.args],
  }
}

/**
 * Begins a run of a schedule at a revision that a person wants now, with its audit entry. False, without a change, when it cannot
 * begin: a run is running, all are paused, or the schedule has changed.
 */
export async function addRunNow(
  db: Database,
  schedule: Revised,
  run: NewScheduleRun & { started_at: string; started_by: string },
  entry: Statement,
): Promise<boolean> {
  const [added] = await db.batch([
    {
      sql: `INSERT OR IGNORE INTO schedule_runs (${RUN}, started_at, started_by, state) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running'
            WHERE EXISTS (SELECT 1 FROM schedules WHERE id = ? AND revision = ?) AND NOT EXISTS (SELECT 1 FROM schedules_pause)`,
      args: [...runValues(schedule, run), run.started_at, storedText(run.started_by), schedule.id, schedule.revision],
    },
    onlyIf(entry, { sql: 'SELECT count(*) FROM schedule_runs WHERE id = ?', args: [run.id] }),
  ])
  return added === 1
}

/** Marks a running run as cancelled, with its audit entry. False, without a change, when it is not running or was cancelled. */
export async function cancelRun(db: Database, id: string, by: string, entry: Statement): Promise<boolean> {
  const open = `id = ? AND state = 'running' AND cancelled_by IS NULL`
  const changed = await db.batch([
    onlyIf(entry, { sql: `SELECT count(*) FROM schedule_runs WHERE ${open}`, args: [id] }),
    { sql: `UPDATE schedule_runs SET cancelled_by = ? WHERE ${open}`, args: [storedText(by), id] },
  ])
  return changed[1] === 1
}
