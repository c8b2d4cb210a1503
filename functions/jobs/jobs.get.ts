import * as z from 'zod'
import { defineFunction } from '../services.ts'
import {
  EXAMPLE_JOB,
  EXAMPLE_RESULT,
  JobRecord,
  jobRecord,
  JobResult,
  jobResult,
  UpdateKind,
  updateKindOf,
} from './job-record.ts'

/** As many upgrades as the history has, and the checks and repairs that ended last. */
const NEWEST = UpdateKind.options.map((kind) =>
  kind === 'upgrade' ? { kind, limit: 50 } : { kind, limit: 10, isRare: true },
)

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
    'The newest 50 upgrades, the newest 10 checks and the newest 10 remedies, and all that run, without their output, newest first, each with how it ended and who has started it; `kind` is told of what is no upgrade. With `since`, `jobs` is null as long as no job has begun or ended since that answer. It may be asked for every second: one question to the database serves all who ask.',
  auth: 'user',
  // Every open page polls once a second, and one user may have two hundred of them, such as screens on a wall.
  rateLimit: { limit: 2_500, seconds: 10, by: 'user' },
  request: { query: z.object({ since: Version.optional() }) },
  response: z.object({
    version: z.string(),
    jobs: z
      .array(JobRecord.omit({ output: true }).extend({ ...JobResult.shape, kind: UpdateKind.optional() }))
      .nullable(),
  }),
  example: {
    query: { since: '1833.0' },
    response: { version: '1834.0', jobs: [{ ...EXAMPLE_JOB, ...EXAMPLE_RESULT }] },
  },

  async handler({ query: { since } }, { jobs }) {
    await jobs.upToDate()
    const { version, jobs: newest } = await jobs.newest(NEWEST)
    if (version === since) return { version, jobs: null }
    return {
      version,
      jobs: newest.map((job) => ({
        ...jobRecord(job),
        ...updateKindOf(job),
        ...jobResult(job),
        started_by_name: job.started_by_name,
      })),
    }
  },
})
