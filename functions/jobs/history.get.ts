import * as z from 'zod'
import { latestJobs } from '../../db/job-list.ts'
import type { JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { jobPieces } from '../../jobs/jobs.ts'
import { READS } from '../../runtime/function.ts'
import { createLongAnswers, jsonText } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_JOB, JobRecord, jobRecord, UpdateKind } from './job-record.ts'

const HISTORY = 50

/** A history with all outputs may reach 200 MiB. */
const longAnswer = createLongAnswers()

export default defineFunction({
  method: 'GET',
  path: '/api/updates/history',
  summary: 'The newest jobs',
  description:
    'Returns the newest 50 upgrades, or jobs of another `kind`, newest first; `null` if there are none. `output=none` omits the outputs. A user has two answers with outputs at a time.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  request: { query: z.object({ output: z.literal('none').optional(), kind: UpdateKind.default('upgrade') }) },
  response: z.array(JobRecord).nullable(),
  example: {
    query: { output: 'none', kind: 'upgrade' },
    response: [EXAMPLE_JOB],
  },

  errors: ['rate_limited'],

  async handler({ query: { output, kind } }, { db, user, jobs }) {
    await jobs.upToDate()
    const found = await latestJobs(db, { kind, limit: HISTORY, targets: user.targets })
    if (found.length === 0) return null
    if (output === 'none') return found.map(jobRecord)
    return longAnswer(db, user.id, records(db, found))
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
