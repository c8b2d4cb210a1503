import * as z from 'zod'
import { findHostAccount } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { findUpdateJob } from './job-record.ts'
import { targetsOfJob } from './job-targets.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/jobs/:id/cancel',
  summary: 'Cancel a job',
  description:
    'Cancels a queued or running job: the caller’s own or, for administrators, any user’s. Its end is reported like any other.',
  auth: 'operator',
  targets: targetsOfJob,
  rateLimit: WRITES,
  audit: ['update_cancel'],
  request: { params: z.object({ id: JobId }) },
  status: 202,
  response: z.object({ message: z.string() }),
  example: {
    response: { message: 'Annulation demandée.' },
  },
  errors: ['job_missing', 'job_ended', 'forbidden', 'account_kept_out'],

  async handler({ params: { id } }, { db, user, jobs, auditEntry, fail }) {
    if ((await findHostAccount(db, user.id))?.kept_out) throw fail('account_kept_out')
    const job = await findUpdateJob(db, id)
    if (!job) throw fail('job_missing')
    if (job.started_by !== user.id && user.role !== 'admin') throw fail('forbidden')
    const entry = auditEntry('update_cancel', {
      target: job.target,
      details: { job_id: id, ...(job.kind !== 'upgrade' && { kind: job.kind }) },
    })
    if (!(await jobs.cancel(id, user.username, entry))) throw fail('job_ended')
    return { message: 'Annulation demandée.' }
  },
})
