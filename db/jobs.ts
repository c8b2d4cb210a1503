import * as z from 'zod'
import type { Database } from './client.ts'
import { StoredText, storedText } from './text.ts'

const Row = z.object({
  id: z.string(),
  kind: z.string(),
  args: z.string(),
  target: StoredText,
  status: z.enum(['running', 'success', 'error']),
  error: StoredText.nullable(),
  error_code: z.string().nullable(),
  exit_code: z.number().nullable(),
  output_size: z.number(),
  host_offset: z.number(),
  launched: z.number().transform(Boolean),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  started_by: z.number(),
})
/**
 * A job as stored. `error` is the text that stands for the output of a failed one, `error_code` its stable word; `output_size` counts the bytes of
 * the stored text, `host_offset` those of the host's file that it was made of.
 */
export type JobRow = z.infer<typeof Row>

export type NewJob = Pick<JobRow, 'id' | 'kind' | 'args' | 'target' | 'started_at' | 'started_by'>

export async function addJob(db: Database, job: NewJob): Promise<void> {
  await db.run(
    `INSERT INTO jobs (id, kind, args, target, status, started_at, started_by) VALUES (?, ?, ?, ?, 'running', ?, ?)`,
    [job.id, job.kind, job.args, storedText(job.target), job.started_at, job.started_by],
  )
}

export async function findJob(db: Database, id: string): Promise<JobRow | undefined> {
  const [job] = await db.query(Row, 'SELECT * FROM jobs WHERE id = ?', [id])
  return job
}

export function runningJobs(db: Database): Promise<JobRow[]> {
  return db.query(Row, `SELECT * FROM jobs WHERE status = 'running' ORDER BY started_at, id`)
}

/** The newest first. */
export function latestJobs(db: Database, limit: number): Promise<JobRow[]> {
  return db.query(Row, 'SELECT * FROM jobs ORDER BY started_at DESC, rowid DESC LIMIT ?', [limit])
}

/** Records that the host has the job. */
export async function markLaunched(db: Database, id: string): Promise<void> {
  await db.run('UPDATE jobs SET launched = 1 WHERE id = ?', [id])
}

export interface JobEnd {
  status: 'success' | 'error'
  error: string | null
  error_code: string | null
  exit_code: number | null
}

/** Ends a running job; one that has ended stays as it is. */
export async function endJob(
  db: Database,
  id: string,
  { status, error, error_code, exit_code }: JobEnd,
  now: string,
): Promise<void> {
  await db.run(
    `UPDATE jobs SET status = ?, error = ?, error_code = ?, exit_code = ?, finished_at = ? WHERE id = ? AND status = 'running'`,
    [status, error && storedText(error), error_code, exit_code, now, id],
  )
}
