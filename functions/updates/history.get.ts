import * as z from 'zod'
import { type JobRow, latestJobs } from '../../db/jobs.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { createGate } from '../../runtime/gate.ts'
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
type JobRecord = z.infer<typeof JobRecord>

/** Fifty long outputs are 200 MB: one such answer is made at a time, and few may wait for it. */
const withOutput = createGate({ running: 1, waiting: 16 })
const RETRY_SECONDS = 2

/** The newest 50 jobs, newest first; `null` when there is none. */
export default defineFunction({
  method: 'GET',
  path: '/api/updates/history',
  auth: 'user',
  rateLimit: READS,
  request: { query: z.object({ output: z.literal('none').optional() }) },
  response: z.array(JobRecord).nullable(),

  errors: ['busy'],

  async handler({ query: { output } }, { db, fail }) {
    const jobs = await latestJobs(db, HISTORY)
    if (jobs.length === 0) return null
    if (output === 'none') return jobs.map((job) => record(job))
    const made = await withOutput.enter(async () => {
      const records: JobRecord[] = []
      for (const job of jobs) records.push({ ...record(job), output: await jobText(db, job) })
      return records
    })
    if (!made) throw fail('busy', { retryAfter: RETRY_SECONDS, values: { seconds: RETRY_SECONDS } })
    return made.result
  },
})

function record({ id, target, status, started_at, finished_at }: JobRow): JobRecord {
  return { job_id: id, target, status, started_at, ...(finished_at !== null && { finished_at }) }
}
