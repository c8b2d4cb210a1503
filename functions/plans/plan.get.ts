import * as z from 'zod'
import { findPlan } from '../../db/plans.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_PLAN, Plan, PlanId } from './plan.ts'
import { planAnswer } from './plan-answer.ts'
import { targetsOfPlan } from './plan-targets.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/plans/:id',
  summary: 'A plan',
  description:
    'Returns a plan with its state: `current`, `used` by the job `job_id`, or `expired`. Whoever may read its target may read it, and whoever works on that target may run it. Old plans are removed; the record of a job keeps how it differed from its plan.',
  auth: 'user',
  targets: targetsOfPlan,
  rateLimit: READS,
  request: { params: z.object({ id: PlanId }) },
  response: Plan,
  example: { response: EXAMPLE_PLAN },
  errors: ['plan_missing', 'rate_limited'],

  async handler({ params: { id } }, { db, user, clock, fail }) {
    const plan = await findPlan(db, id)
    if (!plan) throw fail('plan_missing')
    return planAnswer(db, user, plan, clock())
  },
})
