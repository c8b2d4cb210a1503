import * as z from 'zod'
import { notePlanDifference } from '../../db/jobs.ts'
import { defineJob, type EndedJob, type JobResult } from '../../jobs/jobs.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { PlanSelection } from '../plans/plan.ts'
import { planDifference } from '../plans/plan-difference.ts'
import { PLAN_DIFFERS, plannedCommand } from '../plans/plan-script.ts'
import { fail } from '../services.ts'
import { leftoversOf, queueOf, UPDATE_EVENT, upgradeOf } from '../updates/upgrade.ts'
import { warningStatements } from '../updates/upgrade-warnings.ts'

/** The plan that a job carries out; without one, it refreshes the lists and upgrades everything. */
const Planned = z.object({ id: z.string(), hash: z.string(), selection: PlanSelection })

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
    return plannedCommand(place, plan.hash, plan.selection, await elevationOf(host))
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

/** A job that found its plan changed ends with an error, although its command has done what it should. */
async function plannedResult(plan: string, ended: EndedJob): Promise<JobResult> {
  if (ended.code !== PLAN_DIFFERS || ended.cancelled) return { statements: [] }
  const difference = JSON.stringify(await planDifference(ended, plan))
  const { message, code } = fail('plan_changed')
  return { statements: [notePlanDifference(ended.row, difference)], failure: { message, code } }
}
