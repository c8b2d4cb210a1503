import * as z from 'zod'
import { PlanNotCurrent } from '../../db/job-start.ts'
import { findHostAccount } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { isTooLong, shortened, Target } from '../hypervisor/target.ts'
import { PlanId } from '../plans/plan.ts'
import { plannedArgs, usablePlans } from '../plans/usable-plans.ts'
import { defineFunction } from '../services.ts'
import { upgradeJob } from './upgrade-job.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/run',
  summary: 'Start an upgrade',
  description:
    'Starts an upgrade of one target as a job. A client follows its output on topic `update:<job_id>`. An invalid target makes a job that fails at once; a target of more than 64 characters is refused. For a container that does not exist, the job’s `exit_code` reports the failure. With a `plan`, exactly that plan is carried out or nothing is changed: a job that would do something else ends with the error code `plan_changed`. A run without a plan refreshes the package lists first; a run with one does not.',
  auth: 'user',
  rateLimit: WRITES,
  audit: ['update_start'],
  request: { body: z.object({ target: Target, plan: PlanId.optional() }), refusal: 'target_missing' },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', plan: '5f0c1e2d3b4a59687766554f' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Mise à jour lancée.' },
  },
  errors: [
    'target_invalid',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'profile_missing',
    'account_kept_out',
    'queue_full',
    'plan_missing',
    'plan_of_another_target',
    'plan_used',
    'plan_expired',
  ],

  async handler({ body: { target, plan: asked } }, { db, user, settings, jobs, clock, auditEntry, fail }) {
    if (isTooLong(target)) throw fail('target_invalid', { values: { target: shortened(target) } })
    await settings.sshAccount()
    // The token may outlive its user's record, and a job needs an owner.
    const account = await findHostAccount(db, user.id)
    if (!account) throw fail('profile_missing')
    if (account.kept_out) throw fail('account_kept_out')
    const [plan] = asked === undefined ? [] : await usablePlans(db, [asked], clock())
    if (plan && plan.target !== target) throw fail('plan_of_another_target')
    const start = () =>
      jobs.start({
        kind: upgradeJob.kind,
        args: plan ? plannedArgs(plan) : { target },
        target,
        startedBy: user.id,
        ...(plan && { plan: plan.id }),
        announce: (id) =>
          auditEntry('update_start', {
            target,
            details: { job_id: id, ...(plan && { plan: plan.id, hash: plan.hash }) },
          }),
      })
    const job_id = await start().catch(async (error: unknown) => {
      // Another request was faster.
      if (asked !== undefined && error instanceof PlanNotCurrent) await usablePlans(db, [asked], clock())
      throw error
    })
    return { job_id, message: 'Mise à jour lancée.' }
  },
})
