import * as z from 'zod'
import { listJobs } from '../../db/job-list.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_JOB, EXAMPLE_RESULT, ListedRecord, listedRecord, UpdateKind } from './job-record.ts'

/** As many upgrades as the history has, and the checks and repairs that ended last. */
const NEWEST = UpdateKind.options.map((kind) =>
  kind === 'upgrade' ? { kind, limit: 50 } : { kind, limit: 10, isRare: true },
)

const Version = z
  .string()
  .max(64)
  .meta({
    description: 'The `version` of a previous answer.',
    examples: ['1834.1'],
  })

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs',
  summary: 'The newest jobs, for polling',
  description:
    'Returns the newest 50 upgrades, 10 checks and 10 remedies, and all running jobs, newest first. Each has its result, its warnings and its user, but not its output. Upgrades have no `kind`. With `since`, `jobs` is null while no job has begun, changed its phase or ended since that answer. Clients may poll every second, because one query of the database serves all of them.',
  auth: 'user',
  targets: 'own',
  // Every open page polls once a second, and one user may have two hundred of them, such as screens on a wall.
  rateLimit: { limit: 2_500, seconds: 10, by: 'user' },
  request: { query: z.object({ since: Version.optional() }) },
  response: z.object({
    version: z.string(),
    jobs: z.array(ListedRecord).nullable(),
  }),
  example: {
    query: { since: '1833.0' },
    response: { version: '1834.0', jobs: [{ ...EXAMPLE_JOB, ...EXAMPLE_RESULT }] },
  },

  async handler({ query: { since } }, { db, user, jobs }) {
    await jobs.upToDate()
    const { version, jobs: newest } = await jobs.newest(NEWEST)
    if (version === since) return { version, jobs: null }
    // The shared list may have none of the jobs that a bounded caller may see.
    const seen = user.targets === 'all' ? newest : await listJobs(db, NEWEST, user.targets)
    return { version, jobs: seen.map(listedRecord) }
  },
})
