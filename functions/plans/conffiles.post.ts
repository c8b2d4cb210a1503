import * as z from 'zod'
import { findPlan, saveConffiles } from '../../db/plans.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { conffilesOf, offersOf, readComparison } from './conffile.ts'
import { EXAMPLE_PLAN, Plan, PlanId } from './plan.ts'
import { planAnswer } from './plan-answer.ts'
import { compare, inSlot } from './simulation.ts'
import { usablePlans } from './usable-plans.ts'
import { targetsOfPlan } from './plan-targets.ts'

const Actions = z.array(PackageUpdate)

export default defineFunction({
  method: 'POST',
  path: '/api/updates/plans/:id/conffiles',
  summary: 'Compare the changed configuration files of a plan',
  description:
    'Downloads the planned packages whose configuration files were changed on the target, compares these files with the new ones, and removes the packages again. Returns the plan: each of its `conffiles` is then `conflict`, with a diff, `same` when the package brings nothing new for it, or `unavailable`. The diff of a file that not every user of the target may read is for administrators.',
  auth: 'operator',
  targets: targetsOfPlan,
  rateLimit: WRITES,
  audit: false,
  request: { params: z.object({ id: PlanId }) },
  response: Plan,
  example: { response: EXAMPLE_PLAN },
  errors: [
    'plan_missing',
    'plan_used',
    'plan_expired',
    'plans_busy',
    'conffiles_unavailable',
    'conffiles_changed',
    'target_invalid',
    ...WORKER_ERRORS,
    'ssh_failed',
    'host_answer_too_long',
    'host_helper_old',
    'rate_limited',
  ],

  async handler({ params: { id } }, { db, user, host, settings, clock, signal, fail }) {
    await usablePlans(db, [id], clock())
    await requireWorker({ db, settings, user })
    const plan = await findPlan(db, id)
    if (!plan) throw fail('plan_missing')
    const target = parseTarget(plan.target)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: plan.target } })
    const files = conffilesOf(plan)
    const offers = offersOf(files, Actions.parse(JSON.parse(plan.actions)))
    if (offers.length === 0) return planAnswer(db, user, plan, clock())

    const place = target.kind === 'host' ? 'host' : target.id
    const { stdout } = await inSlot(db, { user: user.id, target: plan.target, signal }, () =>
      compare(host, place, offers, user.id),
    )
    const compared = await readComparison(stdout, files)
    if (!compared) throw fail('conffiles_unavailable')
    const conffiles = JSON.stringify(compared)
    if (!(await saveConffiles(db, plan, conffiles, timestamp(clock())))) {
      // Somebody has run the plan, or has compared or chosen at the same moment.
      await usablePlans(db, [id], clock())
      throw fail('conffiles_changed')
    }
    return planAnswer(db, user, { ...plan, conffiles }, clock())
  },
})
