import * as z from 'zod'
import { snapshotOfJob } from '../../db/snapshots.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { findUpdateJob } from '../jobs/job-record.ts'
import { defineFunction } from '../services.ts'
import { snapshotJob } from './rollback-job.ts'
import { targetsOfJob } from '../jobs/job-targets.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/updates/jobs/:id/snapshot',
  summary: 'Remove the snapshot of an upgrade',
  description:
    'Starts a job that removes the snapshot or backup that an upgrade has made. Nobody can go back to it afterwards. It waits for the running job of the same container.',
  auth: 'admin',
  targets: targetsOfJob,
  rateLimit: WRITES,
  audit: ['snapshot_delete'],
  request: { params: z.object({ id: JobId }) },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: { response: { job_id: '1772366400-k3x9q2pa', message: 'L’instantané va être supprimé.' } },
  errors: ['job_missing', 'snapshot_missing', 'queue_full', ...OWNER_ERRORS],

  async handler({ params: { id } }, { db, user, settings, jobs, auditEntry, fail }) {
    const job = await findUpdateJob(db, id)
    if (job?.kind !== 'upgrade' && job?.kind !== 'application') throw fail('job_missing')
    const snapshot = await snapshotOfJob(db, id)
    if (job.status === 'running' || !snapshot?.present) throw fail('snapshot_missing')
    await requireOwner({ db, settings, user })
    const { name, kind, location } = snapshot
    const job_id = await jobs.start({
      kind: snapshotJob.kind,
      args: { target: job.target, of: id, name, kind, location },
      target: job.target,
      startedBy: user.id,
      announce: (started) =>
        auditEntry('snapshot_delete', { target: job.target, details: { job_id: started, of: id, snapshot: name } }),
    })
    const message = kind === 'backup' ? 'La sauvegarde va être supprimée.' : 'L’instantané va être supprimé.'
    return { job_id, message }
  },
})
