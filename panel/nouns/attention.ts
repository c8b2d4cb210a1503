import { type Check, canBeRepaired, type Finding, isUnanswered, isUnfinished } from './checked.ts'
import type { Outcome } from './outcome.ts'
import { newsOf, type UpgradeNews } from './upgrade-news.ts'

/** A problem that needs an action. `targets` is never empty. */
export type Attention =
  | { kind: 'hostKey'; level: 'err' }
  | { kind: 'dpkg'; level: 'err' }
  | ({ kind: 'job'; level: 'err' | 'warn' } & UpgradeNews)
  | { kind: 'disk'; level: 'err' | 'warn'; name: string | undefined; vmid: number | undefined; used: number }
  | { kind: 'space'; level: 'err' | 'warn'; target: string }
  | { kind: 'module'; level: 'err'; name: string }
  | { kind: 'stopped'; level: 'warn'; name: string; vmid: number; at: number }
  | { kind: 'reboot'; level: 'warn'; targets: string[] }
  | { kind: 'unfinished'; level: 'err'; target: string; repairable: boolean }
  | { kind: 'dependencies'; level: 'err'; target: string; repairable: boolean }
  | { kind: 'readOnly'; level: 'err'; target: string }
  | { kind: 'blocked'; level: 'err'; targets: string[] }
  | { kind: 'exploited'; level: 'warn'; targets: string[] }
  | { kind: 'lists'; level: 'warn'; targets: string[]; retry: boolean }
  | { kind: 'locked'; level: 'warn'; targets: string[] }
  | { kind: 'endOfLife'; level: 'warn'; targets: string[] }
  | { kind: 'conffiles'; level: 'warn'; targets: string[] }
  | { kind: 'services'; level: 'warn'; targets: string[] }
  | { kind: 'unchecked'; level: 'warn'; targets: string[] }
  | { kind: 'packages'; level: 'warn'; count: number; targets: number; security: number }

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

/** Findings because of which package lists are old. */
const LISTS = /^(repository_|lists_stale$|manager_locked$|network_missing$)/
/** Blocking findings with an entry of their own. */
const TOLD_APART = new Set<Finding['code']>(['dependencies_broken', 'root_read_only', 'disk_low'])

/** Lists the known problems, the most urgent first, each once. Unknown facts produce no entry. */
export function attentionOf(known: Known): Attention[] {
  const { hasOtherKey, host, containers, stoppedSince, jobs, checks, modules } = known
  // Nothing can be done about the packages of a container that is stopped, or has no apt.
  const there = checks.filter(({ state }) => state !== 'stopped' && state !== 'unsupported')
  const found: Attention[] = hasOtherKey ? [{ kind: 'hostKey', level: 'err' }] : []
  const unfinished = there.filter(isUnfinished)
  if (host?.dpkg_broken && !unfinished.some(({ target }) => target === 'host'))
    found.push({ kind: 'dpkg', level: 'err' })
  for (const news of newsOf(jobs, checks))
    found.push({ kind: 'job', level: news.outcome === 'failed' ? 'err' : 'warn', ...news })
  for (const check of unfinished)
    found.push({ kind: 'unfinished', level: 'err', target: check.target, repairable: canBeRepaired(check) })
  found.push(...there.flatMap(obstaclesOf), ...grouped('blocked', there.filter(isBlockedOtherwise)))
  found.push(
    ...grouped(
      'exploited',
      there.filter(({ exploited }) => exploited > 0),
    ),
  )
  for (const name of modules) found.push({ kind: 'module', level: 'err', name })
  found.push(...listsOf(there))
  found.push(...disksOf(known))
  for (const { vmid, name } of containers) {
    const at = stoppedSince.get(vmid)
    if (at !== undefined) found.push({ kind: 'stopped', level: 'warn', name, vmid, at })
  }
  found.push(...grouped('endOfLife', withFinding(there, 'end_of_life')))
  found.push(...rebootsOf(there, host))
  found.push(...grouped('locked', withFinding(there, 'container_locked')))
  found.push(...grouped('conffiles', withFinding(there, 'conffile_changed')))
  found.push(...grouped('services', withFinding(there, 'services_outdated', 'info')))
  found.push(
    ...grouped(
      'unchecked',
      there.filter((check) => !check.checking && isUnanswered(check)),
    ),
  )
  found.push(...packagesOf(there))
  return found.sort((a, b) => RANK[a.level] - RANK[b.level] || urgency(a) - urgency(b))
}

const RANK = { err: 0, warn: 1 } as const

/** An exploited vulnerability comes before every other warning. */
function urgency({ kind }: Attention): number {
  return kind === 'exploited' ? 0 : 1
}

type Grouped = Extract<Attention['kind'], 'exploited' | 'locked' | 'endOfLife' | 'conffiles' | 'services' | 'unchecked'>

function grouped(kind: Grouped | 'blocked', of: readonly Check[]): Attention[] {
  const targets = of.map(({ target }) => target)
  if (targets.length === 0) return []
  return [kind === 'blocked' ? { kind, level: 'err', targets } : { kind, level: 'warn', targets }]
}

/** A remark counts only where it is asked for: an end of life that is still ahead needs nobody yet. */
function withFinding(checks: readonly Check[], code: Finding['code'], least: Finding['severity'] = 'warning'): Check[] {
  return checks.filter(({ findings }) =>
    findings.some((each) => each.code === code && (least === 'info' || each.severity !== 'info')),
  )
}

/** The obstacles of a target that have an action of their own. */
function obstaclesOf(check: Check): Attention[] {
  const { target, findings } = check
  const has = (code: Finding['code']) => findings.some((each) => each.code === code)
  const found: Attention[] = []
  if (has('dependencies_broken'))
    found.push({ kind: 'dependencies', level: 'err', target, repairable: canBeRepaired(check) })
  if (has('root_read_only')) found.push({ kind: 'readOnly', level: 'err', target })
  return found
}

/** Whether a target is blocked by something that no other entry tells. */
function isBlockedOtherwise({ state, findings }: Check): boolean {
  const blocking = findings.filter(({ severity }) => severity === 'blocking')
  return state === 'blocked' && !blocking.some(({ code }) => TOLD_APART.has(code))
}

/** The targets with old lists, apart from those that a new check may help. */
function listsOf(checks: readonly Check[]): Attention[] {
  const about = checks.map(({ target, findings }) => ({ target, old: findings.filter(({ code }) => LISTS.test(code)) }))
  const retried = (old: readonly Finding[]) => old.every(({ remedy }) => remedy?.action === 'retry_check')
  return [false, true].flatMap((retry): Attention[] => {
    const targets = about.filter(({ old }) => old.length > 0 && retried(old) === retry).map(({ target }) => target)
    return targets.length > 0 ? [{ kind: 'lists', level: 'warn', targets, retry }] : []
  })
}

interface Disk {
  name?: string
  vmid?: number
  disk: number | null
  maxdisk: number | null
}

/** One entry for each full disk: its figure where it is known, else what the check of its target has found. */
function disksOf({ host, containers, checks }: Known): Attention[] {
  const low = new Map<string, 'err' | 'warn'>()
  for (const { target, state, findings } of checks) {
    const finding = findings.find(({ code }) => code === 'disk_low')
    if (finding && state !== 'stopped') low.set(target, finding.severity === 'blocking' ? 'err' : 'warn')
  }
  const disks: Disk[] = host ? [host, ...containers] : [...containers]
  const told = disks.flatMap(({ name, vmid, disk, maxdisk }): Attention[] => {
    const used = disk !== null && maxdisk ? disk / maxdisk : 0
    if (used < NEARLY_FULL) return []
    const target = vmid === undefined ? 'host' : `lxc:${vmid}`
    const level = used >= FULL || low.get(target) === 'err' ? 'err' : 'warn'
    low.delete(target)
    return [{ kind: 'disk', level, name, vmid, used }]
  })
  return [...told, ...[...low].map(([target, level]): Attention => ({ kind: 'space', level, target }))]
}

/** The host tells itself that it has to restart; its check tells the same. */
function rebootsOf(checks: readonly Check[], host: Known['host']): Attention[] {
  const targets = new Set(withFinding(checks, 'reboot_required', 'info').map(({ target }) => target))
  if (host?.reboot_required) targets.add('host')
  const others = [...targets].filter((target) => target !== 'host')
  const found: Attention[] = targets.has('host') ? [{ kind: 'reboot', level: 'warn', targets: ['host'] }] : []
  return others.length > 0 ? [...found, { kind: 'reboot', level: 'warn', targets: others }] : found
}

function packagesOf(checks: readonly Check[]): Attention[] {
  const waiting = checks.filter(({ counts }) => counts.upgrade > 0)
  const sum = (of: (check: Check) => number) => waiting.reduce((total, check) => total + of(check), 0)
  const count = sum(({ counts }) => counts.upgrade)
  const security = sum(({ counts }) => counts.security)
  return count > 0 ? [{ kind: 'packages', level: 'warn', count, targets: waiting.length, security }] : []
}
