import type { Check } from './checked.ts'
import { hasFailed, hasWarned } from './needs.ts'
import type { Outcome } from './outcome.ts'

/** An upgrade that ended badly or with warnings, and that nothing has superseded since. */
export interface UpgradeNews {
  target: string
  job: string
  at: string
  outcome: 'failed' | 'flawed' | 'warned' | 'broken' | 'stuck' | 'back'
}

interface Job {
  job_id: string
  target: string
  started_at: string
  outcome: Outcome
}

/** Returns what the newest upgrades of each target leave to tell. `jobs` has the newest first. */
export function newsOf(jobs: readonly Job[], checks: readonly Check[]): UpgradeNews[] {
  const newest = newestOfEach(jobs)
  const harmed = checks.flatMap(({ target, harm }): UpgradeNews[] =>
    harm ? [{ target, job: harm.job_id, at: harm.finished_at, outcome: harm.ending }] : [],
  )
  const told = newest.flatMap((job): UpgradeNews[] => {
    const { target, job_id, started_at: at, outcome } = job
    if (harmed.some((news) => news.target === target)) return []
    if (outcome !== 'failed' && outcome !== 'flawed' && outcome !== 'warned') return []
    return isOver(job, checks) ? [] : [{ target, job: job_id, at, outcome }]
  })
  return [...harmed, ...told, ...newsBefore(checks, newest)]
}

/** Returns the last upgrades of single targets that the newest jobs do not tell already. */
function newsBefore(checks: readonly Check[], newest: readonly Job[]): UpgradeNews[] {
  return checks.flatMap((check): UpgradeNews[] => {
    const { target, last_upgrade: last } = check
    if (!last || (last.outcome !== 'failed' && last.outcome !== 'warned') || isSettled(check)) return []
    const isTold = newest.some(
      (job) =>
        job.job_id === last.job_id || (!last.application && job.target === target && job.started_at > last.finished_at),
    )
    return isTold ? [] : [{ target, job: last.job_id, at: last.finished_at, outcome: last.outcome }]
  })
}

/** Whether the last upgrade of a target needs nobody any more. */
function isSettled(check: Check): boolean {
  return !hasFailed(check) && !hasWarned(check)
}

/**
 * Whether a bad end is over: a later upgrade or a later check of the target has superseded it, or, for all containers, of each one that it
 * left in need. An unknown result supersedes nothing.
 */
function isOver({ job_id, target, started_at, outcome }: Job, checks: readonly Check[]): boolean {
  const isLater = ({ last_upgrade: last }: Check) =>
    !!last && last.job_id !== job_id && Date.parse(last.finished_at) > Date.parse(started_at)
  const isItsOwn = ({ last_upgrade: last }: Check) => last?.job_id === job_id
  if (target !== 'all')
    return checks.some((check) => check.target === target && (isLater(check) || (isItsOwn(check) && isSettled(check))))
  if (outcome === 'failed') return false
  const left = checks.filter((check) => isItsOwn(check) && check.last_upgrade?.outcome !== 'done')
  const isSuperseded = left.length > 0 || checks.some(isLater)
  return isSuperseded && left.every(isSettled)
}

/** Keeps the newest job of each target: a new upgrade supersedes an earlier failure, unless it changed nothing. */
function newestOfEach(jobs: readonly Job[]): Job[] {
  const lasting = jobs.filter(({ outcome }) => outcome !== 'unfit')
  return lasting.filter(({ target }, n) => lasting.findIndex((each) => each.target === target) === n)
}
