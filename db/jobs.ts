/*
 * The rows of jobs. A follower's writes are conditional on its epoch, so that a follower that has lost its lease does
 * not overwrite the records of the next one.
 */
import * as z from 'zod'
import { onlyIf } from './audit.ts'
import type { Database, Statement } from './libsql/database.ts'
import { StoredText, storedText } from './libsql/text.ts'

/** A part of a job with its result. Its state stays `waiting` when the job ends before the part. */
export const JobPart = z.object({
  id: z.string(),
  name: z.string(),
  /** `waiting`, or a state that the kind of job defines. */
  state: z.string(),
  /** Exit code of the part's command. */
  code: z.number().nullable(),
})
export type JobPart = z.infer<typeof JobPart>

export const JobRow = z.object({
  id: z.string(),
  folder: z.string().nullable(),
  kind: z.string(),
  args: z.string(),
  queue: StoredText,
  target: StoredText,
  status: z.enum(['running', 'success', 'error']),
  error: StoredText.nullable(),
  error_code: z.string().nullable(),
  exit_code: z.number().nullable(),
  output_size: z.number(),
  output_from: z.number(),
  host_offset: z.number(),
  launched: z.number().transform(Boolean),
  epoch: z.number(),
  cancelled_by: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  started_by: z.number(),
  parts: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : z.array(JobPart).parse(JSON.parse(text)))),
  warnings: z
    .string()
    .nullable()
    .transform((text) => (text === null ? [] : z.array(z.string()).parse(JSON.parse(text)))),
  run_id: z.string().nullable(),
  plan_id: z.string().nullable(),
  plan_difference: z.string().nullable(),
  phase: z.string().nullable(),
  outcome: z.string().nullable(),
  protected: z.string().nullable(),
})
/**
 * A job as stored.
 *
 * - `folder`: the name of its folder on the host; null for a job of version 0.1, whose folder has the id as its name.
 * - `error`: the sentence that replaces the output of a failed job; `error_code` is its stable code.
 * - `output_size`: bytes of stored text. Retention has removed the bytes before `output_from`.
 * - `host_offset`: bytes of the host's file that the stored text was made from.
 * - `queue`: jobs with the same queue run one at a time.
 * - `epoch`: counts the followers, from 1. Only the follower of the current epoch may write.
 * - `parts`: the parts of a started job that has several.
 * - `warnings`: French sentences that an ended job has beside its result.
 * - `run_id`: the run that started the job with others; `plan_id`: the plan that it carries out, removed or not.
 * - `plan_difference`: what differed from the plan, as JSON, which may be long.
 * - `phase`: what its command is doing, or did last; null for a command without phases.
 * - `outcome`: what an ended upgrade came to. `protected`: its protection and what that found, as JSON; while the job
 *   runs, the phases that have begun.
 */
export type JobRow = z.infer<typeof JobRow>

/** A job as its follower in one epoch knows it: the key of all conditional writes. */
export type Followed = Pick<JobRow, 'id' | 'epoch'>

/** The queue of a job that runs alone: it conflicts with every queue, the empty one too. */
export const EVERY_QUEUE = '*'

/**
 * The SQL condition that two queues conflict: they are equal, or one is `a/*` and the other is `a/…`, or one of them is
 * `EVERY_QUEUE`.
 */
export const conflict = (one: string, other: string): string =>
  `('${EVERY_QUEUE}' IN (${one}, ${other}) OR (${one} <> ''
    AND (${one} = ${other} OR ${covers(one, other)} OR ${covers(other, one)})))`
const covers = (all: string, one: string): string =>
  `(${all} LIKE '%/*' AND substr(${one}, 1, length(${all}) - 1) = substr(${all}, 1, length(${all}) - 1))`

export async function findJob(db: Database, id: string): Promise<JobRow | undefined> {
  const [job] = await db.query(JobRow, 'SELECT * FROM jobs WHERE id = ?', [id])
  return job
}

/**
 * Records that the host has the job, and its parts unless they are recorded. False when another instance follows the
 * job.
 */
export async function markLaunched(
  db: Database,
  { id, epoch }: Followed,
  parts?: readonly JobPart[],
): Promise<boolean> {
  // Lists tell that it waits no longer.
  const sql =
    'UPDATE jobs SET launched = 1, parts = coalesce(parts, ?), revision = revision + 1 WHERE id = ? AND epoch = ?'
  return (await db.run(sql, [parts ? JSON.stringify(parts) : null, id, epoch])) > 0
}

/**
 * Records the first user who cancels a running job, with the audit entry. Returns false, without a change, when the job
 * is not running.
 */
export async function requestCancel(db: Database, id: string, username: string, entry?: Statement): Promise<boolean> {
  const sql = `UPDATE jobs SET cancelled_by = coalesce(cancelled_by, ?) WHERE id = ? AND status = 'running'`
  const isRunning = { sql: `SELECT count(*) FROM jobs WHERE id = ? AND status = 'running'`, args: [id] }
  const [changed = 0] = await db.batch([{ sql, args: [username, id] }, ...(entry ? [onlyIf(entry, isRunning)] : [])])
  return changed > 0
}

export interface JobEnd {
  status: 'success' | 'error'
  error: string | null
  error_code: string | null
  exit_code: number | null
  /** The results of its parts; without this field the stored parts stay. */
  parts?: readonly JobPart[]
}

/**
 * Ends a running job and executes `more` in the same transaction. Returns false when the job has ended, when another
 * instance follows it, or when `cancelledBy` is not the recorded user. The statements of `more` must change nothing
 * then.
 */
export async function endJob(
  db: Database,
  { id, epoch }: Followed,
  { status, error, error_code, exit_code, parts }: JobEnd,
  { now, cancelledBy = null, more = [] }: { now: string; cancelledBy?: string | null; more?: readonly Statement[] },
): Promise<boolean> {
  const sql = `UPDATE jobs SET status = ?, error = ?, error_code = ?, exit_code = ?, finished_at = ?, owner = NULL,
       parts = coalesce(?, parts)
     WHERE id = ? AND epoch = ? AND status = 'running' AND cancelled_by IS ?`
  const noted = parts ? JSON.stringify(parts) : null
  const args = [status, error && storedText(error), error_code, exit_code, now, noted, id, epoch, cancelledBy]
  const [changed = 0] = more.length === 0 ? [await db.run(sql, args)] : await db.batch([{ sql, args }, ...more])
  return changed > 0
}

/** More phases than any job has: a host that repeats them must not fill the row. */
const MOST_PHASES = 30

/**
 * Records the phase of a running job with its beginning. False when it has that phase, has ended, or another instance
 * follows it.
 */
export async function setPhase(
  db: Database,
  { id, epoch }: Followed,
  { phase, at }: { phase: string; at: string },
): Promise<boolean> {
  const begun = `json_object('phase', ?1, 'at', ?4)`
  const known = `coalesce(protected, json_object('protection', args -> '$.protection', 'phases', json('[]')))`
  const sql = `UPDATE jobs SET phase = ?1, revision = revision + 1,
       protected = iif(coalesce(json_array_length(protected, '$.phases'), 0) < ${MOST_PHASES},
         json_insert(${known}, '$.phases[#]', ${begun}), protected)
     WHERE id = ?2 AND epoch = ?3 AND status = 'running' AND phase IS NOT ?1`
  return (await db.run(sql, [phase, id, epoch, at])) > 0
}

/** Makes the statement that stores what a protected upgrade came to, as one of the statements of its end. */
export function noteOutcome(
  { id, epoch }: Followed,
  { phase, outcome, protectedRun }: { phase: string | null; outcome: string | null; protectedRun: string | null },
): Statement {
  return {
    sql: `UPDATE jobs SET phase = coalesce(?, phase), outcome = ?, protected = ? WHERE id = ? AND epoch = ? AND status <> 'running'`,
    args: [phase, outcome, protectedRun, id, epoch],
  }
}

/**
 * Makes the statement that records what somebody has decided about the regression of a protected upgrade. With `job`, a
 * rollback that has ended, its user has decided so.
 */
export function decide(id: string, { by, at, job }: { by: string | null; at: string; job?: JobRow }): Statement {
  const decided = `json_object('by', coalesce(?, (SELECT username FROM users WHERE id = ?)), 'at', ?, 'choice', ?, 'job_id', ?)`
  const ended = job ? `AND EXISTS (SELECT 1 FROM jobs WHERE id = ? AND epoch = ? AND status <> 'running')` : ''
  return {
    sql: `UPDATE jobs SET protected = json_set(protected, '$.decided', ${decided}), revision = revision + 1
          WHERE id = ? AND protected IS NOT NULL ${ended}`,
    args: [
      by,
      job?.started_by ?? null,
      at,
      job ? 'rollback' : 'keep',
      job?.id ?? null,
      id,
      ...(job ? [job.id, job.epoch] : []),
    ],
  }
}

/** Makes the statement that stores the parts of a job, as one of the statements of its end. */
export function noteParts({ id, epoch }: Followed, parts: readonly JobPart[]): Statement {
  return {
    sql: `UPDATE jobs SET parts = ? WHERE id = ? AND epoch = ? AND status <> 'running'`,
    args: [JSON.stringify(parts), id, epoch],
  }
}

/** Makes the statement that stores the warnings of a job, as one of the statements of its end. */
export function noteWarnings({ id, epoch }: Followed, warnings: readonly string[]): Statement {
  return {
    sql: `UPDATE jobs SET warnings = ? WHERE id = ? AND epoch = ? AND status <> 'running'`,
    args: [JSON.stringify(warnings), id, epoch],
  }
}

/** Makes the statement that stores how a job found its plan changed, as one of the statements of its end. */
export function notePlanDifference({ id, epoch }: Followed, difference: string): Statement {
  return {
    sql: `UPDATE jobs SET plan_difference = ? WHERE id = ? AND epoch = ? AND status <> 'running'`,
    args: [difference, id, epoch],
  }
}

/** Records that the folders of these jobs on the host are removed. */
export async function noteFoldersRemoved(db: Database, ids: readonly string[]): Promise<void> {
  await db.run('UPDATE jobs SET folder_removed = 1 WHERE id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)])
}

const Folder = z.object({ id: z.string(), name: z.string() })

/**
 * The jobs, at most `most`, that have ended since a moment, whose output was read to its end, and whose folders are
 * not known to be removed; `name` is that of the folder.
 */
export function jobsWithFolder(
  db: Database,
  { since, most }: { since: string; most: number },
): Promise<z.infer<typeof Folder>[]> {
  return db.query(
    Folder,
    `SELECT id, coalesce(folder, id) AS name FROM jobs
     WHERE folder_removed = 0 AND status <> 'running' AND launched = 1 AND finished_at >= ?
       AND (status = 'success' OR exit_code IS NOT NULL OR cancelled_by IS NOT NULL)
     ORDER BY finished_at LIMIT ?`,
    [since, most],
  )
}

/**
 * Removes up to 100 ended jobs of a kind that are not among its newest `keep`, with their output. Jobs whose findings
 * are stored for a target stay. Returns false when none is left to remove.
 */
export async function removeOldJobs(db: Database, { kind, keep }: { kind: string; keep: number }): Promise<boolean> {
  const removed = await db.run(
    `DELETE FROM jobs WHERE id IN (
       SELECT id FROM (SELECT id, status FROM jobs WHERE kind = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)
       WHERE status <> 'running' AND id NOT IN (SELECT job_id FROM checks WHERE job_id IS NOT NULL)
       LIMIT 100)`,
    [kind, keep],
  )
  return removed > 0
}

/** Ends those of these jobs that were never started, with an error. */
export async function withdrawJobs(
  db: Database,
  ids: readonly string[],
  { error, error_code, now }: { error: string; error_code: string; now: string },
): Promise<void> {
  await db.run(
    `UPDATE jobs SET status = 'error', error = ?, error_code = ?, finished_at = ?, owner = NULL
     WHERE id IN (SELECT value FROM json_each(?)) AND epoch = 1 AND launched = 0 AND status = 'running'`,
    [storedText(error), error_code, now, JSON.stringify(ids)],
  )
}
