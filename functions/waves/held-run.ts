import { createHash } from 'node:crypto'
import type { Database } from '../../db/libsql/database.ts'
import { readFormerChecks } from '../../db/notifications/former-checks.ts'
import { type HeldRow, holdRuns, saveRun, type WaveJobRow } from '../../db/schedules/runs.ts'
import { timestamp } from '../../platform/clock.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { eventStatement } from '../../notifications/notifications.ts'
import { RunProgress, type RunState, ScheduleSettings, type StopReason } from '../../schedules/schedules.ts'
import { auditStatement, type Services } from '../services.ts'

/** Another instance takes a run over when its lease was not renewed for this long: five ticks. */
const LEASE_MS = 10_000

/** A run that this instance carries out, as it was read at the beginning of a tick. */
export interface HeldRun extends Omit<HeldRow, 'settings' | 'waves'> {
  owner: string
  settings: ScheduleSettings
  progress: RunProgress
}

/** Returns the running runs that this instance holds now. A run that cannot be read is left to a version that can. */
export async function heldRuns({ db, boot, log }: Pick<Services, 'db' | 'boot' | 'log'>): Promise<HeldRun[]> {
  const rows = await holdRuns(db, { owner: boot.id, leaseMs: LEASE_MS })
  return rows.flatMap((row) => {
    const settings = ScheduleSettings.safeParse(JSON.parse(row.settings)).data
    const progress = RunProgress.safeParse(JSON.parse(row.waves)).data
    if (settings && progress) return [{ ...row, settings, progress, owner: boot.id }]
    log.error({ run: row.id }, 'the run of a schedule cannot be read')
    return []
  })
}

/** The id of the run of plans that a part of a run starts: the same one for every instance, so that it is started once. */
export function partId({ id }: Pick<HeldRun, 'id'>, part: number | 'reboot'): string {
  return createHash('sha256').update(`schedule ${id} ${part}`).digest('hex').slice(0, 24)
}

/** The name under which a run withdraws jobs, as the jobs show it. */
export function withdrawerOf({ schedule_name, cancelled_by }: HeldRun): string {
  return cancelled_by ?? `la planification « ${schedule_name} »`
}

/** Whether a run has withdrawn a job. Its schedule may have been renamed since, or somebody may have cancelled it. */
export function isWithdrawn({ cancelled_by }: HeldRun, job: Pick<WaveJobRow, 'launched' | 'cancelled_by'>): boolean {
  if (job.launched || job.cancelled_by === null) return false
  // The names of accounts have no spaces, and that of a schedule as a withdrawer has some.
  return job.cancelled_by === cancelled_by || job.cancelled_by.includes(' ')
}

/**
 * The end of a run’s starts: it stops, somebody has cancelled it, or its window has closed. A clock that was set back to
 * before the run by more than its window closes it, too; it would be open until then.
 */
export function haltOf(run: HeldRun, now: Date): 'stopped' | 'cancelled' | 'window_closed' | undefined {
  if (run.reason !== null) return 'stopped'
  if (run.cancelled_by !== null) return 'cancelled'
  const closes = Date.parse(run.closes_at)
  const isBefore = now.getTime() < run.due_ms - (closes - run.due_ms)
  return isBefore || now.getTime() >= closes ? 'window_closed' : undefined
}

/** A reason to stop, told at once. `wave` counts from 0; `pause` disables the schedule with that sentence. */
export interface Stop {
  reason: StopReason
  wave: number | null
  targets: readonly string[]
  pause?: string
}

/** Targets that the event names. */
const MOST_NAMED = 200

/** Returns the ends of the targets because of which a run stops, with the names of the containers. */
async function happenedTo(db: Database, { waves }: RunProgress, { wave, targets }: Stop) {
  const entries = wave === null ? [] : (waves[wave]?.jobs ?? [])
  const known = entries.filter(({ target, outcome }) => targets.includes(target) && outcome !== null)
  const named = known.slice(0, MOST_NAMED)
  const checks = await readFormerChecks(
    db,
    named.map(({ target }) => target),
  )
  const names = new Map(checks.map(({ target, name }) => [target, name]))
  return named.map(({ target, outcome, reason }) => ({
    target,
    name: names.get(target) ?? '',
    outcome: outcome ?? '',
    reason,
  }))
}

/**
 * Stores the progress of a run, which then has it. A stop, with its event, and the end of the run are in the same
 * transaction; `lack` is why a run that ends without a stop is not whole. False when the run is no longer as it was read; the next tick looks again.
 */
export async function save(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  run: HeldRun,
  progress: RunProgress,
  {
    stop,
    end,
    lack,
  }: {
    stop?: Stop | undefined
    end?: Exclude<RunState, 'running' | 'missed'> | undefined
    lack?: string | undefined
  } = {},
): Promise<boolean> {
  const at = timestamp(clock())
  const happened = stop ? await happenedTo(db, progress, stop) : []
  const told = stop && [
    eventStatement({
      key: `schedule_stopped:${run.id}`,
      at,
      event: 'schedule_stopped',
      target: null,
      run: run.id,
      details: {
        schedule: run.schedule_id,
        name: run.schedule_name,
        timezone: run.timezone,
        run: run.id,
        wave: stop.wave === null ? null : stop.wave + 1,
        waves: progress.waves.length,
        reason: stop.reason,
        targets: stop.targets.slice(0, MOST_NAMED),
        happened,
      },
    }),
  ]
  const change = { waves: JSON.stringify(progress), reason: stop?.reason ?? lack, end: end && { state: end, at } }
  if (!(await saveRun(db, run, change, { more: told ?? [], pause: stop?.pause }))) return false
  Object.assign(run, { progress, revision: run.revision + 1, reason: run.reason ?? stop?.reason ?? lack ?? null })
  run.state = end ?? run.state
  return true
}

/** The jobs of the runs of a tick. */
export type Jobs = ReadonlyMap<string, WaveJobRow>

/** Makes the audit entry of something that a run does in the name of its schedule's owner. */
export function scheduled(
  services: Services,
  run: HeldRun,
  owner: { id: number; username: string },
  action: 'update_start' | 'check_start' | 'host_reboot',
  { details, ...note }: AuditNote,
) {
  const by = { schedule: run.schedule_id, schedule_run: run.id }
  return auditStatement(services, { user: owner, address: '' }, action, { ...note, details: { ...details, ...by } })
}
