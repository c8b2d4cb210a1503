import * as z from 'zod'
import type { Database } from '../../db/client.ts'
import { type JobRow, latestJobs } from '../../db/jobs.ts'
import { createAtOnce } from '../../runtime/at-once.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { EXAMPLE_JOB, JobRecord, jobRecord, UpdateKind } from './job-record.ts'
import { jobPieces } from './job-text.ts'

const HISTORY = 50
/** Histories with all outputs that one user reads at a time: each may be 200 MiB. */
const AT_ONCE = 2
/** So long one that nobody reads from keeps its place. */
const IDLE_MS = 30_000
/** Reading one takes seconds. */
const AGAIN_S = 5

const readers = createAtOnce(AT_ONCE, IDLE_MS)

export default defineFunction({
  method: 'GET',
  path: '/api/updates/history',
  summary: 'The newest jobs',
  description:
    'The newest 50 upgrades, or jobs of another `kind`, newest first; `null` when there is none. `output=none` leaves their outputs out, and with them two at a time are answered for a user.',
  auth: 'user',
  rateLimit: READS,
  request: { query: z.object({ output: z.literal('none').optional(), kind: UpdateKind.default('upgrade') }) },
  response: z.array(JobRecord).nullable(),
  example: {
    query: { output: 'none', kind: 'upgrade' },
    response: [EXAMPLE_JOB],
  },

  errors: ['rate_limited'],

  async handler({ query: { output, kind } }, { db, user, jobs, fail }) {
    await jobs.upToDate()
    const found = await latestJobs(db, { kind, limit: HISTORY })
    if (found.length === 0) return null
    if (output === 'none') return found.map(jobRecord)
    const read = readers.enter(db, user.id, records(db, found))
    if (!read) throw fail('rate_limited', { values: { seconds: AGAIN_S }, retryAfter: AGAIN_S })
    return new JsonStream(read)
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
