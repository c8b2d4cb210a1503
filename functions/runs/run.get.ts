import * as z from 'zod'
import { jobsOfRun } from '../../db/job-list.ts'
import { findRun } from '../../db/plans.ts'
import { READS } from '../../runtime/function.ts'
import { EXAMPLE_JOB, EXAMPLE_RESULT, ListedRecord, listedRecord } from '../jobs/job-record.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_RUN, RunId } from '../plans/run.ts'

const JobOfRun = ListedRecord.extend({ packages: z.int().min(0).nullable(), begun_at: z.string().nullable() })

export default defineFunction({
  method: 'GET',
  path: '/api/updates/runs/:id',
  summary: 'A run of several plans',
  description:
    'Returns the jobs of a run in the order of its plans, each as in the list of jobs, without its output. `packages` is the number of packages that its plan changes; null once the plan is gone. `begun_at` is the beginning of its first phase, before which it may have waited for others; null before, and for a job without phases.',
  auth: 'user',
  targets: async ({ params: { id } }, { db }) => (await jobsOfRun(db, id)).map(({ target }) => target),
  rateLimit: READS,
  request: { params: z.object({ id: RunId }) },
  response: z.object({
    id: RunId,
    started_at: z.string(),
    started_by_name: z.string(),
    jobs: z.array(JobOfRun),
  }),
  example: {
    response: {
      id: EXAMPLE_RUN,
      started_at: EXAMPLE_JOB.started_at,
      started_by_name: 'alice',
      jobs: [
        {
          ...EXAMPLE_JOB,
          ...EXAMPLE_RESULT,
          run_id: EXAMPLE_RUN,
          plan_id: '5f0c1e2d3b4a59687766554f',
          packages: 12,
          begun_at: EXAMPLE_JOB.started_at,
        },
      ],
    },
  },
  errors: ['run_missing'],

  async handler({ params: { id } }, { db, jobs, fail }) {
    await jobs.upToDate()
    const run = await findRun(db, id)
    if (!run) throw fail('run_missing')
    return { ...run, jobs: (await jobsOfRun(db, run.id)).map(jobOfRun) }
  },
})

function jobOfRun(job: Awaited<ReturnType<typeof jobsOfRun>>[number]): z.infer<typeof JobOfRun> {
  const { packages, begun_at } = job
  return { ...listedRecord(job), packages, begun_at }
}
