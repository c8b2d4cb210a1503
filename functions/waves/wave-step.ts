import { PlanNotCurrent, ScheduleRunChanged } from '../../db/job-start.ts'
import { withdrawWaiting } from '../../db/schedules/runs.ts'
import { timestamp } from '../../platform/clock.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import { CLOCK_SKEW_MS, type RunProgress, type RunWave, type WaveJob } from '../../schedules/schedules.ts'
import { usablePlans } from '../plans/usable-plans.ts'
import { startPlannedRun } from '../runs/planned-run.ts'
import type { Services } from '../services.ts'
import { haltOf, type HeldRun, partId, save, scheduled, type Stop, withdrawerOf } from './held-run.ts'
import { startedCheck } from './run-checks.ts'
import type { Tick } from './tick.ts'
import { checked, endless, ENDLESS, isFailure, isWorse, notStarted, upgraded, withoutRest } from './wave-outcomes.ts'
import { prepareWave } from './wave-plans.ts'

/** Takes the wave `at` one step further: it waits, is prepared, or is at work. Each step is stored before the next one. */
export async function stepWave(tick: Tick, at: number, wave: RunWave): Promise<void> {
  if (wave.state === 'waiting') return begin(tick, at)
  if (wave.state === 'planning') return prepare(tick, at, wave)
  return follow(tick, at, wave)
}

/** Returns the progress with another wave in the place `at`. */
function withWave({ progress }: HeldRun, at: number, wave: RunWave): RunProgress {
  return { ...progress, waves: progress.waves.with(at, wave) }
}

async function begin({ services, run }: Tick, at: number): Promise<void> {
  const now = services.clock()
  if (haltOf(run, now)) return endWith(services, run, run.progress, at)
  const former = run.progress.waves[at - 1]
  const wave = run.progress.waves[at]
  if (!wave) return
  const waited = former?.finished_at ? now.getTime() - Date.parse(former.finished_at) : undefined
  // A clock that was set back must not keep it waiting.
  if (former && waited !== undefined && waited > -CLOCK_SKEW_MS && waited < former.pause_minutes * 60_000) return
  await save(services, run, withWave(run, at, { ...wave, state: 'planning', started_at: timestamp(now) }))
}

/** Ends a run whose waves from `from` on do not start any more. */
async function endWith(services: Services, run: HeldRun, progress: RunProgress, from: number, stop?: Stop) {
  const now = services.clock()
  const halt = stop ? 'stopped' : (haltOf(run, now) ?? 'stopped')
  const waves = withoutRest(progress.waves, from, halt, timestamp(now))
  await save(services, run, { ...progress, waves }, { stop, end: halt })
}

async function prepare({ services, run, jobs, background }: Tick, at: number, wave: RunWave): Promise<void> {
  const { db, clock, log } = services
  const id = partId(run, at)
  // A former holder may have died between the start and its record.
  if ([...jobs.values()].some(({ run_id }) => run_id === id)) {
    background.drop(run.id)
    await save(services, run, withWave(run, at, { ...wave, state: 'running' }))
    return
  }
  if (haltOf(run, clock())) {
    const last = haltOf(run, clock()) === 'window_closed' ? background.last(run.id)?.kind : undefined
    background.drop(run.id)
    const targets = wave.targets === 'rest' ? [] : wave.targets
    const reason = last === 'away' ? 'host_away' : last === 'broken' ? 'internal_error' : undefined
    return endWith(services, run, run.progress, at, reason && { reason, wave: at, targets })
  }
  const found = background.get(run.id, `wave ${at} of ${run.created_by}`, (signal) =>
    prepareWave(services, run, at, signal),
  )
  if (found?.kind === 'away') {
    log.warn({ run: run.id, wave: at, reason: found.message }, 'a wave cannot start yet')
    background.putOff(run.id)
  }
  if (found?.kind === 'broken') background.putOff(run.id)
  if (found?.kind === 'kept_out')
    return endWith(services, run, run.progress, at, {
      reason: 'creator_kept_out',
      wave: at,
      targets: [],
      pause: found.why,
    })
  if (found?.kind !== 'ready') return
  const open = found.targets.map((target) => ({ target, job_id: null, outcome: null, reason: null }))
  const planned = { ...wave, jobs: [...open, ...found.left] }
  const broken = found.left.filter(isWorse).map(({ target }) => target)
  if (broken.length > 0) {
    const others = open.flatMap(({ target }) => (broken.includes(target) ? [] : [notStarted(target, 'stopped')]))
    const jobs = [...others, ...found.left]
    return end({ services, run }, at, { ...wave, jobs }, { reason: 'regressed', wave: at, targets: broken })
  }
  if (open.length === 0) return end({ services, run }, at, planned)
  if (run.settings.action === 'check') {
    await save(services, run, withWave(run, at, { ...planned, state: 'running' }))
    return
  }
  const named = { ...planned, run_id: id }
  if (JSON.stringify(named) !== JSON.stringify(wave)) {
    if (!(await save(services, run, withWave(run, at, named)))) return
  }
  try {
    // In the order of the wave.
    const ids = found.targets.flatMap((target) => found.plans.get(target) ?? [])
    const plans = await usablePlans(db, ids, clock())
    const entry = (note: AuditNote) => scheduled(services, run, found.owner, 'update_start', note)
    const started = await startPlannedRun(services, { id, plans, startedBy: found.owner.id, entry, within: run })
    const jobOf = new Map(plans.map(({ target }, place) => [target, started[place] ?? null]))
    const begun = named.jobs.map((job) => ({ ...job, job_id: jobOf.get(job.target) ?? job.job_id }))
    await save(services, run, withWave(run, at, { ...named, state: 'running', jobs: begun }))
    background.drop(run.id)
    log.info({ run: run.id, wave: at, jobs: plans.length }, 'a wave has started')
  } catch (error) {
    if (error instanceof ScheduleRunChanged) return
    const isFull = error instanceof Failure && error.code === 'queue_full'
    if (!(error instanceof PlanNotCurrent || error instanceof Failure)) throw error
    // Plans that were used or have expired meanwhile are made again; a full queue becomes free.
    if (!isFull) background.drop(run.id)
  }
}

async function follow(tick: Tick, at: number, wave: RunWave): Promise<void> {
  const { services, run, jobs } = tick
  const now = services.clock()
  const isCheck = run.settings.action === 'check'
  const of = new Map(
    [...jobs.values()].flatMap((job) => (job.run_id === wave.run_id ? [[job.target, job] as const] : [])),
  )
  const known = wave.jobs.map((entry): WaveJob => {
    if (entry.outcome !== null) return entry
    if (!isCheck) return endless(upgraded(entry, of.get(entry.target), run, now), run, services)
    return entry.job_id === null ? entry : endless(checked(entry, jobs.get(entry.job_id)), run, services)
  })
  const entries = isCheck ? await moreChecks(tick, known) : known
  const stuck = entries.filter(({ reason }) => reason === ENDLESS).map(({ target }) => target)
  const worse = entries.filter(isWorse).map(({ target }) => target)
  const stop =
    run.reason === null && worse.length > 0 ? ({ reason: 'regressed', wave: at, targets: worse } as const) : undefined
  const next = { ...wave, jobs: entries }
  if (entries.every(({ outcome }) => outcome !== null)) {
    const because = stuck.length > 0 ? ({ reason: 'failed', wave: at, targets: stuck } as const) : undefined
    return end(tick, at, next, stop ?? (run.reason === null ? because : undefined))
  }
  if (stop || JSON.stringify(next) !== JSON.stringify(wave))
    await save(services, run, withWave(run, at, next), { stop })
  const waits = [...of.values()].some(
    ({ status, begun, cancelled_by }) => status === 'running' && !begun && cancelled_by === null,
  )
  if (waits && wave.run_id !== null && (stop || haltOf(run, now)))
    await withdrawWaiting(services.db, wave.run_id, withdrawerOf(run))
}

/** Ends a wave, and the run if it stops with it. */
async function end({ services, run }: Pick<Tick, 'services' | 'run'>, at: number, wave: RunWave, regressed?: Stop) {
  const progress = withWave(run, at, { ...wave, state: 'ended', finished_at: timestamp(services.clock()) })
  const failed = wave.jobs.filter(isFailure).map(({ target }) => target)
  const stops = run.reason === null && failed.length > 0 && run.settings.on_failure === 'stop'
  const stop = regressed ?? (stops ? ({ reason: 'failed', wave: at, targets: failed } as const) : undefined)
  if (stop || run.reason !== null) await endWith(services, run, progress, at + 1, stop)
  else await save(services, run, progress)
}

/** Checks of one run that work at a time. */
const CHECKS_AT_ONCE = 4

/** Starts checks as others end, or none any more. */
async function moreChecks({ services, run }: Tick, entries: readonly WaveJob[]): Promise<WaveJob[]> {
  const halt = haltOf(run, services.clock())
  let free = CHECKS_AT_ONCE - entries.filter(({ job_id, outcome }) => job_id !== null && outcome === null).length
  const started: WaveJob[] = []
  for (const entry of entries) {
    if (entry.job_id !== null || entry.outcome !== null) started.push(entry)
    else if (halt) started.push(notStarted(entry.target, halt))
    else {
      const job_id = free > 0 ? await startedCheck(services, run, entry.target) : null
      free = job_id === null ? 0 : free - 1
      started.push({ ...entry, job_id })
    }
  }
  return started
}
