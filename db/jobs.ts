import * as z from 'zod'
import { onlyIf } from './audit.ts'
import { NOW_MS } from './job-leases.ts'
import type { Database, Statement } from './libsql/database.ts'
import { StoredText, storedText } from './libsql/text.ts'

/** A thing that a job does among others, and how it ended: `waiting` while it has not, or when the job ended before it. */
export const JobPart = z.object({
  id: z.string(),
  name: z.string(),
  /** `waiting`, or a word of the kind of job. */
  state: z.string(),
  /** Exit code of what was run there. */
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
})
/**
 * A job as stored. `folder` names what it has on the host, as its id does not; null for one of version 0.1, where the id is
 * that name. `error` is the text that stands for the output of a failed one, `error_code` its stable word;
 * `output_size` counts the bytes of the text that was stored, of which those before `output_from` are removed, and
 * `host_offset` those of the host's file that it was made of. Of those with the same `queue` one runs at a time. `epoch`
 * counts who has followed it: only the last one may write. `parts` are what it does one after another, of one that does
 * several things and has begun.
 */
export type JobRow = z.infer<typeof JobRow>

export type NewJob = Pick<JobRow, 'id' | 'kind' | 'args' | 'queue' | 'target' | 'started_at' | 'started_by'> & {
  folder?: string
}

/** Who may write of a job. */
export type Followed = Pick<JobRow, 'id' | 'epoch'>

/** How many jobs of a kind may be running or wait: of one user for one target, of one user, and of all. */
export interface JobBounds {
  ofTarget: number
  ofUser: number
  ofAll: number
}

/** Whether two queues have jobs in common, in SQL: they are the same, or one is `a/*` and the other one of `a/…`. */
const meets = (one: string, other: string): string =>
  `${one} <> '' AND (${one} = ${other} OR ${covers(one, other)} OR ${covers(other, one)})`
const covers = (all: string, one: string): string =>
  `(${all} LIKE '%/*' AND substr(${one}, 1, length(${all}) - 1) = substr(${all}, 1, length(${all}) - 1))`

/** The turns of so many jobs are looked at, beside those of the running ones: older ones are behind everybody. */
const LOOKED_AT = 500

/**
 * One user's jobs come one turn after another, and whoever is new to a queue begins at the turn that it has come to: so
 * those of each user alternate with those of the others, whatever one of them has queued.
 */
const TURN = `
  WITH near AS (
    SELECT turn, begun, status, started_by FROM jobs
    WHERE (status = 'running' OR rowid > (SELECT max(rowid) FROM jobs) - ${LOOKED_AT})
      AND ${meets('queue', ':queue')}
  )
  SELECT max(
    coalesce((SELECT max(turn) FROM near WHERE begun = 1), 0),
    coalesce((SELECT max(turn) + 1 FROM near WHERE started_by = :user AND (begun = 1 OR status = 'running')), 0)
  )`

/** Those that a bound counts; jobs of one queue have one target, however it is written. */
const OF_KIND = `FROM jobs WHERE status = 'running' AND kind = :kind`
const OF_USER = `${OF_KIND} AND started_by = :user`
const OF_TARGET = `${OF_USER} AND queue = :queue AND (queue <> '' OR target = :target)`

/** The bounds allow no more jobs. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/**
 * Records a job with its first follower, how long its lease is, and what else belongs to it, `INSERT … SELECT`s; all of it or
 * nothing. Rejects with QueueFull where the bounds allow no more.
 */
export async function addJob(
  db: Database,
  job: NewJob,
  { owner, leaseMs }: { owner: string; leaseMs: number },
  more: readonly Statement[] = [],
  { ofTarget, ofUser, ofAll }: JobBounds = UNBOUNDED,
): Promise<Followed> {
  const given = {
    id: job.id,
    folder: job.folder ?? null,
    kind: job.kind,
    args: job.args,
    queue: storedText(job.queue),
    target: storedText(job.target),
    at: job.started_at,
    user: job.started_by,
    owner,
    leaseMs,
    ofTarget,
    ofUser,
    ofAll,
  }
  const [added = 0] = await db.batch([
    positional(
      `INSERT INTO jobs (id, folder, kind, args, queue, target, status, started_at, started_by, owner, epoch, lease_until, turn)
       SELECT :id, :folder, :kind, :args, :queue, :target, 'running', :at, :user, :owner, 1, ${NOW_MS} + :leaseMs, (${TURN})
       WHERE (SELECT count(*) ${OF_TARGET}) < :ofTarget AND (SELECT count(*) ${OF_USER}) < :ofUser
         AND (SELECT count(*) ${OF_KIND}) < :ofAll`,
      given,
    ),
    ...more.map(({ sql, args = [] }) => ({
      sql: `${sql} WHERE EXISTS (SELECT 1 FROM jobs WHERE id = ?)`,
      args: [...args, job.id],
    })),
  ])
  if (added === 0) throw new QueueFull(`no more jobs of kind ${job.kind}`)
  return { id: job.id, epoch: 1 }
}

const UNBOUNDED: JobBounds = { ofTarget: 2 ** 31, ofUser: 2 ** 31, ofAll: 2 ** 31 }

/** A statement whose arguments have names, as one whose arguments have places. */
function positional(sql: string, given: Record<string, string | number | Buffer | null>): Statement {
  const args: (string | number | Buffer | null)[] = []
  const text = sql.replace(/:(\w+)/g, (_, name: string) => {
    args.push(given[name] ?? null)
    return '?'
  })
  return { sql: text, args }
}

export async function findJob(db: Database, id: string): Promise<JobRow | undefined> {
  const [job] = await db.query(JobRow, 'SELECT * FROM jobs WHERE id = ?', [id])
  return job
}

const Queued = z.object({ id: z.string(), queue: StoredText, target: StoredText, begun: z.number().transform(Boolean) })

/** A running job and the queue it is in; `begun` once its turn has come. */
export type QueuedJob = z.infer<typeof Queued>

/** Every running job, in the order in which those that are in each other's way have their turns. */
export function queuedJobs(db: Database): Promise<QueuedJob[]> {
  return db.query(
    Queued,
    `SELECT id, queue, target, begun FROM jobs WHERE status = 'running' ORDER BY begun DESC, turn, rowid`,
  )
}

/** Records that a running job has its turn; false while one that is in its way has. */
export async function takeTurn(db: Database, id: string): Promise<boolean> {
  const changed = await db.run(
    `UPDATE jobs SET begun = 1 WHERE id = ? AND status = 'running' AND NOT EXISTS (
       SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other.begun = 1 AND other.id <> jobs.id
         AND ${meets('other.queue', 'jobs.queue')})`,
    [id],
  )
  return changed > 0
}

/** Records that the host has the job, and its parts unless they are known; false when somebody else follows it. */
export async function markLaunched(
  db: Database,
  { id, epoch }: Followed,
  parts?: readonly JobPart[],
): Promise<boolean> {
  const changed = await db.run('UPDATE jobs SET launched = 1, parts = coalesce(parts, ?) WHERE id = ? AND epoch = ?', [
    parts ? JSON.stringify(parts) : null,
    id,
    epoch,
  ])
  return changed > 0
}

/** Records who wants a running job to end, with the audit entry of it; of several the first. False, and neither, when it is not running. */
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
  /** How its parts ended; without them they stay as they are. */
  parts?: readonly JobPart[]
}

/**
 * Ends a running job, as one that was `cancelledBy` somebody or was not, with what else its end changes; false when that is
 * not so, or it has ended, or somebody else follows it. `more` must change nothing then.
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

/** Notes parts with the end of a job, by who may record that. */
export function noteParts({ id, epoch }: Followed, parts: readonly JobPart[]): Statement {
  return {
    sql: `UPDATE jobs SET parts = ? WHERE id = ? AND epoch = ? AND status <> 'running'`,
    args: [JSON.stringify(parts), id, epoch],
  }
}

/**
 * Removes some of the jobs of a kind that have ended and are not among its newest `keep`, with their output; those that a
 * target's state is known from stay. False when there is none left to remove.
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

/** Ends those of these jobs that nobody has begun, as errors. */
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
