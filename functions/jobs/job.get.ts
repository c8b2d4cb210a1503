import * as z from 'zod'
import { snapshotOfJob } from '../../db/snapshots.ts'
import { findUser } from '../../db/users.ts'
import { JobId, jobPieces } from '../../jobs/jobs.ts'
import { READS } from '../../runtime/function.ts'
import { createLongAnswers, JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { uncheckedIn } from '../checks/check.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import {
  askedIn,
  EXAMPLE_JOB,
  EXAMPLE_RESULT,
  findUpdateJob,
  JobRecord,
  jobRecord,
  JobResult,
  jobResult,
  RunDetails,
  runDetails,
  UpdateKind,
  updateKindOf,
} from './job-record.ts'
import { targetsOfJob } from './job-targets.ts'

const JobAnswer = JobRecord.extend({
  ...JobResult.shape,
  ...RunDetails.shape,
  kind: UpdateKind.optional(),
  unchecked: z
    .array(Target)
    .optional()
    .meta({ description: 'The targets that did not answer; only for a check that has ended.' }),
  output_size: z.int(),
})

/**
 * Longest output, in bytes, without a limit on concurrent responses. An output of 4 MiB can be 24 MiB of JSON. A user
 * reads at most two longer ones at a time.
 */
const LONG = 512 * 1024
const longAnswer = createLongAnswers()

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id',
  summary: 'A job',
  description:
    'Returns the record of a job: the exit code of its command, the code of its error, its user, the size of its output in bytes, for a job of `all` the result of each container, and for an upgrade its `warnings`. `output=none` omits the output. A user has two answers with an output of more than 512 KiB at a time. Upgrades have no `kind`; only checks have `unchecked`. A protected upgrade has its phases, also while it runs, and at its end the comparison of the container before and after it.',
  auth: 'user',
  targets: targetsOfJob,
  rateLimit: READS,
  request: { params: z.object({ id: JobId }), query: z.object({ output: z.literal('none').optional() }) },
  response: JobAnswer,
  example: {
    query: { output: 'none' },
    response: { ...EXAMPLE_JOB, ...EXAMPLE_RESULT, phases: [], comparison: null, application: null, output_size: 1834 },
  },
  errors: ['job_missing', 'rate_limited'],

  async handler({ params: { id }, query: { output } }, { db, user, jobs, fail }) {
    await jobs.upToDate(id)
    const job = await findUpdateJob(db, id)
    if (!job) throw fail('job_missing')
    const own = (await snapshotOfJob(db, id)) ?? null
    const starter = await findUser(db, job.started_by)
    const record = {
      ...jobRecord(job),
      ...updateKindOf(job),
      ...jobResult({
        ...job,
        asked: askedIn(job),
        snapshot: own && JSON.stringify({ ...own, present: Number(own.present) }),
      }),
      ...runDetails(job),
      ...(job.kind === 'check' && job.status !== 'running' && { unchecked: uncheckedIn(job), containers: null }),
      started_by_name: starter?.username ?? '',
      output_size: job.output_size,
    }
    if (output === 'none') return record
    const told = pieces(JobAnswer.parse(record), jobPieces(db, job))
    return job.output_size - job.output_from <= LONG ? new JsonStream(told) : longAnswer(db, user.id, told)
  },
})

/** Yields the output last, at the speed at which the client reads. */
async function* pieces(record: z.infer<typeof JobAnswer>, output: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${JSON.stringify(record).slice(0, -1)},"output":"`
  for await (const piece of output) yield jsonText(piece)
  yield '"}'
}
