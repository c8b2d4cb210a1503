import type { PlanHeader } from '../../db/plans.ts'
import type { Statement } from '../../db/libsql/database.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { plannedArgs } from '../plans/usable-plans.ts'
import { readPolicies } from '../protection/policies.ts'
import { latenessIn, readStanding } from '../restarts/standing.ts'
import type { Services } from '../services.ts'
import { upgradeJob } from './upgrade-job.ts'

/** A run of plans to start. `entry` makes the audit entry of each job's start. */
export interface PlannedRun {
  id: string
  plans: readonly PlanHeader[]
  startedBy: number
  entry(note: AuditNote): Statement
  /** The part that it is of a schedule's run. */
  within?: Parameters<Jobs['startRun']>[2]
}

/**
 * Starts a job for each plan, or none. Each container has the protection of its policy, and the targets on which the panel
 * stands come last. Returns the ids of the jobs in the order of the plans; throws `queue_full` and a StartRefused.
 */
export async function startPlannedRun(
  { db, jobs }: Pick<Services, 'db' | 'jobs'>,
  { id: run, plans, startedBy, entry, within }: PlannedRun,
): Promise<string[]> {
  const policies = await readPolicies(db)
  const lateness = latenessIn(await readStanding(db))
  const protection = (target: string) =>
    target === 'host' ? {} : { protection: policies.own.get(target) ?? policies.default }
  const requests = plans.map((plan) => ({
    kind: upgradeJob.kind,
    args: { ...plannedArgs(plan), ...protection(plan.target) },
    target: plan.target,
    startedBy,
    plan: plan.id,
    late: lateness(plan.target),
    announce: (id: string) =>
      entry({ target: plan.target, details: { job_id: id, run, plan: plan.id, hash: plan.hash } }),
  }))
  return jobs.startRun(run, requests, within)
}
