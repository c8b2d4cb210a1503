import type { Answer } from '../../client/index.ts'

type Job = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]
type LastUpgrade = NonNullable<Answer<'GET /api/updates/checks'>['checks'][number]['last_upgrade']>
/** The end of a protected upgrade as the service tells it, with the decision of a person. */
export interface Concluded {
  outcome?: Job['outcome'] | LastUpgrade['outcome'] | undefined
  decided?: Job['decided'] | undefined
  protection?: Pick<NonNullable<Job['protection']>, 'on_failure'> | null | undefined
}

/**
 * The end of an upgrade after which something did not work any more. `broken`: nobody has decided yet. `kept`: it stays as it is.
 * `back`: the container is as it was before. `stuck`: going back failed.
 */
export type Ending = 'broken' | 'kept' | 'back' | 'stuck'

/** Returns the end of a job with a regression or a rollback; undefined for every other one. */
export function endingOf({ outcome, decided, protection }: Concluded): Ending | undefined {
  if (outcome === 'rolled_back') return 'back'
  if (outcome === 'rollback_failed') return 'stuck'
  // A person may take back an upgrade that did no harm, too.
  if (decided?.choice === 'rollback') return 'back'
  if (outcome !== 'regressed') return undefined
  if (decided) return 'kept'
  return protection?.on_failure === 'keep' ? 'kept' : 'broken'
}
