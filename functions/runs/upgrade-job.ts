import * as z from 'zod'
import { notePlanDifference } from '../../db/jobs.ts'
import { defineJob, type EndedJob, type JobResult } from '../../jobs/jobs.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { PlanSelection } from '../plans/plan.ts'
import { planDifference } from '../plans/plan-difference.ts'
import { PLAN_DIFFERS, PLAN_NOT_BEGUN, PLAN_UNBOUND } from '../plans/bound-script.ts'
import { plannedCommand } from '../plans/plan-script.ts'
import { fail } from '../services.ts'
import { leftoversOf, queueOf, UPDATE_EVENT, upgradeOf } from '../updates/upgrade.ts'
import { warningStatements } from '../updates/upgrade-warnings.ts'

/** The plan that a job carries out; without one, it refreshes the lists and upgrades everything. */
const Planned = z.object({
  id: z.string(),
  hash: z.string(),
  take: z.array(z.string()).default([]),
  selection: PlanSelection,
})

/** The job that upgrades one target. */
export const upgradeJob = defineJob({
  kind: 'upgrade',
  event: UPDATE_EVENT,
  args: z.object({ target: z.string(), plan: Planned.optional() }),
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command({ target, plan }, host) {
    if (!plan) return upgradeOf(target, host)
    const place = placeOfPlan(target)
    return plannedCommand(place, plan, await elevationOf(host))
  },

  leftovers: ({ target }, host) => leftoversOf(target, host),

  result: async ({ plan }, ended) => (plan ? plannedResult(plan.id, ended) : warningStatements(ended)),
})

/** The place of a plan's target: the host, or the id of a container. Throws `target_invalid`. */
function placeOfPlan(text: string): string {
  const target = parseTarget(text)
  if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: text } })
  return target.kind === 'host' ? 'host' : target.id
}

/** The exit codes of `PLANNED` that end a job with an error, although its command has done what it should. */
const ERRORS: Record<number, 'plan_changed' | 'plan_not_begun' | 'plan_unbound'> = {
  [PLAN_DIFFERS]: 'plan_changed',
  [PLAN_NOT_BEGUN]: 'plan_not_begun',
  [PLAN_UNBOUND]: 'plan_unbound',
}

async function plannedResult(plan: string, ended: EndedJob): Promise<JobResult> {
  const error = ended.code === null || ended.cancelled ? undefined : ERRORS[ended.code]
  if (error === undefined) return { statements: [] }
  const { message, code } = fail(error)
  const failure = { message, code }
  if (error !== 'plan_changed') return { statements: [], failure }
  const difference = JSON.stringify(await planDifference(ended, plan))
  return { statements: [notePlanDifference(ended.row, difference)], failure }
}
