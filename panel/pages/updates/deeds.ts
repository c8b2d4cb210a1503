import type { Check } from '../../nouns/checked.ts'
import type { Outdated } from '../../nouns/restarts.ts'
import type { RowAction } from '../../nouns/target-list.ts'
import { useAct } from '../../parts/action.tsx'
import { reviewPlan } from '../../parts/plan/open.ts'
import { type Remedies, useRemedies } from '../../parts/remedy.tsx'
import { restartServices } from '../../parts/restarts.tsx'
import { startCheck } from '../../wire/checks.ts'
import { setHold } from '../../wire/plans.ts'
import { startRemedy } from '../../wire/remedies.ts'

/** The actions that a row, its details and the list of held packages can start. */
export interface Deeds extends Remedies {
  /** Shows the output of a job. */
  show(job: string): void
  does(check: Check, action: Exclude<RowAction, 'show'>): void
  /** Holds packages of a target, or releases them. */
  hold(target: string, packages: readonly string[], held: boolean): void
  /** Restarts services of a target after a question. */
  restart(check: Check, services: readonly Outdated[]): void
}

/** The actions of the page; `show` gets the id of each started job whose output matters. */
export function useDeeds(show: (job: string) => void): Deeds {
  const does = useAct(async (check: Check, action: Exclude<RowAction, 'show'>) => {
    const { target } = check
    if (action === 'check') return startCheck(target)
    if (action === 'repair') return show(await startRemedy({ target, action: 'repair_dpkg' }))
    if (action === 'start') return show(await startRemedy({ target, action: 'start_container' }))
    const job = await reviewPlan(target)
    if (job !== undefined) show(job)
  })
  const hold = useAct(async (target: string, packages: readonly string[], held: boolean) =>
    show(await setHold(target, packages, held)),
  )
  const restart = useAct(async (check: Check, services: readonly Outdated[]) => {
    const job = await restartServices(check, services)
    if (job !== undefined) show(job)
  })
  const remedies = useRemedies(show)
  return {
    ...remedies,
    show,
    does: (check, action) => void does.run(check, action),
    hold: (target, packages, held) => void hold.run(target, packages, held),
    restart: (check, services) => void restart.run(check, services),
    error: does.error.value ?? restart.error.value ?? hold.error.value ?? remedies.error,
  }
}
