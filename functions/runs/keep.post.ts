import * as z from 'zod'
import { decide } from '../../db/jobs.ts'
import { JobId } from '../../jobs/jobs.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { findUpdateJob } from '../jobs/job-record.ts'
import { defineFunction } from '../services.ts'
import { protectedRunOf } from '../protection/run-record.ts'
import { targetsOfJob } from '../jobs/job-targets.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/jobs/:id/keep',
  summary: 'Keep an upgrade with a regression',
  description:
    'Records that somebody keeps an upgrade although something does not work since. Its snapshot stays, so going back remains possible. A repeated request changes nothing.',
  auth: 'admin',
  targets: targetsOfJob,
  rateLimit: WRITES,
  audit: ['update_keep'],
  request: { params: z.object({ id: JobId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'La mise à jour est gardée.' } },
  errors: ['job_missing', 'decision_impossible'],

  async handler({ params: { id } }, { db, user, clock, auditEntry, fail }) {
    const job = await findUpdateJob(db, id)
    if (job?.kind !== 'upgrade' && job?.kind !== 'application') throw fail('job_missing')
    const run = protectedRunOf(job)
    const isOpen = job.outcome === 'regressed' || job.outcome === 'rollback_failed' || job.outcome === 'failed'
    if (!run || job.status === 'running' || !isOpen || run.decided?.choice === 'rollback')
      throw fail('decision_impossible')
    if (!run.decided) {
      const entry = auditEntry('update_keep', { target: job.target, details: { job_id: id } })
      await db.batch([decide(id, { by: user.username, at: timestamp(clock()) }), entry])
    }
    return { message: 'La mise à jour est gardée.' }
  },
})
