import * as z from 'zod'
import { onlyIf } from './audit.ts'
import type { Database, Statement } from './client.ts'
import { NOW_MS } from './job-leases.ts'
import { StoredText, storedText } from './text.ts'

const Row = z.object({
  id: z.string(),
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
})
/**
 * A job as stored. `error` is the text that stands for the output of a failed one, `error_code` its stable word;
 * `output_size` counts the bytes of the text that was stored, of which those before `output_from` are removed, and
 * `host_offset` those of the host's file that it was made of. Of those with the same `queue` one runs at a time. `epoch`
 * counts who has followed it: only the last one may write.
 */
export type JobRow = z.infer<typeof Row>

export type NewJob = Pick<JobRow, 'id' | 'kind' | 'args' | 'queue' | 'target' | 'started_at' | 'started_by'>

/** Who may write of a job. */
export type Followed = Pick<JobRow, 'id' | 'epoch'>

/** Records a job with its first follower, how long its lease is, and what else belongs to it; all of it or nothing. */
export async function addJob(
  db: Database,
  job: NewJob,
  { owner, leaseMs }: { owner: string; leaseMs: number },
  more: readonly Statement[] = [],
): Promise<Followed> {
  await db.batch([
    {
      sql: `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, started_by, owner, epoch, lease_until)
            VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, 1, ${NOW_MS} + ?)`,
      args: [
        job.id,
        job.kind,
        job.args,
        storedText(job.queue),
        storedText(job.target),
        job.started_at,
        job.started_by,
        owner,
        leaseMs,
      ],
    },
    ...more,
  ])
  return { id: job.id, epoch: 1 }
}

export async function findJob(db: Database, id: string): Promise<JobRow | undefined> {
  const [job] = await db.query(Row, 'SELECT * FROM jobs WHERE id = ?', [id])
  return job
}

const Queued = z.object({ id: z.string(), queue: StoredText, target: StoredText })

/** A running job and the queue it is in. */
export type QueuedJob = z.infer<typeof Queued>

/** Every running job in the order of arrival. */
export function queuedJobs(db: Database): Promise<QueuedJob[]> {
  return db.query(Queued, `SELECT id, queue, target FROM jobs WHERE status = 'running' ORDER BY rowid`)
}

/** Those of one kind, the newest first. */
export function latestJobs(db: Database, { kind, limit }: { kind: string; limit: number }): Promise<JobRow[]> {
  return db.query(Row, 'SELECT * FROM jobs WHERE kind = ? ORDER BY started_at DESC, rowid DESC LIMIT ?', [kind, limit])
}

/** Records that the host has the job; false when somebody else follows it. */
export async function markLaunched(db: Database, { id, epoch }: Followed): Promise<boolean> {
  return (await db.run('UPDATE jobs SET launched = 1 WHERE id = ? AND epoch = ?', [id, epoch])) > 0
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
}

/**
 * Ends a running job, as one that was `cancelledBy` somebody or was not; false when that is not so, or it has ended, or
 * somebody else follows it.
 */
export async function endJob(
  db: Database,
  { id, epoch }: Followed,
  { status, error, error_code, exit_code }: JobEnd,
  { now, cancelledBy = null }: { now: string; cancelledBy?: string | null },
): Promise<boolean> {
  const changed = await db.run(
    `UPDATE jobs SET status = ?, error = ?, error_code = ?, exit_code = ?, finished_at = ?, owner = NULL
     WHERE id = ? AND epoch = ? AND status = 'running' AND cancelled_by IS ?`,
    [status, error && storedText(error), error_code, exit_code, now, id, epoch, cancelledBy],
  )
  return changed > 0
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

const JobCount = z.object({ kind: z.string(), status: z.string(), count: z.number() })

/** How many jobs there are of a kind in a status. */
export type JobCount = z.infer<typeof JobCount>

/** How many jobs there are of each of these kinds and each status, those of which there are none too. */
export async function countJobs(db: Database, kinds: readonly string[]): Promise<JobCount[]> {
  const rows = await db.query(JobCount, 'SELECT kind, status, count(*) AS count FROM jobs GROUP BY kind, status')
  const counted = new Map(rows.map(({ kind, status, count }) => [`${kind} ${status}`, count]))
  return kinds.flatMap((kind) =>
    Row.shape.status.options.map((status) => ({ kind, status, count: counted.get(`${kind} ${status}`) ?? 0 })),
  )
}
