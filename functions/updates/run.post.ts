import * as z from 'zod'
import { findHostAccount } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { isTooLong, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { upgradeJob } from './upgrade.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/run',
  summary: 'Start an upgrade',
  description:
    'Starts an upgrade of one target as a job. A client follows its output on topic `update:<job_id>`. An invalid target makes a job that fails at once; a target of more than 64 characters is refused. For a container that does not exist, the job’s `exit_code` reports the failure.',
  auth: 'user',
  rateLimit: WRITES,
  audit: ['update_start'],
  request: { body: z.object({ target: Target }), refusal: 'target_missing' },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Mise à jour lancée.' },
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
    if (isTooLong(target)) throw fail('target_invalid', { values: { target: shortened(target) } })
    await settings.sshAccount()
    // The token may outlive its user's record, and a job needs an owner.
    const account = await findHostAccount(db, user.id)
    if (!account) throw fail('profile_missing')
    if (account.kept_out) throw fail('account_kept_out')
    const job_id = await jobs.start({
      kind: upgradeJob.kind,
      args: { target },
      target,
      startedBy: user.id,
      announce: (id) => auditEntry('update_start', { target, details: { job_id: id } }),
    })
    return { job_id, message: 'Mise à jour lancée.' }
  },
})
