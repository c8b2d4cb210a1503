import type { Answer } from '../../client/index.ts'

export type Schedule = Answer<'GET /api/schedules'>['schedules'][number]
export type Run = Answer<'GET /api/schedules/runs/{id}'>
export type RunState = Run['state']
export type RunWave = Run['waves'][number]
export type WaveTargets = Schedule['waves'][number]['targets']

/**
 * How a schedule stands. `barred`: the service has paused it. `broken`: its newest run stopped. `trouble`: the newest time was missed,
 * or its window closed too early. `partial`: the newest run has left targets out, and so will the next one.
 */
export type Standing =
  | 'barred'
  | 'broken'
  | 'trouble'
  | 'running'
  | 'well'
  | 'partial'
  | 'cancelled'
  | 'unused'
  | 'paused'

const OF_RUN: Readonly<Record<RunState, Standing>> = {
  running: 'running',
  done: 'well',
  stopped: 'broken',
  missed: 'trouble',
  window_closed: 'trouble',
  cancelled: 'cancelled',
}

export function standingOf({ enabled, paused_reason: reason, recent, last_run: last }: Schedule): Standing {
  const newest = recent.at(-1)
  if (newest?.state === 'running') return 'running'
  if (!enabled) return reason === null ? 'paused' : 'barred'
  if (last !== null && last.id === newest?.id && isPartial(last)) return 'partial'
  return newest ? OF_RUN[newest.state] : 'unused'
}

export const STANDING_STATUS = {
  barred: 'err',
  broken: 'err',
  trouble: 'warn',
  running: 'run',
  well: 'ok',
  partial: 'warn',
  cancelled: 'barred',
  unused: 'unknown',
  paused: 'off',
} as const

const RUN_STATUS = {
  running: 'run',
  done: 'ok',
  stopped: 'err',
  missed: 'unknown',
  window_closed: 'warn',
  cancelled: 'barred',
} as const

/** Whether a run has done everything but for targets that it had to leave out. */
export function isPartial({ state, reason }: Pick<Run, 'state' | 'reason'>): boolean {
  return state === 'done' && reason === 'left_out'
}

/** How a run shows: one that has left targets out is not well. */
export function runStatus(run: Pick<Run, 'state' | 'reason'>): (typeof RUN_STATUS)[RunState] {
  return isPartial(run) ? 'warn' : RUN_STATUS[run.state]
}

/** The end of a target in a run; `waiting` before it is known. */
export type Fate =
  | 'waiting'
  | 'upgraded'
  | 'nothing'
  | 'broken'
  | 'back'
  | 'stuck'
  | 'failed'
  | 'impossible'
  | 'cancelled'
  | 'notStarted'
  | 'leftOut'
  | 'skipped'
  | 'checked'
  | 'unchecked'
  | 'unknown'

const FATES: Readonly<Record<string, Fate>> = {
  upgraded: 'upgraded',
  nothing_to_do: 'nothing',
  regressed: 'broken',
  rolled_back: 'back',
  rollback_failed: 'stuck',
  failed: 'failed',
  plan_changed: 'failed',
  impossible: 'impossible',
  cancelled: 'cancelled',
  not_started: 'notStarted',
  left_out: 'leftOut',
  skipped: 'skipped',
  checked: 'checked',
  check_failed: 'unchecked',
}

export function fateOf({ outcome }: { outcome: string | null }): Fate {
  return outcome === null ? 'waiting' : (FATES[outcome] ?? 'unknown')
}

export const FATE_STATUS = {
  waiting: 'run',
  upgraded: 'ok',
  nothing: 'ok',
  broken: 'err',
  back: 'back',
  stuck: 'err',
  failed: 'err',
  impossible: 'warn',
  cancelled: 'barred',
  notStarted: 'off',
  leftOut: 'warn',
  skipped: 'off',
  checked: 'ok',
  unchecked: 'warn',
  unknown: 'unknown',
} as const

/** The order in which the counts of a run are told. */
const TOLD = [
  'broken',
  'stuck',
  'back',
  'failed',
  'unchecked',
  'impossible',
  'leftOut',
  'upgraded',
  'checked',
  'nothing',
  'cancelled',
  'notStarted',
  'skipped',
  'unknown',
  'waiting',
] as const satisfies readonly Fate[]

/** How many targets of a run came to each end, the worst first. */
export function tallyOf(waves: readonly Pick<RunWave, 'jobs'>[]): { fate: Fate; count: number }[] {
  const counts = new Map<Fate, number>()
  for (const job of waves.flatMap(({ jobs }) => jobs)) {
    const fate = fateOf(job)
    counts.set(fate, (counts.get(fate) ?? 0) + 1)
  }
  return TOLD.flatMap((fate) => {
    const count = counts.get(fate)
    return count === undefined ? [] : [{ fate, count }]
  })
}

/** `now` is worked on, `fail` made the run stop, `off` is not reached any more. */
export type Station = 'done' | 'now' | 'fail' | 'ahead' | 'off'

/** Ends of a target after which a run may stop. */
const HARM = /^(broken|stuck|back|failed|impossible|cancelled|unchecked)$/

/** Whether a wave has begun. The service closes the waves that a stopped or cancelled run has left. */
function hasBegun({ state, jobs }: RunWave): boolean {
  const isLeft = jobs.length > 0 && jobs.every(({ outcome }) => outcome === 'not_started')
  return state !== 'waiting' && !isLeft
}

/** The stations of a run: one for each of its waves. */
export function stationsOf({ state, waves }: Pick<Run, 'state' | 'waves'>): Station[] {
  return waves.map((wave, n) => {
    const isHarmed = wave.jobs.some((job) => HARM.test(fateOf(job)))
    if (wave.state === 'planning' || wave.state === 'running') return state === 'running' ? 'now' : 'fail'
    if (!hasBegun(wave)) return state === 'running' ? 'ahead' : 'off'
    const next = waves[n + 1]
    const isLast = next === undefined || !hasBegun(next)
    return isHarmed && state === 'stopped' && isLast ? 'fail' : 'done'
  })
}

/** The time at which the next wave of a running run may start, if it waits for it, in ms since 1970. */
export function pausedUntil({ state, waves }: Pick<Run, 'state' | 'waves'>): number | undefined {
  const next = waves.findIndex((wave) => wave.state === 'waiting')
  const before = waves[next - 1]
  if (state !== 'running' || before?.state !== 'ended' || before.finished_at === null) return undefined
  return Date.parse(before.finished_at) + before.pause_minutes * 60_000
}

/** The states of a run in the order of a legend. */
export const RUN_STATES = [
  'done',
  'running',
  'window_closed',
  'stopped',
  'missed',
  'cancelled',
] as const satisfies readonly RunState[]
