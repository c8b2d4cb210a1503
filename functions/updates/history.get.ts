import * as z from 'zod'
import type { Database } from '../../db/client.ts'
import { type JobRow, latestJobs } from '../../db/jobs.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { EXAMPLE_JOB, JobRecord, jobRecord } from './job-record.ts'
import { jobPieces } from './job-text.ts'
import { upgradeJob } from './upgrade.ts'

const HISTORY = 50

export default defineFunction({
  method: 'GET',
  path: '/api/updates/history',
  summary: 'The newest jobs',
  description: 'The newest 50 jobs, newest first; `null` when there is none. `output=none` leaves their outputs out.',
  auth: 'user',
  rateLimit: READS,
  request: { query: z.object({ output: z.literal('none').optional() }) },
  response: z.array(JobRecord).nullable(),
  example: {
    query: { output: 'none' },
    response: [EXAMPLE_JOB],
  },

  async handler({ query: { output } }, { db, jobs }) {
    await jobs.upToDate()
    const found = await latestJobs(db, { kind: upgradeJob.kind, limit: HISTORY })
    if (found.length === 0) return null
    return output === 'none' ? found.map(jobRecord) : new JsonStream(records(db, found))
  },
})

async function* records(db: Database, jobs: readonly JobRow[]): AsyncGenerator<string> {
  for (const [at, job] of jobs.entries()) {
    const { finished_at, ...record } = JobRecord.parse(jobRecord(job))
    yield `${at === 0 ? '[' : ','}${JSON.stringify(record).slice(0, -1)},"output":"`
    for await (const piece of jobPieces(db, job)) yield jsonText(piece)
    yield finished_at === undefined ? '"}' : `","finished_at":${JSON.stringify(finished_at)}}`
  }
  yield ']'
}
