import * as z from 'zod'
import type { JobRow } from '../../db/jobs.ts'

/** A job as the history tells it. */
export const JobRecord = z.object({
  job_id: z.string(),
  target: z.string(),
  status: z.enum(['running', 'success', 'error']),
  output: z.string().optional(),
  started_at: z.string(),
  finished_at: z.string().optional(),
})
export type JobRecord = z.infer<typeof JobRecord>

/** The record of a job without its output. */
export function jobRecord({ id, target, status, started_at, finished_at }: JobRow): JobRecord {
  return { job_id: id, target, status, started_at, ...(finished_at !== null && { finished_at }) }
}
