import * as z from 'zod'
import { AlreadyQueued, PlanNotCurrent } from '../../db/job-start.ts'
import type { Database } from '../../db/libsql/database.ts'
import { JobId } from '../../jobs/jobs.ts'
import { expectProven } from '../../runtime/access.ts'
import { WRITES } from '../../runtime/function.ts'
import { documentedAs } from '../../runtime/input.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { isTooLong, parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { PlanId } from '../plans/plan.ts'
import { plannedArgs, usablePlans } from '../plans/usable-plans.ts'
import { policyOf } from '../protection/policies.ts'
import { Protection } from '../protection/protection.ts'
import { defineFunction, fail } from '../services.ts'
import { upgradeJob } from './upgrade-job.ts'

/** Any value: `refusal` blames the target, so the handler refuses what is no plan. */
const GivenPlan = documentedAs(PlanId, z.unknown()).optional()
const GivenProtection = documentedAs(Protection, z.unknown()).optional()

export default defineFunction({
  method: 'POST',
  path: '/api/updates/run',
  summary: 'Start an upgrade',
  description:
    'Starts an upgrade of one target as a job. A client follows its output on topic `update:<job_id>`. An invalid target makes a job that fails at once; a target of more than 64 characters is refused. For a container that does not exist, the job’s `exit_code` reports the failure. With a `plan`, exactly that plan is carried out or nothing is changed: a job that would do something else ends with the error code `plan_changed`. A run without a plan refreshes the package lists first; a run with one does not. A run without a plan starts nothing while an upgrade of the same target runs or waits, and names that job in `job_id`: 409 `already_queued`. A run with a plan waits for its turn. A run of a plan for a container has the protection of the container’s policy, or the given one, which is for administrators whose last proof is at most 15 minutes old; a run without a plan has only a given one. Where a snapshot or backup that was asked for cannot be made, nothing is upgraded and the job ends with `protection_unavailable`.',
  auth: 'operator',
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['update_start'],
  request: {
    body: z.object({ target: Target, plan: GivenPlan, protection: GivenProtection }),
    refusal: 'target_missing',
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', plan: '5f0c1e2d3b4a59687766554f' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Mise à jour lancée.' },
  },
  errors: [
    'invalid_request',
    'forbidden',
    'step_up_required',
    'target_invalid',
    ...WORKER_ERRORS,
    'queue_full',
    'already_queued',
    'plan_missing',
    'plan_of_another_target',
    'plan_used',
    'plan_expired',
  ],

  async handler(
    { body: { target, plan: given, protection: givenProtection } },
    { db, user, settings, jobs, clock, auditEntry },
  ) {
    const { data: asked, error } = PlanId.optional().safeParse(given)
    const details = error?.issues.map(({ message }) => ({ field: 'plan', message }))
    if (details) throw fail('invalid_request', { details })
    const wanted = Protection.optional().safeParse(givenProtection)
    if (wanted.error) {
      const field = (path: PropertyKey[]) => ['protection', ...path].join('.')
      const blamed = wanted.error.issues.map(({ path, message }) => ({ field: field(path), message }))
      throw fail('invalid_request', { details: blamed })
    }
    if (isTooLong(target)) throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireWorker({ db, settings, user })
    const [plan] = asked === undefined ? [] : await usablePlans(db, [asked], clock())
    if (plan && plan.target !== target) throw fail('plan_of_another_target')
    // A policy has commands that run as root in the container, and may remove snapshots.
    if (wanted.data && user.role !== 'admin') throw fail('forbidden')
    if (wanted.data) expectProven(user, clock)
    const policy = await protectionOf(db, target, wanted.data, plan !== undefined)
    const args = plan ? plannedArgs(plan) : { target }
    const start = () =>
      jobs.start({
        kind: upgradeJob.kind,
        args: { ...args, ...(policy && { protection: policy }) },
        target,
        startedBy: user.id,
        ...(plan ? { plan: plan.id } : { alone: true }),
        announce: (id) =>
          auditEntry('update_start', {
            target,
            details: { job_id: id, ...(plan && { plan: plan.id, hash: plan.hash }) },
          }),
      })
    const job_id = await start().catch(async (error: unknown) => {
      if (error instanceof AlreadyQueued) throw fail('already_queued', { more: { job_id: error.id } })
      // Another request was faster.
      if (asked !== undefined && error instanceof PlanNotCurrent) await usablePlans(db, [asked], clock())
      throw error
    })
    return { job_id, message: 'Mise à jour lancée.' }
  },
})

/** The protection of a run: the given one, or that of a plan's container. An upgrade of all containers has none. */
async function protectionOf(
  db: Database,
  target: string,
  given: Protection | undefined,
  isPlanned: boolean,
): Promise<Protection | undefined> {
  const kind = parseTarget(target)?.kind
  if (given) {
    if (kind !== 'all' || given.before === 'none') return given
    const message = 'une mise à jour de tous les conteneurs n’a pas de protection'
    throw fail('invalid_request', { details: [{ field: 'protection', message }] })
  }
  return isPlanned && kind === 'container' ? policyOf(db, target) : undefined
}
