import type { Check, LastUpgrade } from './checked.ts'
import type { ContainerResult } from './outcome.ts'

/** A job as the list of the newest ones has it. */
export interface Listed {
  job_id: string
  target: string
  /** Absent for an upgrade. */
  kind?: string
  status: 'running' | 'success' | 'error'
  finished_at?: string | undefined
  exit_code: number | null
  error_code: string | null
  containers: readonly ContainerResult[] | null
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
    return { job_id, outcome: 'failed', exit_code, finished_at }
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
