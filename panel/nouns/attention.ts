import { type Check, canBeRepaired, isUnanswered, isUnfinished, updatesIn } from './checked.ts'
import type { Outcome } from './outcome.ts'

/** A problem that needs an action. */
export type Attention =
  | { kind: 'hostKey'; level: 'err' }
  | { kind: 'dpkg'; level: 'err' }
  | { kind: 'job'; level: 'err' | 'warn'; target: string; job: string; at: string }
  | { kind: 'disk'; level: 'err' | 'warn'; name: string | undefined; vmid: number | undefined; used: number }
  | { kind: 'module'; level: 'err'; name: string }
  | { kind: 'stopped'; level: 'warn'; name: string; vmid: number; at: number }
  | { kind: 'reboot'; level: 'warn' }
  | { kind: 'unfinished'; level: 'err'; target: string }
  | { kind: 'dependencies'; level: 'err'; target: string; repairable: boolean }
  | { kind: 'lists'; level: 'warn'; targets: number }
  | { kind: 'unchecked'; level: 'warn'; targets: number }
  | { kind: 'packages'; level: 'warn'; count: number; targets: number }

interface Known {
  /** The host presents a different key from the accepted one. */
  hasOtherKey: boolean
  host?: { disk: number; maxdisk: number; reboot_required: boolean; dpkg_broken: boolean } | undefined
  containers: readonly { vmid: number; name: string; disk: number | null; maxdisk: number | null }[]
  /** For stopped containers: the time at which they were last seen running. */
  stoppedSince: ReadonlyMap<number, number>
  /** Newest first. */
  jobs: readonly { job_id: string; target: string; started_at: string; outcome: Outcome }[]
  /** The last check result of each target. */
  checks: readonly Check[]
  /** The names of the modules with a problem. */
  modules: readonly string[]
}

const NEARLY_FULL = 0.9
const FULL = 0.97

/** Lists the known problems, the most urgent first. Unknown facts produce no entry. */
export function attentionOf({
  hasOtherKey,
  host,
  containers,
  stoppedSince,
  jobs,
  checks,
  modules,
}: Known): Attention[] {
  const found: Attention[] = hasOtherKey ? [{ kind: 'hostKey', level: 'err' }] : []
  const unfinished = checks.filter(isUnfinished).map(({ target }) => target)
  if (host?.dpkg_broken && !unfinished.includes('host')) found.push({ kind: 'dpkg', level: 'err' })
  for (const target of unfinished) found.push({ kind: 'unfinished', level: 'err', target })
  for (const check of checks) {
    const isBlocked = check.findings.some(({ code }) => code === 'dependencies_broken')
    const { target } = check
    if (isBlocked) found.push({ kind: 'dependencies', level: 'err', target, repairable: canBeRepaired(check) })
  }
  if (host) found.push(...diskOf(host))
  const newest = newestOfEach(jobs)
  for (const each of newest.filter((one) => !isOver(one, checks))) {
    const { target, job_id: job, started_at: at, outcome } = each
    if (outcome === 'failed') found.push({ kind: 'job', level: 'err', target, job, at })
    if (outcome === 'flawed') found.push({ kind: 'job', level: 'warn', target, job, at })
  }
  found.push(...failedBefore(checks, newest))
  for (const name of modules) found.push({ kind: 'module', level: 'err', name })
  for (const each of containers) {
    const at = stoppedSince.get(each.vmid)
    if (at !== undefined) found.push({ kind: 'stopped', level: 'warn', name: each.name, vmid: each.vmid, at })
    found.push(...diskOf(each))
  }
  if (host?.reboot_required) found.push({ kind: 'reboot', level: 'warn' })
  const old = checks.filter(({ findings }) =>
    findings.some(({ code }) => /^(repository_|lists_stale|manager_locked)/.test(code)),
  )
  if (old.length > 0) found.push({ kind: 'lists', level: 'warn', targets: old.length })
  const silent = checks.filter((check) => !check.checking && isUnanswered(check))
  if (silent.length > 0) found.push({ kind: 'unchecked', level: 'warn', targets: silent.length })
  const counts = checks.map(updatesIn).filter((count) => count > 0)
  const count = counts.reduce((sum, each) => sum + each, 0)
  if (count > 0) found.push({ kind: 'packages', level: 'warn', count, targets: counts.length })
  return found.sort((a, b) => (a.level === b.level ? 0 : a.level === 'err' ? -1 : 1))
}

interface Disk {
  name?: string
  vmid?: number
  disk: number | null
  maxdisk: number | null
}

/** The disk of the host has no name. */
function diskOf({ name, vmid, disk, maxdisk }: Disk): Attention[] {
  if (disk === null || !maxdisk) return []
  const used = disk / maxdisk
  if (used < NEARLY_FULL) return []
  return [{ kind: 'disk', level: used >= FULL ? 'err' : 'warn', name, vmid, used }]
}

/** Failed upgrades of single targets that the newest jobs do not report already, and that nothing has superseded. */
function failedBefore(checks: readonly Check[], newest: Known['jobs']): Attention[] {
  return checks.flatMap(({ target, state, last_upgrade: last }) => {
    if (state === 'unsupported' || last?.outcome !== 'failed') return []
    const isTold = newest.some(
      (job) => job.job_id === last.job_id || (job.target === target && job.started_at > last.finished_at),
    )
    if (isTold) return []
    return [{ kind: 'job', level: 'err', target, job: last.job_id, at: last.finished_at }]
  })
}

/**
 * Whether a later upgrade superseded a failed job: an upgrade of all containers after that of one, or later upgrades of all containers that
 * had failed. An unknown result supersedes nothing.
 */
function isOver({ job_id, target, started_at, outcome }: Known['jobs'][number], checks: readonly Check[]): boolean {
  const isLater = ({ last_upgrade: last }: Check) =>
    !!last && last.job_id !== job_id && Date.parse(last.finished_at) > Date.parse(started_at)
  if (target !== 'all') return checks.some((check) => check.target === target && isLater(check))
  if (outcome !== 'flawed') return false
  const stillFails = ({ state, last_upgrade: last }: Check) =>
    state !== 'unsupported' && last?.job_id === job_id && last.outcome === 'failed'
  return checks.some(isLater) && !checks.some(stillFails)
}

/** Keeps the newest job of each target: a new upgrade supersedes an earlier failure. */
function newestOfEach<job extends { target: string }>(jobs: readonly job[]): job[] {
  return jobs.filter(({ target }, n) => jobs.findIndex((each) => each.target === target) === n)
}
