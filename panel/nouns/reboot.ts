import type { Answer } from '../../client/index.ts'
import type { Check } from './checked.ts'

type Job = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]

/** A container that ran before a reboot of the host. */
export interface Ran {
  vmid: number
  name: string
}

const GONE = /^Le conteneur (\d{1,9}) \(([A-Za-z0-9.-]{1,63})\) tournait avant le redémarrage et ne tourne plus\.$/

/** Returns the container that a warning of a reboot names; undefined for every other sentence. */
export function missingOf(warning: string): Ran | undefined {
  const [, vmid, name] = GONE.exec(warning) ?? []
  return vmid === undefined || name === undefined ? undefined : { vmid: Number(vmid), name }
}

/** Returns the containers that did not come back after a reboot, as its record names them. */
export function missingIn(warnings: readonly string[]): Ran[] {
  return warnings.flatMap((warning) => missingOf(warning) ?? [])
}

/** How far a reboot has come, by the lines of its output. Those about the other boot are the service's own. */
export interface Reached {
  asked: boolean
  back: boolean
}

export function reachedIn(lines: Iterable<string>): Reached {
  const reached = { asked: false, back: false }
  for (const line of lines) {
    if (line === 'The host is asked to reboot.') reached.asked = true
    if (/^L’hôte a redémarré\s: [0-9a-f-]{36} → [0-9a-f-]{36}\.$/.test(line)) reached.asked = reached.back = true
  }
  return reached
}

/** `warn`: it ended, and something is left to do. `off`: not reached any more. */
export type StopState = 'done' | 'now' | 'fail' | 'warn' | 'ahead' | 'off'

export interface RebootStop {
  name: 'asked' | 'away' | 'back' | 'containers'
  state: StopState
}

const NAMES = ['asked', 'away', 'back', 'containers'] as const

/** The stations of a reboot. The host counts as back when the job says so, however it answers before. */
export function rebootStops(
  { status, error_code, warnings }: Pick<Job, 'status' | 'error_code' | 'warnings'>,
  { asked, back }: Reached,
): RebootStop[] {
  if (status === 'success')
    return NAMES.map((name) => ({
      name,
      state: name === 'containers' && warnings.length > 0 ? ('warn' as const) : ('done' as const),
    }))
  const at = back ? 3 : asked ? 1 : 0
  const here = status === 'running' ? 'now' : error_code === 'cancelled' ? 'off' : 'fail'
  const after = status === 'running' ? 'ahead' : 'off'
  return NAMES.map((name, n) => ({ name, state: n < at ? 'done' : n === at ? here : after }))
}

/** The results without what a later reboot of the host has settled: they are renewed a moment after it. */
export function afterReboot(
  checks: readonly Check[],
  jobs: readonly Pick<Job, 'kind' | 'status' | 'started_at'>[],
): readonly Check[] {
  const done = jobs.find(({ kind, status }) => kind === 'reboot' && status === 'success')
  if (!done) return checks
  return checks.map((check) => {
    if (check.target !== 'host' || check.checked_at === null || check.checked_at > done.started_at) return check
    const findings = check.findings.filter(({ code }) => code !== 'reboot_required' && code !== 'services_outdated')
    return { ...check, findings, reboot: { required: null, reasons: [] }, services: [] }
  })
}

/** The rest that the newest reboot of the host has left to do. */
export interface RebootNews {
  job: string
  at: string
  /** The error of a reboot that did not end well, unless somebody cancelled it. */
  code: string | undefined
  /** The containers that did not come back. */
  missing: readonly Ran[]
}

const DAY_MS = 24 * 60 * 60_000

/**
 * Returns what the newest reboot has left to do; undefined when there is nothing, when it runs, or after a day. `boot` is the time
 * of the host's present boot in ms since 1970: one that begins after a failed reboot settles it.
 */
export function rebootNews(
  jobs: readonly Pick<Job, 'job_id' | 'kind' | 'status' | 'error_code' | 'warnings' | 'started_at'>[],
  { now, boot }: { now: number; boot: number | undefined },
): RebootNews | undefined {
  const newest = jobs.find(({ kind }) => kind === 'reboot')
  if (!newest || newest.status === 'running') return undefined
  const { job_id: job, started_at: at, error_code, warnings, status } = newest
  const began = Date.parse(at)
  if (now - began > DAY_MS) return undefined
  const missing = missingIn(warnings)
  const isSettled = error_code === 'cancelled' || (boot !== undefined && boot > began)
  const code = status === 'error' && !isSettled ? (error_code ?? '') : undefined
  return code === undefined && missing.length === 0 ? undefined : { job, at, code, missing }
}
