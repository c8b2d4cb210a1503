import type { HostSilence, RunningJob } from '../../db/check-schedule.ts'
import type { CheckSummary } from './check.ts'

/*
 * Decides which targets are checked by themselves now. The decision is pure: it gets the stored checks, the jobs and the
 * time.
 */

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A check older than this is repeated, some minutes later for each target, so that they spread out. */
const AGE_MS = 6 * HOUR
const SPREAD_MS = 30 * MINUTE
/** A package manager that was busy is free again by then. */
const LOCKED_MS = 10 * MINUTE
/** The pause after a check without a result, and the longest one while the host cannot be reached. */
const RETRY_MS = 30 * MINUTE
const LONGEST_RETRY_MS = 6 * HOUR
/** The most checks that one run starts. */
const MOST_STARTS = 3
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * MINUTE

/** The error codes of a job that the host was not asked to start, or could not start. */
export const AWAY: readonly string[] = ['ssh_failed', 'ssh_incomplete', 'ssh_password_unreadable', 'job_not_started']

/** The facts that decide. `attempts` has the time of each target’s last check, with or without a result. */
export interface CheckSituation {
  checks: readonly DueCheck[]
  attempts: ReadonlyMap<string, string>
  running: readonly RunningJob[]
  silence: HostSilence | undefined
  parallel: number
  now: Date
}

export type DueCheck = Pick<CheckSummary, 'target' | 'state' | 'checked_at' | 'changed_at'> & {
  findings: readonly Pick<CheckSummary['findings'][number], 'code'>[]
}

/** Returns the targets to check now, changed ones first. Nothing is due where another job works or another check runs. */
export function dueTargets({ checks, attempts, running, silence, parallel, now }: CheckSituation): string[] {
  // Every job waits for a reboot of the host.
  if (running.some(({ kind }) => kind === 'reboot')) return []
  const free = Math.min(parallel - running.filter(isAutomaticCheck).length, MOST_STARTS)
  if (free <= 0) return []
  const host = checks.find(({ target }) => target === 'host')
  const unseen = checks.every(({ checked_at }) => checked_at === null)
  const neverTried = !attempts.has('host') && !attempts.has('all')
  const whole = unseen || (neverTried && (host?.checked_at ?? null) === null)

  if (silence) {
    const target = whole ? 'all' : 'host'
    return elapsed(silence.last, now) >= silenceWait(silence) && !isBusy(target, running) ? [target] : []
  }
  if (whole) {
    const tried = later(attempts.get('all'), attempts.get('host'))
    return elapsed(tried, now) >= RETRY_MS && !isBusy('all', running) ? ['all'] : []
  }
  const isFree = ({ target }: DueCheck) => !isBusy(target, running)
  const attempted = ({ target }: DueCheck) => later(attempts.get(target), attempts.get('all'))
  return checks
    .filter((check) => isFree(check) && isDue(check, attempted(check), now))
    .sort((one, other) => rank(one).localeCompare(rank(other)))
    .slice(0, free)
    .map(({ target }) => target)
}

function isAutomaticCheck({ kind, automatic }: RunningJob): boolean {
  return kind === 'check' && automatic
}

/** Whether a job that runs or waits forbids a check of the target. An upgrade of `all` leaves the host alone. */
function isBusy(target: string, running: readonly RunningJob[]): boolean {
  if (target === 'all') return running.length > 0
  return running.some(
    (job) => job.target === target || (job.target === 'all' && (job.kind === 'check' || target !== 'host')),
  )
}

function isDue(
  { target, state, checked_at, changed_at, findings }: DueCheck,
  attempted: string | undefined,
  now: Date,
) {
  // A container that was started counts as stopped until the next list of containers. Every check seems older than a
  // change that a fast clock has dated, so such a change is not decisive.
  const isChanged = changed_at !== null && Date.parse(changed_at) <= now.getTime()
  if (isChanged && (attempted === undefined || changed_at > attempted)) return true
  if (state === 'stopped') return false
  const sinceAttempt = elapsed(attempted, now)
  if (state === 'unknown' || checked_at === null) return sinceAttempt >= RETRY_MS
  const isLocked = findings.some(({ code }) => code === 'manager_locked')
  const brought = attempted === undefined || attempted <= checked_at
  return (
    elapsed(checked_at, now) >= (isLocked ? LOCKED_MS : AGE_MS + spreadOf(target)) &&
    (brought || sinceAttempt >= RETRY_MS)
  )
}

/** Sorts changed targets first, then those without a check, then the oldest check. */
function rank({ changed_at, checked_at }: DueCheck): string {
  return changed_at === null ? `2 ${checked_at ?? ''}` : `1 ${changed_at}`
}

/** The pause while the host is away: as long as it has been away, within bounds, so it doubles with each attempt. */
function silenceWait({ since, last }: HostSilence): number {
  const away = Date.parse(last) - Date.parse(since)
  return Math.min(Math.max(away, RETRY_MS), LONGEST_RETRY_MS)
}

/** Milliseconds since then; endless without a time, and for one that a fast clock has dated in the future. */
function elapsed(at: string | undefined, now: Date): number {
  const ms = at === undefined ? Number.POSITIVE_INFINITY : now.getTime() - Date.parse(at)
  return ms >= -SKEW_MS ? ms : Number.POSITIVE_INFINITY
}

function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}

/** Returns the same delay for a target each time, spread evenly over the targets. */
export function spreadOf(target: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < target.length; at += 1) hash = Math.imul(hash ^ target.charCodeAt(at), 0x01000193) >>> 0
  return hash % SPREAD_MS
}
