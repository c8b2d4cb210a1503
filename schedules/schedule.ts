import * as z from 'zod'

/** Most waves of a schedule, and most targets that one wave names. */
const MOST_WAVES = 20
const MOST_TARGETS = 200

/** A target of a wave: the host, one container, or all containers with a tag of the hypervisor. */
export const WaveTarget = z
  .string()
  .regex(/^(host|lxc:[1-9]\d{2,8}|tag:[A-Za-z0-9_][A-Za-z0-9_.+-]{0,59})$/)
  .meta({ description: '`host`, `lxc:<id>`, or `tag:<name>` for all containers with that tag.', examples: ['lxc:101'] })

/** `rest` are all containers that no other wave of the schedule names, and that are not stopped when the wave starts. */
export const Wave = z.object({
  targets: z.union([z.literal('rest'), z.array(WaveTarget).min(1).max(MOST_TARGETS)]),
  pause_minutes: z.int().min(0).max(1_440).default(0),
})
export type Wave = z.infer<typeof Wave>

/** The work of a schedule, as it is stored with it and with each of its runs. */
export const ScheduleSettings = z.object({
  /** A run starts nothing this many minutes after its time. */
  window_minutes: z.int().min(5).max(1_440),
  action: z.enum(['check', 'upgrade']),
  only: z.enum(['all', 'security']),
  waves: z.array(Wave).min(1).max(MOST_WAVES),
  on_failure: z.enum(['stop', 'continue']),
  reboot: z.enum(['never', 'if_required']),
})
export type ScheduleSettings = z.infer<typeof ScheduleSettings>

export const RunState = z.enum(['running', 'done', 'stopped', 'missed', 'window_closed', 'cancelled'])
export type RunState = z.infer<typeof RunState>

/**
 * Why a time came to nothing: the service was away until the window had closed, the former run of the schedule still
 * worked, or all schedules were paused.
 */
export const MissedReason = z.enum(['service_away', 'former_run', 'all_paused'])
export type MissedReason = z.infer<typeof MissedReason>

/**
 * Why a run stopped: an upgrade made something worse, one failed, the schedule's creator may not start upgrades any more, the
 * host could not be reached, its reboot failed, or the service itself failed until the window closed.
 */
export const StopReason = z.enum([
  'regressed',
  'failed',
  'creator_kept_out',
  'host_away',
  'reboot_failed',
  'internal_error',
])
export type StopReason = z.infer<typeof StopReason>

/** Why a run that is `done` is not whole: it has left targets out that cannot do what its schedule says. */
export const LEFT_OUT = 'left_out'

/**
 * A target of a wave in a run. `outcome` is null while it is not known: an `Outcome` of an upgrade, `checked` or
 * `check_failed` of a check, `impossible` where no plan could be made, `left_out` where the package manager cannot tell security
 * updates and the schedule wants those alone, `skipped` for a stopped container or a tag that nobody has, `not_started` where the
 * window closed, somebody cancelled, or the run stopped before. `reason` is a French sentence.
 */
export const WaveJob = z.object({
  target: z.string(),
  job_id: z.string().nullable(),
  outcome: z.string().nullable(),
  reason: z.string().nullable(),
})
export type WaveJob = z.infer<typeof WaveJob>

/** A wave in a run. `run_id` is the run of plans that its upgrades are; `targets` are as the schedule names them. */
export const RunWave = z.object({
  targets: Wave.shape.targets,
  pause_minutes: Wave.shape.pause_minutes,
  state: z.enum(['waiting', 'planning', 'running', 'ended']),
  run_id: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  jobs: z.array(WaveJob),
})
export type RunWave = z.infer<typeof RunWave>

/**
 * The reboot at the end of a run: the check that decides, and the job, where there is one. `outcome`: `rebooted`,
 * `not_required`, `skipped` after a failure, `not_started` where the window closed, `check_failed` or `failed`.
 */
export const RunReboot = z.object({
  check_id: z.string().nullable(),
  job_id: z.string().nullable(),
  outcome: z.string().nullable(),
})
export type RunReboot = z.infer<typeof RunReboot>

/** The progress of a run, as its row stores it. */
export const RunProgress = z.object({ waves: z.array(RunWave), reboot: RunReboot.nullable() })
export type RunProgress = z.infer<typeof RunProgress>

/** The person who has paused all schedules, and the time. */
export const PausedBy = z.object({ by: z.string(), at: z.string() })

/** The name under which the address that a schedule pings is sealed. */
export function pingSecret(schedule: string): string {
  return `schedule_ping:${schedule}`
}
