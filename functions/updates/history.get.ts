import * as z from 'zod'
import { latestJobs } from '../../db/jobs.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { jobText } from './job-text.ts'

const HISTORY = 50

const JobRecord = z.object({
  job_id: z.string(),
  target: z.string(),
  status: z.enum(['running', 'success', 'error']),
  output: z.string().optional(),
  started_at: z.string(),
  finished_at: z.string().optional(),
})

/** The newest 50 jobs, newest first; `null` when there is none. */
export default defineFunction({
  method: 'GET',
  path: '/api/updates/history',
  auth: 'user',
  rateLimit: READS,
  request: { query: z.object({ output: z.literal('none').optional() }) },
  response: z.array(JobRecord).nullable(),

  async handler({ query: { output } }, { db }) {
    const records: z.input<typeof JobRecord>[] = []
    for (const job of await latestJobs(db, HISTORY)) {
      const { id, target, status, started_at, finished_at } = job
      records.push({
        job_id: id,
        target,
        status,
        ...(output !== 'none' && { output: await jobText(db, job) }),
        started_at,
        ...(finished_at !== null && { finished_at }),
      })
    }
    return records.length === 0 ? null : records
  },
})
