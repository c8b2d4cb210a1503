import * as z from 'zod'
import { defineFunction, WRITES } from '../../runtime/function.ts'
import { shortened, TARGET_LENGTH } from './target.ts'
import { upgradeJob } from './upgrade.ts'

/** Starts an upgrade of one target; its output is followed on topic `update:<job_id>`. */
export default defineFunction({
  method: 'POST',
  path: '/api/updates/run',
  auth: 'user',
  rateLimit: WRITES,
  audit: ['update_start'],
  request: { body: z.object({ target: z.string().min(1) }), refusal: 'target_missing' },
  status: 202,
  response: z.object({ job_id: z.string(), message: z.string() }),
  errors: ['ssh_incomplete', 'ssh_password_unreadable', 'target_invalid'],

  async handler({ body: { target } }, { user, settings, jobs, audit, fail }) {
    await settings.sshAccount()
    // Any other invalid target is recorded as a job that fails; one of this length is not worth keeping.
    if (target.length > TARGET_LENGTH) throw fail('target_invalid', { values: { target: shortened(target) } })
    const job_id = await jobs.start({
      kind: upgradeJob.kind,
      args: { target },
      target,
      startedBy: user.id,
      announce: (id) => audit('update_start', { target, details: { job_id: id } }),
    })
    return { job_id, message: 'Mise à jour lancée.' }
  },
})
