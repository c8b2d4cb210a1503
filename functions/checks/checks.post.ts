import * as z from 'zod'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { startCheck } from './check-job.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/checks',
  summary: 'Check a target',
  description:
    'Starts a job that refreshes the package lists of the host, of one container, or of the host and all containers, and finds the available updates. A client follows it like an upgrade. A target has one check at a time: a second request gets the same job. A stopped container stays stopped.',
  auth: 'operator',
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['check_start'],
  request: { body: z.object({ target: Target }), refusal: 'target_missing' },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Vérification lancée.' },
  },
  errors: ['target_invalid', ...WORKER_ERRORS, 'queue_full'],

  async handler({ body: { target } }, { db, user, settings, jobs, auditEntry, fail }) {
    if (!isCheckable(target)) throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireWorker({ db, settings, user })
    const job_id = await startCheck(
      { db, jobs, settings },
      {
        target,
        startedBy: user.id,
        announce: (id) => auditEntry('check_start', { target, details: { job_id: id } }),
      },
    )
    return { job_id, message: 'Vérification lancée.' }
  },
})

/** The container tool, which judges the ids of upgrades, is asked only for listed containers here. */
function isCheckable(text: string): boolean {
  const target = parseTarget(text)
  return target?.kind === 'container' ? /^[1-9]\d{2,8}$/.test(target.id) : target !== undefined
}
