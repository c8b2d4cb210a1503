import type { Check, Harm, LastUpgrade } from './checked.ts'
import { type Concluded, endingOf } from './ending.ts'
import type { ContainerResult } from './outcome.ts'

/** A job as the list of the newest ones has it. */
export interface Listed extends Concluded {
  job_id: string
  target: string
  /** Absent for an upgrade. */
  kind?: string
  status: 'running' | 'success' | 'error'
  finished_at?: string | undefined
  exit_code: number | null
  error_code: string | null
  containers: readonly ContainerResult[] | null
  /** The things that did not work any more after a protected upgrade. */
  regressions?: Harm['regressions']
}

/**
 * The results, each with the harm that the newest upgrade of its target did. `jobs` has the newest first, and tells decisions at once; of an
 * upgrade that is too old for that list, the result itself tells.
 */
export function withHarm(checks: readonly Check[], jobs: readonly Listed[]): Check[] {
  return checks.map((check) => {
    const newest = newestOf(check.target, undefined, jobs)
    const updated = newestOf(check.target, 'application', jobs)
    const harms = [
      newest ? harmOf(newest, jobs) : harmIn(check),
      updated && harmOf(updated, jobs),
      harmStored(check, jobs),
    ]
    // A package upgrade that did no harm says nothing about an application, nor the other way round.
    const harm = harms.find((each) => each && each.ending !== 'back') ?? harms.find((each) => each)
    return harm && !isMended(harm, check) ? { ...check, harm } : check
  })
}

/** The harm that the update of an application did, which the result of its target tells as long as nobody has decided. */
function harmStored(check: Check, jobs: readonly Listed[]): Harm | undefined {
  const { last_upgrade: last } = check
  if (!last?.application) return undefined
  const listed = jobs.find(({ job_id }) => job_id === last.job_id)
  return listed ? harmOf(listed, jobs) : harmIn(check)
}

/** Whether a container whose rollback failed has answered a check since: somebody has mended it. */
function isMended({ ending, finished_at }: Harm, { state, checked_at }: Check): boolean {
  const answers = state !== 'stopped' && state !== 'unknown' && state !== 'blocked'
  return ending === 'stuck' && answers && checked_at !== null && checked_at > finished_at
}

/** Errors of upgrades that changed nothing. */
const WITHOUT_EFFECT: ReadonlySet<string | null> = new Set([
  'plan_changed',
  'protection_unavailable',
  'cancelled',
  'source_changed',
  'not_agreed',
  'application_not_begun',
])

/** The newest ended upgrade of a target, or update of an application there, that changed something. */
function newestOf(target: string, kind: string | undefined, jobs: readonly Listed[]): Listed | undefined {
  return jobs.find(
    (job) =>
      job.kind === kind && job.target === target && job.status !== 'running' && !WITHOUT_EFFECT.has(job.error_code),
  )
}

/** The harm that an upgrade did; undefined when it did none, or somebody keeps it. */
function harmOf(newest: Listed, jobs: readonly Listed[]): Harm | undefined {
  const { job_id, target, finished_at, regressions = [] } = newest
  if (!finished_at) return undefined
  const of = { regressions, count: regressions.length }
  // The rollback that somebody has started may fail, too.
  const way = jobs.find((job) => job.kind === 'rollback' && job.target === target && job.status !== 'running')
  if (way?.finished_at && way.finished_at > finished_at && way.outcome === 'rollback_failed')
    return { ...of, job_id: way.job_id, ending: 'stuck', finished_at: way.finished_at }
  const ending = endingOf(newest)
  return ending && ending !== 'kept' ? { ...of, job_id, ending, finished_at } : undefined
}

/** The harm that the result of a target tells itself. */
function harmIn({ last_upgrade: last }: Check): Harm | undefined {
  if (!last) return undefined
  const { job_id, outcome, decided, on_failure, finished_at, regressions: count } = last
  const ending = endingOf({ outcome, decided, protection: on_failure === null ? null : { on_failure } })
  return ending && ending !== 'kept' ? { job_id, ending, finished_at, regressions: [], count } : undefined
}

/**
 * The results, with the failures that still stand. An upgrade whose plan did not fit changed nothing, so it does not end a failure before
 * it: the result keeps it as `unfit`, and gets the failure back as its last upgrade. `jobs` has the newest first.
 */
export function withStanding(checks: readonly Check[], jobs: readonly Listed[]): Check[] {
  return checks.map((check) => {
    const { last_upgrade: unfit } = check
    if (unfit?.outcome !== 'plan_changed') return check
    const failure = failureBefore(check.target, jobs)
    if (!failure) return { ...check, unfit }
    // The service takes the target for well.
    const isWell = check.state === 'ready' || check.state === 'up_to_date'
    const state = isWell && !isOver(failure, check, jobs) ? 'attention' : check.state
    return { ...check, unfit, last_upgrade: failure, state }
  })
}

/** The failure that was the last upgrade of a target before those whose plan did not fit. */
function failureBefore(target: string, jobs: readonly Listed[]): LastUpgrade | undefined {
  for (const { job_id, kind, status, error_code, finished_at, ...job } of jobs) {
    if (kind !== undefined || status === 'running' || error_code === 'plan_changed' || !finished_at) continue
    const part = job.containers?.find(({ vmid }) => target === `lxc:${vmid}`)
    if (job.target !== target && (!part || !/^(done|warned|failed)$/.test(part.state))) continue
    const { exit_code } = part ?? job
    const isFailed = part ? part.state === 'failed' : (exit_code ?? 0) !== 0 || status === 'error'
    if (!isFailed || error_code === 'cancelled') return undefined
    return {
      job_id,
      application: null,
      outcome: 'failed',
      exit_code,
      finished_at,
      regressions: 0,
      on_failure: null,
      decided: null,
    }
  }
  return undefined
}

/** Whether a later repair, or a later check that found nothing to install, has shown that the target is well. */
function isOver(
  { finished_at: failed_at }: LastUpgrade,
  { target, checked_at, counts }: Check,
  jobs: readonly Listed[],
) {
  if (checked_at === null || checked_at <= failed_at) return false
  const isRepaired = jobs.some(
    ({ kind, exit_code, finished_at, ...job }) =>
      kind === 'remedy' && job.target === target && exit_code === 0 && !!finished_at && finished_at > failed_at,
  )
  return isRepaired || counts.upgrade + counts.install === 0
}
