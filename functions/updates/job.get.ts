import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JobId } from '../../runtime/job-id.ts'
import { EXAMPLE_JOB, findUpgrade, JobRecord, jobRecord } from './job-record.ts'
import { jobText } from './job-text.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id',
  summary: 'A job',
  description:
    'Its record with the exit code of its command and the size of its output in bytes. `output=none` leaves the output out.',
  auth: 'user',
  rateLimit: READS,
  request: { params: z.object({ id: JobId }), query: z.object({ output: z.literal('none').optional() }) },
  response: JobRecord.extend({ exit_code: z.int().nullable(), output_size: z.int() }),
  example: {
    query: { output: 'none' },
    response: { ...EXAMPLE_JOB, exit_code: 0, output_size: 1834 },
  },
  errors: ['job_missing'],

  async handler({ params: { id }, query: { output } }, { db, jobs, fail }) {
    await jobs.upToDate(id)
    const job = await findUpgrade(db, id)
    if (!job) throw fail('job_missing')
    const { exit_code, output_size } = job
    return {
      ...jobRecord(job),
      ...(output !== 'none' && { output: await jobText(db, job) }),
      exit_code,
      output_size,
    }
  },
})
