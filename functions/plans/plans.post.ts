import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { commandFailure } from '../../ssh/ssh.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_PLAN, MOST_NAMES, NAMES_LENGTH, PackageName, Plan, PlanSelection } from './plan.ts'
import { planAnswer } from './plan-answer.ts'
import { makePlan } from './plan-making.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/plans',
  summary: 'Make a plan of an upgrade',
  description:
    'Simulates an upgrade of the host or of one container, and stores exactly which packages would change. Changes nothing, and does not refresh the package lists. `only: security` takes what security updates offer and what those need. `packages` takes these packages alone, `exclude` leaves some out; removals are planned with `allow_remove` alone. A plan can be run once, within an hour. With `plan_impossible`, `findings` says what forbids it.',
  auth: 'operator',
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: false,
  request: {
    body: z
      .object({
        target: Target,
        only: PlanSelection.shape.only.default('all'),
        packages: z.array(PackageName).min(1).max(MOST_NAMES).optional(),
        exclude: z.array(PackageName).max(MOST_NAMES).default([]),
        allow_remove: z.boolean().default(false),
      })
      .refine(({ packages = [], exclude }) => [...packages, ...exclude].join('').length <= NAMES_LENGTH, {
        path: ['exclude'],
      }),
  },
  status: 201,
  response: Plan,
  example: { body: { target: 'lxc:101' }, response: EXAMPLE_PLAN },
  errors: [
    'target_invalid',
    ...WORKER_ERRORS,
    'ssh_failed',
    'host_answer_too_long',
    'host_helper_old',
    'plan_empty',
    'plan_impossible',
    'plans_busy',
  ],

  async handler({ body: { target, ...asked } }, { db, user, host, settings, clock, signal, fail }) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireWorker({ db, settings, user })
    const exclude = [...new Set(asked.exclude)]
    const packages = asked.packages ? [...new Set(asked.packages)].filter((name) => !exclude.includes(name)) : null
    if (packages?.length === 0) throw fail('plan_empty', { more: { findings: [] } })
    const selection = { only: asked.only, packages, exclude, allow_remove: asked.allow_remove }

    const place = parsed.kind === 'host' ? 'host' : parsed.id
    const making = await makePlan({ db, host, clock }, { target, place, selection, user, signal })
    if (making.kind === 'failed') throw commandFailure(making.output)
    if (making.kind !== 'made') {
      const { kind, findings } = making
      throw fail(kind === 'empty' ? 'plan_empty' : 'plan_impossible', { more: { findings } })
    }
    return planAnswer(db, user, making.plan, clock())
  },
})
