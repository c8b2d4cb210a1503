import type { Answer } from '../../client/index.ts'
import { instant } from './format.ts'
import { type Fate, fateOf, type Run, type RunWave } from './schedule.ts'

/** The record of an upgrade of a wave. */
export type Upgrade = Answer<'GET /api/updates/runs/{id}'>['jobs'][number]
export type Upgrades = ReadonlyMap<string, Upgrade>

/** From when to when something was done, in ms since 1970; `to` is undefined while it is. */
export interface Span {
  from: number
  to: number | undefined
}

interface NightJob {
  target: string
  fate: Fate
  /** Undefined before its turn. */
  span: Span | undefined
}

interface NightWave {
  /** Its place, from 0. */
  n: number
  span: Span
  jobs: readonly NightJob[]
}

/** The course of a run: its whole span, and that of each wave and each upgrade that has begun. */
export interface Night {
  from: number
  to: number
  waves: readonly NightWave[]
}

/** The course of a run until `now`, in ms since 1970; undefined before its first wave has begun. */
export function nightOf(run: Run, upgrades: Upgrades, now: number): Night | undefined {
  const waves = run.waves.flatMap((wave, n): NightWave[] => {
    const span = spanOf(wave.started_at, wave.finished_at)
    return span ? [{ n, span, jobs: jobsOf(wave, upgrades) }] : []
  })
  const spans = waves.flatMap(({ span, jobs }) => [span, ...jobs.flatMap((job) => job.span ?? [])])
  if (spans.length === 0) return undefined
  const end = instant(run.finished_at) ?? now
  return {
    from: Math.min(...spans.map(({ from }) => from)),
    to: Math.max(end, ...spans.map(({ from, to }) => to ?? from)),
    waves,
  }
}

function jobsOf({ jobs }: RunWave, upgrades: Upgrades): NightJob[] {
  return jobs.flatMap((job): NightJob[] => {
    const upgrade = job.job_id === null ? undefined : upgrades.get(job.job_id)
    const span = upgrade && turnOf(upgrade)
    const fate = fateOf(job)
    // An upgrade that has ended without a turn has no place in the course.
    return upgrade && (span || fate === 'waiting') ? [{ target: job.target, fate, span }] : []
  })
}

/** The span of an upgrade from its turn on, before which it waits for others. The host has no phases that tell its turn. */
function turnOf({ target, status, phase, begun_at: begun, started_at: asked, finished_at: ended }: Upgrade) {
  if (status === 'running' && phase === 'waiting') return undefined
  return spanOf(begun ?? (target === 'host' ? asked : null), ended)
}

function spanOf(begun: string | null, ended: string | null | undefined): Span | undefined {
  const from = instant(begun)
  const to = instant(ended)
  // The clock may have gone back meanwhile.
  return from === undefined ? undefined : { from, to: to === undefined ? undefined : Math.max(from, to) }
}

/** The part of the night that a span takes, as shares from 0 to 1. */
export function shareOf({ from, to }: Span, night: Pick<Night, 'from' | 'to'>): { start: number; length: number } {
  const whole = Math.max(1, night.to - night.from)
  return { start: (from - night.from) / whole, length: ((to ?? night.to) - from) / whole }
}
