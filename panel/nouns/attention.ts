import { type Check, canBeRepaired, type Finding, isUnanswered, isUnfinished, needsReboot } from './checked.ts'
import { type Figures, fullDisks, hasFailed, hasWarned, needsOf } from './needs.ts'
import type { Outcome } from './outcome.ts'
import type { RebootNews } from './reboot.ts'
import { type Totals, totalsOf } from './target-list.ts'
import { newsOf, type UpgradeNews } from './upgrade-news.ts'

/** Findings because of which package lists are old: those that need a decision first. */
const LISTS = [
  'repository_changed',
  'repository_unsigned',
  'repository_unreachable',
  'repository_expired',
  'network_missing',
  'manager_locked',
  'lists_stale',
] as const
export type ListsCode = (typeof LISTS)[number]

/** A problem that needs an action, or a remark (`ready`, `info`). `targets` is never empty. */
export type Attention =
  | { kind: 'hostKey'; level: 'err' }
  | { kind: 'dpkg'; level: 'warn' }
  | ({ kind: 'job'; level: 'err' | 'warn' } & UpgradeNews)
  | { kind: 'disk'; level: 'err' | 'warn'; target: string; used: number | undefined }
  | { kind: 'module'; level: 'err'; name: string }
  | { kind: 'stopped'; level: 'warn'; name: string; vmid: number; at: number }
  | { kind: 'reboot'; level: 'warn'; targets: string[] }
  | { kind: 'rebooted'; level: 'err'; job: string; code: string; at: string }
  | { kind: 'notBack'; level: 'warn'; job: string; targets: string[] }
  | { kind: 'unfinished'; level: 'warn'; target: string; repairable: boolean }
  | { kind: 'dependencies'; level: 'err'; target: string; repairable: boolean }
  | { kind: 'readOnly'; level: 'err'; target: string }
  | { kind: 'blocked'; level: 'err'; targets: string[] }
  | { kind: 'exploited'; level: 'warn'; targets: string[] }
  | { kind: 'lists'; level: 'warn'; code: ListsCode; targets: string[]; retry: boolean }
  | { kind: 'locked' | 'endOfLife' | 'conffiles' | 'unchecked'; level: 'warn'; targets: string[] }
  | { kind: 'other'; level: 'warn'; target: string }
  | ({ kind: 'packages'; level: 'ready' } & Totals)
  | { kind: 'services'; level: 'info'; targets: string[] }
  | { kind: 'newer'; level: 'info'; target: string; finding: Finding }

interface Known extends Figures {
  /** The host presents a different key from the accepted one. */
  hasOtherKey: boolean
  host?: (NonNullable<Figures['host']> & { dpkg_broken: boolean }) | undefined
  containers: readonly { vmid: number; name: string; disk: number | null; maxdisk: number | null; status?: string }[]
  /** For stopped containers: the time at which they were last seen running. */
  stoppedSince: ReadonlyMap<number, number>
  /** Whether a reboot of the host runs: it stops all containers, and says afterwards which did not come back. */
  isRebooting?: boolean
  /** Newest first. */
  jobs: readonly { job_id: string; target: string; started_at: string; outcome: Outcome }[]
  /** The rest that the newest reboot of the host has left to do. */
  rebooted?: RebootNews | undefined
  /** The last check result of each target. */
  checks: readonly Check[]
  /** The names of the modules with a problem. */
  modules: readonly string[]
  /** Whether the updates of a target count; by default those of all do. */
  counts?: (target: string) => boolean
}

const FULL = 0.97

/** Blocking findings with an entry of their own. */
const TOLD_APART = new Set<Finding['code']>(['dependencies_broken', 'root_read_only', 'disk_low', 'dpkg_interrupted'])

/** Lists the known problems, the most urgent first, each once, and then remarks. Unknown facts produce no entry. */
export function attentionOf(known: Known): Attention[] {
  const { hasOtherKey, host, containers, stoppedSince, isRebooting, jobs, checks, modules, counts = () => true } = known
  const needing = checks.filter((check) => needsOf(check) !== undefined)
  const found: Attention[] = hasOtherKey ? [{ kind: 'hostKey', level: 'err' }] : []
  const afterReboot = rebootedOf(known)
  found.push(...afterReboot)
  const gone = new Set(afterReboot.flatMap((item) => (item.kind === 'notBack' ? item.targets : [])))
  const unfinished = needing.filter(isUnfinished)
  for (const news of newsOf(jobs, checks))
    found.push({ kind: 'job', level: /^(failed|broken|stuck)$/.test(news.outcome) ? 'err' : 'warn', ...news })
  if (host?.dpkg_broken && !unfinished.some(({ target }) => target === 'host'))
    found.push({ kind: 'dpkg', level: 'warn' })
  for (const check of unfinished)
    found.push({ kind: 'unfinished', level: 'warn', target: check.target, repairable: canBeRepaired(check) })
  found.push(...needing.flatMap(obstaclesOf), ...blockedOf(needing))
  found.push(
    ...about(
      'exploited',
      'warn',
      needing.filter(({ exploited }) => exploited > 0),
    ),
  )
  for (const name of modules) found.push({ kind: 'module', level: 'err', name })
  found.push(...listsOf(needing), ...disksOf(known))
  for (const { vmid, name } of containers) {
    const at = stoppedSince.get(vmid)
    if (at !== undefined && !isRebooting && !gone.has(`lxc:${vmid}`))
      found.push({ kind: 'stopped', level: 'warn', name, vmid, at })
  }
  found.push(...about('endOfLife', 'warn', withWarning(needing, 'end_of_life')))
  found.push(...rebootsOf(needing, host))
  found.push(...about('locked', 'warn', withWarning(needing, 'container_locked')))
  found.push(...about('conffiles', 'warn', withWarning(needing, 'conffile_changed')))
  found.push(...about('unchecked', 'warn', needing.filter(isUnanswered)))
  found.push(...othersOf(needing, found))
  found.push(...packagesOf(checks.filter(({ target }) => counts(target))), ...servicesOf(checks), ...newerOf(checks))
  return found.sort((a, b) => RANK[a.level] - RANK[b.level] || urgency(a) - urgency(b))
}

const RANK = { err: 0, warn: 1, ready: 2, info: 3 } as const

/** An exploited vulnerability comes before every other warning. */
function urgency({ kind }: Attention): number {
  return kind === 'exploited' ? 0 : 1
}

/** The targets that an entry is about. */
export function targetsIn(item: Attention): string[] {
  if (item.kind === 'packages') return []
  if (item.kind === 'rebooted' || item.kind === 'dpkg') return ['host']
  if (item.kind === 'stopped') return [`lxc:${item.vmid}`]
  return 'targets' in item ? item.targets : 'target' in item ? [item.target] : []
}

/** The part of an entry that stays the same while its figures change. */
export function keyOf(item: Attention): string {
  const about = item.kind === 'module' ? item.name : item.kind === 'job' ? item.job : targetsIn(item).join(' ')
  return `${item.kind} ${item.kind === 'lists' ? item.code : ''} ${about}`
}

/** How many things need somebody: each target that counts, once, as in the menu, and each entry about something else. */
export function thingsIn(
  items: readonly Attention[],
  checks: readonly Check[],
  counts: (target: string) => boolean = () => true,
): number {
  const needing = checks.filter((check) => needsOf(check) !== undefined)
  const targets = new Set(needing.map(({ target }) => target).filter(counts))
  let others = 0
  for (const item of items) {
    if (item.level === 'info' || item.level === 'ready') continue
    const isToldByTargets =
      item.kind === 'job' &&
      item.target === 'all' &&
      needing.some(({ target, last_upgrade }) => counts(target) && last_upgrade?.job_id === item.job)
    const named = targetsIn(item)
    if (named.length === 0) others += 1
    else if (!isToldByTargets) for (const target of named) if (target === 'all' || counts(target)) targets.add(target)
  }
  return targets.size + others
}

/** One entry about all of these targets, if there are any. */
function about<kind extends string, level extends Attention['level']>(
  kind: kind,
  level: level,
  of: readonly Pick<Check, 'target'>[],
): { kind: kind; level: level; targets: string[] }[] {
  return of.length === 0 ? [] : [{ kind, level, targets: of.map(({ target }) => target) }]
}

/** A remark needs nobody: an end of life that is still ahead, for example. */
function withWarning(checks: readonly Check[], code: Finding['code']): Check[] {
  return checks.filter(({ findings }) => findings.some((each) => each.code === code && each.severity !== 'info'))
}

/** The obstacles of a target that have an action of their own. */
function obstaclesOf(check: Check): Attention[] {
  const { target, findings } = check
  const has = (code: Finding['code']) => findings.some((each) => each.code === code)
  return [
    ...(has('dependencies_broken')
      ? [{ kind: 'dependencies', level: 'err', target, repairable: canBeRepaired(check) } as const]
      : []),
    ...(has('root_read_only') ? [{ kind: 'readOnly', level: 'err', target } as const] : []),
  ]
}

/** The targets that are blocked by something that no other entry tells. */
function blockedOf(checks: readonly Check[]): Attention[] {
  const isToldApart = ({ severity, code }: Finding) => severity === 'blocking' && TOLD_APART.has(code)
  return about(
    'blocked',
    'err',
    checks.filter(({ state, findings }) => state === 'blocked' && !findings.some(isToldApart)),
  )
}

/** The targets with old lists, by the finding that tells most about the reason. */
function listsOf(checks: readonly Check[]): Attention[] {
  const about = checks.flatMap(({ target, findings }) => {
    const code = LISTS.find((each) => findings.some((one) => one.code === each && one.severity !== 'info'))
    const finding = findings.find((one) => one.code === code)
    return code && finding ? [{ target, code, retry: finding.remedy?.action === 'retry_check' }] : []
  })
  return LISTS.flatMap((code): Attention[] => {
    const of = about.filter((each) => each.code === code)
    const targets = of.map(({ target }) => target)
    return of.length > 0 ? [{ kind: 'lists', level: 'warn', code, targets, retry: of.every((each) => each.retry) }] : []
  })
}

/** One entry for each full disk. Its place and action come from the finding of a check, if there is one: figures arrive later. */
function disksOf(known: Known): Attention[] {
  const full = fullDisks(known)
  const isLow = ({ code, severity }: Finding) => code === 'disk_low' && severity !== 'info'
  const low = known.checks.flatMap(({ target, state, findings, used }): Attention[] => {
    const finding = state === 'stopped' ? undefined : findings.find(isLow)
    const level = finding?.severity === 'blocking' ? 'err' : 'warn'
    return finding ? [{ kind: 'disk', level, target, used: full.get(target) ?? used }] : []
  })
  const told = new Set(low.flatMap(targetsIn))
  const stopped = new Set(known.checks.filter(({ state }) => state === 'stopped').map(({ target }) => target))
  const seen = new Map(
    known.checks.flatMap(({ target, used }) => (used === undefined ? [] : [[target, used] as const])),
  )
  const rest = [...new Map([...seen, ...full])].filter(([target]) => !told.has(target) && !stopped.has(target))
  return [
    ...low,
    ...rest.map(([target, used]): Attention => ({ kind: 'disk', level: used >= FULL ? 'err' : 'warn', target, used })),
  ]
}

/** The host tells itself that it has to restart; its check tells the same. */
function rebootsOf(checks: readonly Check[], host: Known['host']): Attention[] {
  const targets = new Set(checks.filter(needsReboot).map(({ target }) => target))
  if (host?.reboot_required) targets.add('host')
  const all = [...targets].map((target) => ({ target }))
  return [true, false].flatMap((isHost) =>
    about(
      'reboot',
      'warn',
      all.filter(({ target }) => (target === 'host') === isHost),
    ),
  )
}

/** The targets that need somebody for a reason without an entry of its own. The newest job tells of an upgrade that failed. */
function othersOf(needing: readonly Check[], found: readonly Attention[]): Attention[] {
  const told = new Set(found.flatMap(targetsIn))
  const isToldByJob = (check: Check) =>
    (hasFailed(check) || hasWarned(check)) && check.findings.every(({ severity }) => severity === 'info')
  return needing
    .filter((check) => !told.has(check.target) && !isToldByJob(check))
    .map(({ target }) => ({ kind: 'other', level: 'warn', target }))
}

function packagesOf(checks: readonly Check[]): Attention[] {
  const totals = totalsOf(checks)
  return totals.updates > 0 ? [{ kind: 'packages', level: 'ready', ...totals }] : []
}

/** A reboot of the host that failed, and the containers that are still missing after one. */
function rebootedOf({ rebooted, containers }: Known): Attention[] {
  if (!rebooted) return []
  const { job, at, code, missing } = rebooted
  const lacks = (vmid: number) => containers.some((each) => each.vmid === vmid && each.status === 'stopped')
  const targets = missing.filter(({ vmid }) => lacks(vmid)).map(({ vmid }) => `lxc:${vmid}`)
  return [
    ...(code === undefined ? [] : [{ kind: 'rebooted', level: 'err', job, code, at } as const]),
    ...(targets.length === 0 ? [] : [{ kind: 'notBack', level: 'warn', job, targets } as const]),
  ]
}

/** Whether a finding tells of a newer version of the panel, and not of other applications. */
export function ofPanel({ code, packages }: Check['findings'][number]): boolean {
  return code === 'application_update' && packages.includes('ops-panel')
}

/** A newer version of the panel, which the package source of its place offers. */
function newerOf(checks: readonly Check[]): Attention[] {
  return checks.flatMap(({ target, state, findings }): Attention[] => {
    const finding = findings.find(ofPanel)
    return finding && state !== 'stopped' ? [{ kind: 'newer', level: 'info', target, finding }] : []
  })
}

function servicesOf(checks: readonly Check[]): Attention[] {
  return about(
    'services',
    'info',
    checks.filter(
      ({ state, findings }) => state !== 'stopped' && findings.some(({ code }) => code === 'services_outdated'),
    ),
  )
}
