import * as z from 'zod'
import { findPlan, saveConffiles } from '../../db/plans.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { Conffile, conffilesOf } from './conffile.ts'
import { MOST_COMPARED } from './conffile-scripts.ts'
import { EXAMPLE_PLAN, Plan, PlanId } from './plan.ts'
import { planAnswer } from './plan-answer.ts'
import { usablePlans } from './usable-plans.ts'
import { targetsOfPlan } from './plan-targets.ts'

/** Files that the audit entry names. It counts them all. */
const NAMED = 10

export default defineFunction({
  method: 'PUT',
  path: '/api/updates/plans/:id/conffiles',
  summary: 'Choose what becomes of changed configuration files',
  description:
    'Stores in the plan which changed configuration files its run replaces (`take`; the file stays beside the new one, with the ending `.dpkg-old`) and which it keeps (`keep`; the new one is put beside it as `.dpkg-dist`). Files that the request does not name keep their choice. Only a file that was compared, and is a `conflict`, can be taken, and only in a plan that the caller has made.',
  auth: 'admin',
  targets: targetsOfPlan,
  rateLimit: WRITES,
  audit: ['plan_choice'],
  request: {
    params: z.object({ id: PlanId }),
    body: z.object({
      choices: z
        .array(z.object({ file: Conffile.shape.file, choice: Conffile.shape.choice }))
        .min(1)
        .max(MOST_COMPARED),
    }),
  },
  response: Plan,
  example: { body: { choices: [{ file: '/etc/rig.conf', choice: 'take' }] }, response: EXAMPLE_PLAN },
  errors: [
    'plan_missing',
    'plan_used',
    'plan_expired',
    'plan_of_another_user',
    'conffile_unknown',
    'conffiles_changed',
    'rate_limited',
  ],

  async handler({ params: { id }, body: { choices } }, { db, user, clock, auditEntry, fail }) {
    await usablePlans(db, [id], clock())
    const plan = await findPlan(db, id)
    if (!plan) throw fail('plan_missing')
    // A plan must not change after somebody else has read it.
    if (plan.made_by !== user.username) throw fail('plan_of_another_user')
    const asked = new Map(choices.map(({ file, choice }) => [file, choice]))
    const files = conffilesOf(plan)
    const known = new Map(files.map(({ file, state }) => [file, state]))
    for (const [file, choice] of asked)
      if (!known.has(file) || (choice === 'take' && known.get(file) !== 'conflict')) throw fail('conffile_unknown')

    const chosen = files.map((one) => ({ ...one, choice: asked.get(one.file) ?? one.choice }))
    const taken = chosen.flatMap(({ file, choice }) => (choice === 'take' ? [file] : []))
    const conffiles = JSON.stringify(chosen)
    const entry = auditEntry('plan_choice', {
      target: plan.target,
      details: { plan: id, take: taken.slice(0, NAMED).join(' '), count: taken.length },
    })
    const hasChanged = chosen.some(({ choice }, at) => choice !== files[at]?.choice)
    if (hasChanged && !(await saveConffiles(db, plan, conffiles, timestamp(clock()), [entry]))) {
      await usablePlans(db, [id], clock())
      throw fail('conffiles_changed')
    }
    return planAnswer(db, user, { ...plan, conffiles }, clock())
  },
})
