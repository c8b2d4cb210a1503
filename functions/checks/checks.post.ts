import * as z from 'zod'
import { findHostAccount } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { startCheck } from './check-job.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/checks',
  summary: 'Check a target',
  description:
    'Starts a job that refreshes the package lists of the host, of one container, or of the host and all containers, and finds the available updates. A client follows it like an upgrade. A target has one check at a time: a second request gets the same job. A stopped container stays stopped.',
  auth: 'user',
  rateLimit: WRITES,
  audit: ['check_start'],
  request: { body: z.object({ target: Target }), refusal: 'target_missing' },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Vérification lancée.' },
  },
  errors: [
    'target_invalid',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'profile_missing',
    'account_kept_out',
    'queue_full',
  ],

  async handler({ body: { target } }, { db, user, settings, jobs, auditEntry, fail }) {
    if (!isCheckable(target)) throw fail('target_invalid', { values: { target: shortened(target) } })
    await settings.sshAccount()
    // The token may outlive its user's record, and a job needs an owner.
    const account = await findHostAccount(db, user.id)
    if (!account) throw fail('profile_missing')
    if (account.kept_out) throw fail('account_kept_out')
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
