import * as z from 'zod'
import { defineFunction } from '../../runtime/function.ts'
import { EXAMPLE_JOB, EXAMPLE_RESULT, JobRecord, JobResult, jobRecord, jobResult } from './job-record.ts'
import { upgradeJob } from './upgrade.ts'

/** As many as the history has. */
const NEWEST = 50

const Version = z
  .string()
  .max(64)
  .meta({
    description: 'The `version` of a former answer.',
    examples: ['1834.1'],
  })

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs',
  summary: 'The newest jobs, for who asks again and again',
  description:
    'The newest 50 jobs without their output, newest first, each with how it ended and who has started it. With `since`, `jobs` is null as long as no job has begun or ended since that answer. It may be asked for every second: one question to the database serves all who ask.',
  auth: 'user',
  // Every page that somebody looks at asks once a second, and two hundred of them may be one person's: screens on a wall.
  rateLimit: { limit: 2_500, seconds: 10, by: 'user' },
  request: { query: z.object({ since: Version.optional() }) },
  response: z.object({
    version: z.string(),
    jobs: z.array(JobRecord.omit({ output: true }).extend(JobResult.shape)).nullable(),
  }),
  example: {
    query: { since: '1833.0' },
    response: { version: '1834.0', jobs: [{ ...EXAMPLE_JOB, ...EXAMPLE_RESULT }] },
  },

  async handler({ query: { since } }, { jobs }) {
    await jobs.upToDate()
    const { version, jobs: newest } = await jobs.newest(upgradeJob.kind, NEWEST)
    if (version === since) return { version, jobs: null }
    return {
      version,
      jobs: newest.map((job) => ({
        ...jobRecord(job),
        ...jobResult(job),
        started_by_name: job.started_by_name,
      })),
    }
  },
})
