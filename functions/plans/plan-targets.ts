import { findPlans } from '../../db/plans.ts'
import type { Services } from '../services.ts'

type Given = Pick<Services, 'db'>

/** Returns the targets of these plans, for a declaration; undefined when there is not each of them. */
export async function targetsOfPlans({ db }: Given, ids: readonly string[]): Promise<string[] | undefined> {
  const plans = await findPlans(db, ids)
  return plans.length < new Set(ids).size ? undefined : plans.map(({ target }) => target)
}

/** Returns the target of the plan in a request, for its declaration; undefined for an unknown plan. */
export function targetsOfPlan(
  { params: { id } }: { params: { id: string } },
  services: Given,
): Promise<string[] | undefined> {
  return targetsOfPlans(services, [id])
}
