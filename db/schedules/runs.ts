/*
 * The runs of schedules, read by people and carried out by one instance at a time. Every write of a holder is conditional on
 * its lease and on the revision that it has read; without that, an instance that was frozen could start a wave twice.
 */
import * as z from 'zod'
import { onlyIf } from '../audit.ts'
import { NOW_MS } from '../job-leases.ts'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText, storedText } from '../libsql/text.ts'

const Row = z.object({
  id: z.string(),
  schedule_id: z.string(),
  schedule_name: StoredText,
  due_ms: z.number(),
  due_at: z.string(),
  closes_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  started_by: StoredText.nullable(),
  state: z.string(),
  reason: z.string().nullable(),
  missed: z.number(),
  settings: z.string(),
  waves: z.string(),
  cancelled_by: StoredText.nullable(),
  ping_error: z.string().nullable(),
  schedule_revision: z.number().nullable(),
  revision: z.number(),
})
/**
 * A run of a schedule; `settings` and `waves` are JSON. `schedule_revision` is the revision of the schedule that it carries out. `reason` is
 * set as soon as a run has to stop, before its last job ends.
 */
export type RunRow = z.infer<typeof Row>

const COLUMNS = `r.id, schedule_id, s.name AS schedule_name, due_ms, due_at, closes_at, started_at, finished_at, started_by, state,
  reason, missed, r.settings, waves, cancelled_by, ping_error, schedule_revision, r.revision`
const RUNS = 'schedule_runs r JOIN schedules s ON s.id = r.schedule_id'

export async function readRun(db: Database, id: string): Promise<RunRow | undefined> {
  const [row] = await db.query(Row, `SELECT ${COLUMNS} FROM ${RUNS} WHERE r.id = ?`, [id])
  return row
}

/** The runs of a schedule, the newest first: those before its run `before`, where it is given; none before a run that it does not have. */
export function listRuns(
  db: Database,
  { schedule, limit, before }: { schedule: string; limit: number; before?: string | undefined },
): Promise<RunRow[]> {
  const older = `AND (due_ms, r.id) < (SELECT due_ms, id FROM schedule_runs WHERE id = ? AND schedule_id = ?)`
  return db.query(
    Row,
    `SELECT ${COLUMNS} FROM ${RUNS} WHERE schedule_id = ? ${before === undefined ? '' : older}
     ORDER BY due_ms DESC, r.id DESC LIMIT ?`,
    [schedule, ...(before === undefined ? [] : [before, schedule]), limit],
  )
}

/** The newest run of each of these schedules. */
export function lastRuns(db: Database, schedules: readonly string[]): Promise<RunRow[]> {
  const newest = `SELECT id FROM schedule_runs WHERE schedule_id = s.id ORDER BY due_ms DESC, id DESC LIMIT 1`
  return db.query(
    Row,
    `SELECT ${COLUMNS} FROM schedules s JOIN schedule_runs r ON r.id = (${newest}) WHERE s.id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(schedules)],
  )
}

const Id = z.object({ id: z.string() })
const Held = Row.extend({ created_by: z.number(), owner_name: StoredText, timezone: z.string() })
/** A run that this instance carries out. `created_by` owns its schedule and its jobs, under the name `owner_name`. */
export type HeldRow = z.infer<typeof Held>

/** Renews the leases of an instance, takes over the runs without a holder, and returns all running runs that it holds. */
export async function holdRuns(
  db: Database,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<HeldRow[]> {
  // Most of the time there is none, and a write would wait for other writers. A lease that is longer than any was given before
  // the database's clock was set back.
  if ((await db.query(Id, `SELECT id FROM schedule_runs WHERE state = 'running' LIMIT 1`)).length === 0) return []
  const taken = await db.run(
    `UPDATE schedule_runs SET owner = ?1, lease_until = ${NOW_MS} + ?2
     WHERE state = 'running' AND (owner IS NULL OR owner = ?1 OR lease_until < ${NOW_MS} OR lease_until > ${NOW_MS} + 6 * ?2)`,
    [owner, leaseMs],
  )
  if (taken === 0) return []
  const sql = `SELECT ${COLUMNS}, created_by, username AS owner_name, timezone FROM ${RUNS} JOIN users ON users.id = created_by
    WHERE state = 'running' AND owner = ? ORDER BY due_ms, r.id`
  return db.query(Held, sql, [owner])
}

/** A run at a revision, as its holder knows it. */
export interface HeldAt {
  id: string
  revision: number
  owner: string
}

/** The condition, with its arguments, that a run is still so. */
export function isHeld({ id, revision, owner }: HeldAt): { sql: string; args: (string | number)[] } {
  const sql = `EXISTS (SELECT 1 FROM schedule_runs WHERE id = ? AND state = 'running' AND revision = ? AND owner = ?)`
  return { sql, args: [id, revision, owner] }
}

/**
 * The condition, with named values, that a run as its holder knows it may start the run of plans `:id`: nobody has cancelled
 * it, its window is open, and it has not done so already.
 */
export const OPEN = `(NOT EXISTS (SELECT 1 FROM runs WHERE id = :id) AND EXISTS (SELECT 1 FROM schedule_runs WHERE id = :schedule
  AND state = 'running' AND revision = :revision AND owner = :holder AND cancelled_by IS NULL AND reason IS NULL
  AND closes_at > :at))`

/** The change of a run. `end` has its state and the time. */
export interface RunChange {
  waves: string
  reason?: string | undefined
  end?: { state: string; at: string } | undefined
}

/**
 * Stores the progress of a run, and executes the `INSERT … SELECT`s of `more` with it, in one transaction. `pause` disables
 * its schedule with that sentence. False, without a change, when another instance holds the run or has changed it.
 */
export async function saveRun(
  db: Database,
  held: HeldAt,
  { waves, reason, end }: RunChange,
  { more = [], pause }: { more?: readonly Statement[]; pause?: string | undefined } = {},
): Promise<boolean> {
  const { id, revision, owner } = held
  const isSo = isHeld(held)
  const count = { sql: `SELECT ${isSo.sql}`, args: isSo.args }
  const sql = `UPDATE schedule_runs SET waves = ?, reason = coalesce(reason, ?), state = coalesce(?, state), finished_at = ?,
      revision = revision + 1, owner = iif(? IS NULL, owner, NULL)
    WHERE id = ? AND state = 'running' AND revision = ? AND owner = ?`
  const state = end?.state ?? null
  const paused = {
    sql: `UPDATE schedules SET enabled = 0, paused_reason = ?, revision = revision + 1
          WHERE id = (SELECT schedule_id FROM schedule_runs WHERE id = ?) AND ${isSo.sql}`,
    args: [storedText(pause ?? ''), id, ...isSo.args],
  }
  // The statements beside the change look at the row before it.
  const changed = await db.batch([
    ...more.map((each) => onlyIf(each, count)),
    ...(pause === undefined ? [] : [paused]),
    { sql, args: [waves, reason ?? null, state, end?.at ?? null, state, id, revision, owner] },
  ])
  return (changed.at(-1) ?? 0) > 0
}

const Job = z.object({
  id: z.string(),
  run_id: z.string().nullable(),
  target: StoredText,
  status: z.enum(['running', 'success', 'error']),
  outcome: z.string().nullable(),
  error: StoredText.nullable(),
  error_code: z.string().nullable(),
  launched: z.number().transform(Boolean),
  begun: z.number().transform(Boolean),
  cancelled_by: StoredText.nullable(),
  parts: z.string().nullable(),
})
/** A job of a wave. `parts` is JSON. */
export type WaveJobRow = z.infer<typeof Job>

/** Reads the jobs of runs of plans and single jobs, in the order of their start. */
export function waveJobs(
  db: Database,
  { runs, jobs }: { runs: readonly string[]; jobs: readonly string[] },
): Promise<WaveJobRow[]> {
  const listed = '(SELECT value FROM json_each(?))'
  const columns = 'id, run_id, target, status, outcome, error, error_code, launched, begun, cancelled_by, parts'
  return db.query(
    Job,
    `SELECT ${columns} FROM jobs WHERE rowid IN (
       SELECT rowid FROM jobs WHERE run_id IN ${listed} UNION SELECT rowid FROM jobs WHERE id IN ${listed})
     ORDER BY rowid`,
    [JSON.stringify(runs), JSON.stringify(jobs)],
  )
}

/** Cancels the jobs of a run of plans that have not had their turn. Those that work go on to their end. */
export async function withdrawWaiting(db: Database, run: string, by: string): Promise<void> {
  await db.run(
    `UPDATE jobs SET cancelled_by = ? WHERE run_id = ? AND status = 'running' AND begun = 0 AND cancelled_by IS NULL`,
    [storedText(by), run],
  )
}
