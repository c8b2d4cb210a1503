/*
 * The schedules of people, and the switch that pauses all of them.
 */
import * as z from 'zod'
import { onlyIf } from '../audit.ts'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText, storedText } from '../libsql/text.ts'

const Row = z.object({
  id: z.string(),
  name: StoredText,
  enabled: z.number().transform(Boolean),
  cron: z.string(),
  timezone: z.string(),
  settings: z.string(),
  ping: z.string().nullable(),
  created_by: z.number(),
  created_by_name: StoredText,
  revision: z.number(),
  handled_ms: z.number(),
  next_ms: z.number().nullable(),
  paused_reason: StoredText.nullable(),
})
/** A schedule; `settings` is JSON, `ping` a sealed address. `created_by` is the user with whose rights it runs. */
export type ScheduleRow = z.infer<typeof Row>

const SCHEDULES = `SELECT s.id, name, enabled, cron, timezone, settings, ping, created_by, username AS created_by_name, revision,
  handled_ms, next_ms, paused_reason FROM schedules s JOIN users u ON u.id = created_by`

/** These schedules, in no order. */
export function readSchedules(db: Database, ids: readonly string[]): Promise<ScheduleRow[]> {
  return db.query(Row, `${SCHEDULES} WHERE s.id IN (SELECT value FROM json_each(?))`, [JSON.stringify(ids)])
}

const Ordered = Row.pick({ id: true, name: true, enabled: true, cron: true, timezone: true, next_ms: true }).extend({
  /** Whether the service has given a reason for a pause. */
  barred: z.number().transform(Boolean),
  /** The state of the newest run. */
  newest: z.string().nullable(),
})
/** The facts that decide about the place of a schedule in a list. */
export type OrderedSchedule = z.infer<typeof Ordered>

/** All schedules with the facts that decide about their order. */
export function schedulesToOrder(db: Database): Promise<OrderedSchedule[]> {
  const newest = 'SELECT state FROM schedule_runs WHERE schedule_id = s.id ORDER BY due_ms DESC, id DESC LIMIT 1'
  return db.query(
    Ordered,
    `SELECT id, name, enabled, cron, timezone, next_ms, paused_reason IS NOT NULL AS barred, (${newest}) AS newest FROM schedules s`,
  )
}

const Revision = z.object({ n: z.number() })

/** Returns the number that grows with each change of a schedule, a run or the pause that a list of schedules shows. */
export async function schedulesRevision(db: Database): Promise<number> {
  const [row] = await db.query(Revision, `SELECT n FROM revisions WHERE name = 'schedules'`)
  return row?.n ?? 0
}

export async function readSchedule(db: Database, id: string): Promise<ScheduleRow | undefined> {
  const [row] = await db.query(Row, `${SCHEDULES} WHERE s.id = ?`, [id])
  return row
}

/** Up to when times are accounted for, and the first one after that. */
type Times = Pick<ScheduleRow, 'handled_ms' | 'next_ms'>

/** The fields of a schedule that a person sets. */
export type SetSchedule = Omit<ScheduleRow, 'created_by_name' | 'revision' | keyof Times>

/** Adds a schedule with its audit entry; false, without a change, when there are `most` already. */
export async function addSchedule(
  db: Database,
  row: SetSchedule,
  { times, at, most, entry }: { times: Times; at: string; most: number; entry: Statement },
): Promise<boolean> {
  const { id, name, enabled, cron, timezone, settings, ping, created_by } = row
  const { handled_ms, next_ms } = times
  const [added] = await db.batch([
    {
      sql: `INSERT INTO schedules (id, name, enabled, cron, timezone, settings, ping, created_by, created_at, changed_at, handled_ms, next_ms)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11 WHERE (SELECT count(*) FROM schedules) < ?12`,
      args: [
        id,
        storedText(name),
        Number(enabled),
        cron,
        timezone,
        settings,
        ping,
        created_by,
        at,
        handled_ms,
        next_ms,
        most,
      ],
    },
    onlyIf(entry, { sql: 'SELECT count(*) FROM schedules WHERE id = ?', args: [id] }),
  ])
  return added === 1
}

/**
 * Changes a schedule with its audit entry; false, without a change, when it is no longer at this revision. Without `times`, those
 * that an instance takes meanwhile stay taken.
 */
export async function changeSchedule(
  db: Database,
  row: SetSchedule,
  { times, revision, at, entry }: { times: Times | undefined; revision: number; at: string; entry: Statement },
): Promise<boolean> {
  const { id, name, enabled, cron, timezone, settings, ping, created_by, paused_reason } = row
  const changed = await db.batch([
    onlyIf(entry, { sql: 'SELECT count(*) FROM schedules WHERE id = ? AND revision = ?', args: [id, revision] }),
    {
      sql: `UPDATE schedules SET name = ?, enabled = ?, cron = ?, timezone = ?, settings = ?, ping = ?, created_by = ?, changed_at = ?,
              paused_reason = ?, revision = revision + 1${times ? ', handled_ms = ?, next_ms = ?' : ''}
            WHERE id = ? AND revision = ?`,
      args: [
        ...[storedText(name), Number(enabled), cron, timezone, settings, ping, created_by, at],
        ...[paused_reason && storedText(paused_reason)],
        ...(times ? [times.handled_ms, times.next_ms] : []),
        ...[id, revision],
      ],
    },
  ])
  return changed[1] === 1
}

/** Removes a schedule and its history, with its audit entry; false, without a change, while a run of it is running. */
export async function removeSchedule(db: Database, id: string, entry: Statement): Promise<boolean> {
  const idle = `id = ? AND NOT EXISTS (SELECT 1 FROM schedule_runs WHERE schedule_id = ? AND state = 'running')`
  const changed = await db.batch([
    onlyIf(entry, { sql: `SELECT count(*) FROM schedules WHERE ${idle}`, args: [id, id] }),
    { sql: `DELETE FROM schedules WHERE ${idle}`, args: [id, id] },
  ])
  return changed[1] === 1
}

const Pause = z.object({ by: StoredText, at: z.string() })
/** The person who has paused all schedules, and the time. */
export type PausedBy = z.infer<typeof Pause>

/** Undefined while schedules run. */
export async function readPause(db: Database): Promise<PausedBy | undefined> {
  const [row] = await db.query(Pause, 'SELECT "by", at FROM schedules_pause')
  return row
}

/** Pauses all schedules, or ends the pause with `by` null; the audit entry is written if that changes anything. */
export async function setPause(
  db: Database,
  { by, at }: { by: string | null; at: string },
  entry: Statement,
): Promise<void> {
  const present = by === null ? '1' : '0'
  await db.batch([
    onlyIf(entry, { sql: `SELECT count(*) = ${present} FROM schedules_pause` }),
    by === null
      ? { sql: 'DELETE FROM schedules_pause' }
      : {
          sql: 'INSERT OR IGNORE INTO schedules_pause (one, "by", at) VALUES (1, ?, ?)',
          args: [storedText(by), at],
        },
  ])
}

const Recent = z.array(z.object({ id: z.string(), due_ms: z.number(), state: z.string() }))
export type RecentRun = z.infer<typeof Recent>[number]
const byTime = (one: RecentRun, other: RecentRun) => one.due_ms - other.due_ms || (one.id < other.id ? -1 : 1)
const Strip = z.object({
  id: z.string(),
  // SQL leaves the order of the array open.
  runs: z.string().transform((text) => Recent.parse(JSON.parse(text)).sort(byTime)),
})

/**
 * The newest runs of each of these schedules, the oldest of them first. An index has all that it reads; without that, the list of
 * 200 schedules would look up thousands of rows.
 */
export async function recentRuns(
  db: Database,
  { schedules, limit }: { schedules: readonly string[]; limit: number },
): Promise<Map<string, RecentRun[]>> {
  const newest = `SELECT id, due_ms, state FROM schedule_runs WHERE schedule_id = s.id ORDER BY due_ms DESC, id DESC LIMIT ?`
  const rows = await db.query(
    Strip,
    `SELECT s.id, (SELECT json_group_array(json_object('id', id, 'due_ms', due_ms, 'state', state)) FROM (${newest})) AS runs
     FROM schedules s WHERE s.id IN (SELECT value FROM json_each(?))`,
    [limit, JSON.stringify(schedules)],
  )
  return new Map(rows.map(({ id, runs }) => [id, runs]))
}
