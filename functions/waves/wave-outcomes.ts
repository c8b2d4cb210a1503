import * as z from 'zod'
import { JobPart } from '../../db/jobs.ts'
import type { WaveJobRow } from '../../db/schedules/runs.ts'
import { LEFT_OUT, type RunWave, type WaveJob } from '../../schedules/schedules.ts'
import { uncheckedIn } from '../checks/check.ts'
import type { Services } from '../services.ts'
import { haltOf, type HeldRun, isWithdrawn } from './held-run.ts'

/** Outcomes after which a run stops whatever its schedule says: something that worked does not work any more, or did not. */
const WORSE = new Set(['regressed', 'rolled_back', 'rollback_failed'])
/** Outcomes after which `on_failure` decides. */
const FAILED = new Set(['failed', 'plan_changed', 'impossible', 'cancelled', 'check_failed'])

export function isWorse({ outcome }: WaveJob): boolean {
  return outcome !== null && WORSE.has(outcome)
}

export function isFailure(job: WaveJob): boolean {
  return isWorse(job) || (job.outcome !== null && FAILED.has(job.outcome))
}

/** Whether a target was left out for good: nothing has failed, and the schedule never does what it says there. */
export function isLeftOut({ outcome }: Pick<WaveJob, 'outcome'>): boolean {
  return outcome === LEFT_OUT
}

/** Why something did not begin, by the halt of its run. */
const NOT_BEGUN = {
  stopped: 'L’exécution s’était arrêtée.',
  cancelled: 'L’exécution avait été annulée.',
  window_closed: 'La plage s’était fermée.',
}
type Halt = NonNullable<ReturnType<typeof haltOf>>

export function notStarted(target: string, halt: Halt): WaveJob {
  return { target, job_id: null, outcome: 'not_started', reason: NOT_BEGUN[halt] }
}

/** Ends all waves from `from` on that have not started; each of their targets has not been started. */
export function withoutRest(waves: readonly RunWave[], from: number, halt: Halt, at: string): RunWave[] {
  return waves.map((wave, place) => {
    if (place < from || wave.state === 'ended') return wave
    const known = wave.jobs.map((job) => (job.outcome === null ? notStarted(job.target, halt) : job))
    const named = wave.targets === 'rest' ? ['rest'] : wave.targets
    const jobs = known.length > 0 ? known : named.map((target) => notStarted(target, halt))
    return { ...wave, state: 'ended', finished_at: at, jobs }
  })
}

const Parts = z.array(JobPart)
const MOST_REASON = 500

/** Returns the entry of an upgrade as its job stands. */
export function upgraded(entry: WaveJob, job: WaveJobRow | undefined, run: HeldRun, now: Date): WaveJob {
  if (job === undefined) return { ...entry, outcome: 'failed', reason: 'La tâche n’est plus là.' }
  const known = { ...entry, job_id: job.id }
  if (job.status === 'running') return known
  if (isWithdrawn(run, job)) return { ...notStarted(entry.target, haltOf(run, now) ?? 'window_closed'), job_id: job.id }
  const outcome = job.outcome ?? (job.status === 'success' ? 'upgraded' : 'failed')
  return { ...known, outcome, reason: job.error?.slice(0, MOST_REASON) ?? null }
}

const HOUR_MS = 3_600_000
/**
 * How long a job may go on after the window of its run, by what the schedule does. Nothing begins after the window, so such a job
 * has been at work for longer than any that will end: a backup of a large container and its upgrade take hours, a check minutes.
 */
const LONGEST_MS = { upgrade: 12 * HOUR_MS, check: 2 * HOUR_MS }

export const ENDLESS = 'La tâche ne finit pas : elle n’est plus attendue, et sa page dit où elle en est.'

/** A service that was away takes up the ends of jobs within this time. Until then, a job that has long ended seems to run. */
const TAKEN_UP_MS = 15 * 60_000

/** Whether a job of a run that still runs is no longer waited for. */
export function isEndless(
  { closes_at, settings }: Pick<HeldRun, 'closes_at' | 'settings'>,
  { clock, boot }: Pick<Services, 'clock' | 'boot'>,
): boolean {
  const now = clock().getTime()
  return now >= Date.parse(closes_at) + LONGEST_MS[settings.action] && now - Date.parse(boot.startedAt) >= TAKEN_UP_MS
}

/** Ends the entry of a job that does not end; without this, its run would be open for ever, and each next time missed. */
export function endless(entry: WaveJob, run: HeldRun, services: Pick<Services, 'clock' | 'boot'>): WaveJob {
  if (entry.outcome !== null || !isEndless(run, services)) return entry
  return { ...entry, outcome: 'failed', reason: ENDLESS }
}

/** Returns the entry of a check as its job stands, which may be a check of all. */
export function checked(entry: WaveJob, job: WaveJobRow | undefined): WaveJob {
  if (job?.status === 'running') return entry
  const reason = job ? (job.error?.slice(0, MOST_REASON) ?? null) : 'La tâche n’est plus là.'
  if (job?.status !== 'success') return { ...entry, outcome: job?.cancelled_by ? 'cancelled' : 'check_failed', reason }
  const parts = job.parts === null ? null : Parts.parse(JSON.parse(job.parts))
  const isSilent = uncheckedIn({ parts }).includes(entry.target)
  return {
    ...entry,
    outcome: isSilent ? 'check_failed' : 'checked',
    reason: isSilent ? 'La cible n’a pas répondu.' : null,
  }
}
