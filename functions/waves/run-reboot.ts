import { OtherQueued, ScheduleRunChanged } from '../../db/job-start.ts'
import { readCheck, upgradesOfAll } from '../../db/checks.ts'
import { type WaveJobRow, withdrawWaiting } from '../../db/schedules/runs.ts'
import { findHostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { LEFT_OUT, type RunReboot } from '../../schedules/schedules.ts'
import { checkOf } from '../checks/check.ts'
import { lookAtHost } from '../restarts/reboot-end.ts'
import { rebootJob } from '../restarts/reboot-job.ts'
import { WAITING_SECONDS } from '../restarts/reboot-script.ts'
import type { Services } from '../services.ts'
import { haltOf, type HeldRun, isWithdrawn, partId, save, scheduled, type Stop, withdrawerOf } from './held-run.ts'
import { startedCheck } from './run-checks.ts'
import type { Looked, Tick } from './tick.ts'
import { checked, isEndless, isFailure, isLeftOut } from './wave-outcomes.ts'
import { keptOut, type Prepared } from './wave-plans.ts'

const NOTHING: RunReboot = { check_id: null, job_id: null, outcome: null }

/**
 * Ends a run all of whose waves have ended: after the reboot of the host where the schedule says so, a wave named the host,
 * nothing has failed, and a check made now finds that it is required.
 */
export async function stepEnd(tick: Tick): Promise<void> {
  const { services, run } = tick
  const { waves } = run.progress
  const entries = waves.flatMap(({ jobs }) => jobs)
  const job = [...tick.jobs.values()].find(({ run_id }) => run_id === partId(run, 'reboot'))
  if (job) return followReboot(tick, job)
  if (run.reason !== null) return endAs(tick, 'stopped')
  if (run.cancelled_by !== null) return endAs(tick, 'cancelled')
  if (entries.some(({ outcome }) => outcome === 'not_started')) return endAs(tick, 'window_closed')
  const namesHost = run.settings.waves.some(({ targets }) => targets !== 'rest' && targets.includes('host'))
  if (run.settings.reboot === 'never' || !namesHost) return endAs(tick, 'done')
  const reboot = run.progress.reboot ?? NOTHING
  if (entries.some(isFailure)) return endAs(tick, 'done', { ...reboot, outcome: 'skipped' })
  if (haltOf(run, services.clock())) return endAs(tick, 'window_closed', { ...reboot, outcome: 'not_started' })
  if (reboot.check_id === null) {
    const check_id = await startedCheck(services, run, 'host')
    if (check_id !== null) await save(services, run, { ...run.progress, reboot: { ...reboot, check_id } })
    return
  }
  const host = { target: 'host', job_id: reboot.check_id, outcome: null, reason: null }
  const { outcome } = checked(host, tick.jobs.get(reboot.check_id))
  if (outcome === null && !isEndless(run, services)) return
  if (outcome !== 'checked') return stopAt(tick, { ...reboot, outcome: 'check_failed' })
  if (await isRequired(services)) return start(tick)
  return endAs(tick, 'done', { ...reboot, outcome: 'not_required' })
}

/** Waits for the reboot, which is withdrawn if nothing may begin any more and it has not had its turn. */
async function followReboot(tick: Tick, job: WaveJobRow): Promise<void> {
  const { services, run } = tick
  const known = { ...(run.progress.reboot ?? NOTHING), job_id: job.id }
  const halt = haltOf(run, services.clock())
  if (job.status === 'running' && job.begun && isEndless(run, services))
    return stopAt(tick, { ...known, outcome: 'failed' })
  if (job.status === 'running') {
    if (known.job_id !== run.progress.reboot?.job_id) await save(services, run, { ...run.progress, reboot: known })
    if (halt && !job.begun && job.cancelled_by === null)
      await withdrawWaiting(services.db, partId(run, 'reboot'), withdrawerOf(run))
    return
  }
  const isCancelled = run.cancelled_by !== null
  if (job.status === 'success')
    return endAs(tick, isCancelled ? 'cancelled' : 'done', { ...known, outcome: 'rebooted' })
  if (!isWithdrawn(run, job)) return stopAt(tick, { ...known, outcome: 'failed' })
  return endAs(tick, isCancelled ? 'cancelled' : 'window_closed', { ...known, outcome: 'not_started' })
}

async function endAs(
  { services, run, background }: Tick,
  state: 'done' | 'stopped' | 'window_closed' | 'cancelled',
  reboot: RunReboot | null = run.progress.reboot,
  stop?: Stop,
): Promise<void> {
  background.drop(run.id)
  const isPartial = state === 'done' && run.progress.waves.some(({ jobs }) => jobs.some(isLeftOut))
  if (
    await save(services, run, { ...run.progress, reboot }, { stop, end: state, lack: isPartial ? LEFT_OUT : undefined })
  )
    services.log.info({ run: run.id, state, reason: run.reason }, 'the run of a schedule has ended')
}

function stopAt(tick: Tick, reboot: RunReboot): Promise<void> {
  return endAs(tick, 'stopped', reboot, { reason: 'reboot_failed', wave: null, targets: ['host'] })
}

async function isRequired({ db, clock }: Services): Promise<boolean> {
  const row = await readCheck(db, 'host')
  return row !== undefined && checkOf(row, await upgradesOfAll(db), clock()).reboot.required === true
}

/** Starts the reboot once no backup and no other job runs. It begins in the window, or not at all. */
async function start(tick: Tick): Promise<void> {
  const { services, run, background } = tick
  const { clock, jobs, log } = services
  const found = background.get(run.id, `reboot of ${run.created_by}`, () => look(services, run))
  if (found?.kind === 'kept_out') {
    const reboot = { ...(run.progress.reboot ?? NOTHING), outcome: 'not_started' }
    const stop = { reason: 'creator_kept_out', wave: null, targets: ['host'], pause: found.why } as const
    return endAs(tick, 'stopped', reboot, stop)
  }
  if (found?.kind === 'away') log.warn({ run: run.id, reason: found.message }, 'the host cannot be rebooted yet')
  const isReady = found?.kind === 'looked' && !found.look.backup
  if (found && !isReady) background.putOff(run.id)
  if (!isReady) return
  const { name, boot, seconds } = found.look
  const left = Math.floor((Date.parse(run.closes_at) - clock().getTime()) / 1_000)
  const owner = { id: run.created_by, username: run.owner_name }
  const request = {
    kind: rebootJob.kind,
    args: { name, boot, until: seconds + Math.min(WAITING_SECONDS, left) },
    target: 'host',
    startedBy: owner.id,
    onlyBeside: ['check'],
    announce: (id: string) =>
      scheduled(services, run, owner, 'host_reboot', { target: 'host', details: { job_id: id, boot_id: boot } }),
  }
  try {
    await jobs.startRun(partId(run, 'reboot'), [request], run)
  } catch (error) {
    const isRefused = error instanceof OtherQueued || error instanceof ScheduleRunChanged || error instanceof Failure
    if (!isRefused) throw error
    // Another job works, which may take its time.
    background.putOff(run.id)
  }
}

async function look(services: Services, run: HeldRun): Promise<Looked | Prepared> {
  const owner = await findHostAccount(services.db, run.created_by)
  const why = await keptOut(services, owner)
  if (why === undefined) return { kind: 'away', message: 'the host tells nothing about the account of the owner' }
  if (why !== null) return { kind: 'kept_out', why }
  return { kind: 'looked', look: await lookAtHost(services.host, run.created_by) }
}
