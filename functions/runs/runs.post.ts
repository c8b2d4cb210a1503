import * as z from 'zod'
import { PlanNotCurrent } from '../../db/job-start.ts'
import { JobId } from '../../jobs/jobs.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { WRITES } from '../../runtime/function.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { queueOf } from '../updates/upgrade.ts'
import { PlanId } from '../plans/plan.ts'
import { EXAMPLE_RUN, MOST_PLANS, newRunId, RunId } from '../plans/run.ts'
import { usablePlans } from '../plans/usable-plans.ts'
import { startPlannedRun } from './planned-run.ts'
import { targetsOfPlans } from '../plans/plan-targets.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/runs',
  summary: 'Run several plans',
  description:
    'Starts a job for each of these plans, or none of them. Each plan must be for a target of its own. Four jobs of a user’s runs work at a time, and the others wait; a failed one does not stop them. The targets on which the panel stands come last: what it needs, where it runs, and then the host, each when all before have ended. Each container has the protection of its policy. A user has up to 200 jobs in runs that run or wait, beside the bounds on single upgrades.',
  auth: 'operator',
  targets: ({ body: { plans } }, services) => targetsOfPlans(services, plans),
  rateLimit: WRITES,
  audit: ['update_start'],
  request: { body: z.object({ plans: z.array(PlanId).min(1).max(MOST_PLANS) }) },
  status: 202,
  response: z.object({
    run_id: RunId,
    jobs: z.array(z.object({ target: Target, job_id: JobId })),
    message: z.string(),
  }),
  example: {
    body: { plans: ['5f0c1e2d3b4a59687766554f'] },
    response: {
      run_id: EXAMPLE_RUN,
      jobs: [{ target: 'lxc:101', job_id: '1772366400-k3x9q2pa' }],
      message: 'Mise à jour lancée.',
    },
  },
  errors: [...WORKER_ERRORS, 'queue_full', 'plan_missing', 'plan_used', 'plan_expired', 'target_repeated'],

  async handler({ body: { plans: ids } }, { db, user, settings, jobs, clock, auditEntry, fail }) {
    await requireWorker({ db, settings, user })
    const plans = await usablePlans(db, ids, clock())
    const places = plans.map(({ target }) => queueOf(target))
    if (new Set(places).size < places.length) throw fail('target_repeated')

    const run_id = newRunId()
    const entry = (note: AuditNote) => auditEntry('update_start', note)
    const run = { id: run_id, plans, startedBy: user.id, entry }
    const started = await startPlannedRun({ db, jobs }, run).catch(async (error: unknown) => {
      // Another request was faster.
      if (error instanceof PlanNotCurrent) await usablePlans(db, ids, clock())
      throw error
    })
    const message = plans.length > 1 ? `${plans.length} mises à jour lancées.` : 'Mise à jour lancée.'
    return {
      run_id,
      jobs: plans.flatMap(({ target }, at) => (started[at] === undefined ? [] : [{ target, job_id: started[at] }])),
      message,
    }
  },
})
