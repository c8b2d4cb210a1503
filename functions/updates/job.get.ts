import * as z from 'zod'
import { findUser } from '../../db/users.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JobId } from '../../runtime/job-id.ts'
import {
  EXAMPLE_JOB,
  EXAMPLE_RESULT,
  findUpdateJob,
  JobRecord,
  JobResult,
  jobRecord,
  jobResult,
  uncheckedIn,
  UpdateKind,
  updateKindOf,
} from './job-record.ts'
import { jobText } from './job-text.ts'
import { Target } from './target.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id',
  summary: 'A job',
  description:
    'Its record with the exit code of its command, the code of its error, who has started it, the size of its output in bytes, and of one over `all` what became of each container. `output=none` leaves the output out; `kind` is told of what is no upgrade, `unchecked` of a check.',
  auth: 'user',
  rateLimit: READS,
  request: { params: z.object({ id: JobId }), query: z.object({ output: z.literal('none').optional() }) },
  response: JobRecord.extend({
    ...JobResult.shape,
    kind: UpdateKind.optional(),
    unchecked: z
      .array(Target)
      .optional()
      .meta({ description: 'Of a check that has ended: the targets that did not answer.' }),
    output_size: z.int(),
  }),
  example: {
    query: { output: 'none' },
    response: { ...EXAMPLE_JOB, ...EXAMPLE_RESULT, output_size: 1834 },
  },
  errors: ['job_missing'],

  async handler({ params: { id }, query: { output } }, { db, jobs, fail }) {
    await jobs.upToDate(id)
    const job = await findUpdateJob(db, id)
    if (!job) throw fail('job_missing')
    const user = await findUser(db, job.started_by)
    return {
      ...jobRecord(job),
      ...(output !== 'none' && { output: await jobText(db, job) }),
      ...updateKindOf(job),
      ...jobResult(job),
      ...(job.kind === 'check' && job.status !== 'running' && { unchecked: uncheckedIn(job), containers: null }),
      started_by_name: user?.username ?? '',
      output_size: job.output_size,
    }
  },
})
