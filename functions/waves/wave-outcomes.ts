import * as z from 'zod'
import { JobPart } from '../../db/jobs.ts'
import type { WaveJobRow } from '../../db/schedules/runs.ts'
import type { RunWave, WaveJob } from '../../schedules/schedules.ts'
import { uncheckedIn } from '../checks/check.ts'
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

/** Why something did not begin, by the halt of its run. */
const NOT_BEGUN = {
  stopped: 'Le déroulement s’était arrêté.',
  cancelled: 'Le déroulement avait été annulé.',
  window_closed: 'La fenêtre s’était fermée.',
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
