import * as z from 'zod'
import type { PlanHeader } from '../../db/plans.ts'
import { findPlans } from '../../db/plans.ts'
import type { Database } from '../../db/libsql/database.ts'
import type { Detail } from '../../runtime/errors.ts'
import { fail } from '../services.ts'
import { planState, selectionOf } from './plan.ts'

/**
 * Returns plans that can be run at `now`, in the given order. Throws `plan_missing`, `plan_used` or `plan_expired`, each
 * with the places of all plans that are to blame where several plans were asked for.
 */
export async function usablePlans(db: Database, ids: readonly string[], now: Date): Promise<PlanHeader[]> {
  const found = new Map((await findPlans(db, ids)).map((plan) => [plan.id, plan]))
  const plans = ids.flatMap((id) => found.get(id) ?? [])
  const details = (isToBlame: (id: string) => boolean, message: string): Detail[] | undefined =>
    ids.length === 1 ? undefined : ids.flatMap((id, at) => (isToBlame(id) ? [{ field: `plans.${at}`, message }] : []))
  const refuse = (code: 'plan_missing' | 'plan_used' | 'plan_expired', isToBlame: (id: string) => boolean) => {
    const { message } = fail(code)
    const blamed = details(isToBlame, message)
    return fail(code, blamed && { details: blamed })
  }
  const is = (state: string) => (id: string) => {
    const plan = found.get(id)
    return plan !== undefined && planState(plan, now) === state
  }
  if (plans.length < ids.length) throw refuse('plan_missing', (id) => !found.has(id))
  if (ids.some(is('used'))) throw refuse('plan_used', is('used'))
  if (ids.some(is('expired'))) throw refuse('plan_expired', is('expired'))
  return plans
}

const Files = z.array(z.string())

/** Returns the arguments of the job that carries a plan out. */
export function plannedArgs(plan: PlanHeader) {
  const { id, hash, target } = plan
  return { target, plan: { id, hash, take: Files.parse(JSON.parse(plan.take)), selection: selectionOf(plan) } }
}
