import * as z from 'zod'
import type { Database } from '../../db/client.ts'
import { findJob, type JobRow } from '../../db/jobs.ts'
import { JobId } from '../../runtime/job-id.ts'
import { upgradeJob } from './upgrade.ts'

/** A job as the history tells it. */
export const JobRecord = z.object({
  job_id: JobId,
  target: z.string(),
  status: z.enum(['running', 'success', 'error']),
  output: z.string().optional(),
  started_at: z.string(),
  finished_at: z.string().optional(),
})
export type JobRecord = z.infer<typeof JobRecord>

/** One, for the documents. */
export const EXAMPLE_JOB = {
  job_id: '1772366400-k3x9q2pa',
  target: 'lxc:101',
  status: 'success',
  started_at: '2026-03-01T12:00:00.000Z',
  finished_at: '2026-03-01T12:00:41.000Z',
} as const satisfies JobRecord

/** The record of a job without its output. */
export function jobRecord({ id, target, status, started_at, finished_at }: JobRow): JobRecord {
  return { job_id: id, target, status, started_at, ...(finished_at !== null && { finished_at }) }
}

/** The upgrade by that id; jobs of other kinds are none. */
export async function findUpgrade(db: Database, id: string): Promise<JobRow | undefined> {
  const job = await findJob(db, id)
  return job?.kind === upgradeJob.kind ? job : undefined
}
