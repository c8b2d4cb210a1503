import {
  type Check,
  canBeRepaired,
  canBeUpgraded,
  type Finding,
  isHarmed,
  isPressing,
  isUnfinished,
  shownOf,
  updatesIn,
} from './checked.ts'
import { isSecurityUnknown } from './manager.ts'
import { needsOf } from './needs.ts'
import { sorted } from './order.ts'

export const FILTERS = ['all', 'need', 'security', 'ready', 'stopped'] as const
export type Filter = (typeof FILTERS)[number]
export const SORTS = ['urgency', 'name', 'number', 'updates', 'lists'] as const
export type Sort = (typeof SORTS)[number]
const GROUPS = ['need', 'run', 'unknown', 'ready', 'idle', 'stopped', 'unsupported'] as const
export type Group = (typeof GROUPS)[number]

/** An action that a row starts by itself. */
export type RowAction = 'show' | 'retry' | 'repair' | 'check' | 'start' | 'review'
/**
 * The one verb of a row: `accept` and `clear` are the remedy of its first finding, `open` shows the details, `decide` and `why` lead to the
 * comparison of an upgrade.
 */
export type RowVerb = RowAction | 'accept' | 'clear' | 'terminal' | 'open' | 'decide' | 'why'

/** Whether an upgrade would install something. A target with unfinished packages has to be repaired first. */
export function isUpgradable(check: Check): boolean {
  return canBeUpgraded(check) && !isUnfinished(check) && (updatesIn(check) > 0 || check.counts.install > 0)
}

/**
 * The updates that can be installed: the sum of the column of updates, the targets that have some, and those that can be upgraded. Of the
 * latter, `ready` need nobody before; of the former, `barred` cannot be upgraded yet.
 */
export interface Totals {
  updates: number
  targets: number
  security: number
  /** Targets of which nobody knows the security updates. */
  unknown: number
  exploited: number
  upgradable: number
  ready: number
  barred: number
}

/** Sums up what the known targets have to install; a stopped container does not count. */
export function totalsOf(checks: readonly Check[]): Totals {
  const there = checks.filter(({ state }) => state !== 'stopped' && state !== 'unsupported')
  const sum = (of: (check: Check) => number) => there.reduce((total, check) => total + of(check), 0)
  return {
    updates: sum(updatesIn),
    targets: there.filter((check) => updatesIn(check) > 0).length,
    security: sum(({ counts }) => counts.security),
    exploited: sum(({ exploited }) => exploited),
    unknown: there.filter(isSecurityUnknown).length,
    upgradable: there.filter(isUpgradable).length,
    ready: there.filter((check) => isUpgradable(check) && passes(check, 'ready')).length,
    barred: there.filter((check) => updatesIn(check) > 0 && !isUpgradable(check)).length,
  }
}

/** The targets whose upgrades can be reviewed together: no upgrade runs on them, and `busy` has the targets where one does. */
export function reviewable(checks: readonly Check[], busy: ReadonlySet<string>): Check[] {
  const isFree = ({ target }: Check) => !busy.has(target) && !(busy.has('all') && target !== 'host')
  return checks.filter((check) => isUpgradable(check) && isFree(check))
}

export function groupOf(check: Check, isRunning: boolean): Group {
  if (isHarmed(check)) return isRunning ? 'run' : 'need'
  if (check.state === 'stopped') return 'stopped'
  if (isRunning && check.state !== 'unsupported') return 'run'
  if (needsOf(check) !== undefined) return 'need'
  if (check.state === 'unsupported') return 'unsupported'
  if (check.state === 'unknown') return 'unknown'
  return check.state === 'ready' ? 'ready' : 'idle'
}

export function passes(check: Check, filter: Filter): boolean {
  if (filter === 'need') return needsOf(check) !== undefined
  if (filter === 'security') return check.counts.security > 0 && check.state !== 'stopped'
  if (filter === 'ready') return check.state === 'ready' && needsOf(check) === undefined
  if (filter === 'stopped') return check.state === 'stopped'
  return true
}

/** Findings that a new check may resolve, and that make the known results useless until then. */
const CHECK_FIRST = /^(lists_stale|manager_locked|container_locked|network_missing)$/
/** Findings that a new check may resolve, and that leave an upgrade possible. */
const CHECK_LATER = /^repository_(unreachable|expired)$/

/** The facts that decide about the verb of a row, besides its check. */
interface Viewed {
  isRunning: boolean
  isAdmin: boolean
  /** Whether the user works on this target. */
  mayOperate: boolean
}

/** The verb that helps most now; undefined when none does. */
export function actionOf(check: Check, { isRunning, isAdmin, mayOperate }: Viewed): RowVerb | undefined {
  if (isRunning && (check.state !== 'stopped' || isHarmed(check))) return 'show'
  const verb = helpOf(check, isAdmin)
  // Viewers, and operators of other targets, can still read about it.
  return !mayOperate && /^(check|review|retry)$/.test(verb ?? '') ? 'open' : verb
}

function helpOf(check: Check, isAdmin: boolean): RowVerb | undefined {
  const { state, findings, harm } = check
  if (isHarmed(check)) return 'decide'
  if (state === 'stopped') {
    const starts = findings.some(({ remedy }) => remedy?.action === 'start_container')
    return starts && isAdmin ? 'start' : undefined
  }
  const terminal = isAdmin ? 'terminal' : 'open'
  if (state === 'unsupported') return isPressing(check) ? terminal : undefined
  if (canBeRepaired(check)) return isAdmin ? 'repair' : 'open'
  // The row leads to the job of an application: an upgrade of packages would repeat nothing of it.
  if (shownOf(check).word === 'failed') return check.last_upgrade?.application ? 'show' : 'retry'
  const first = firstFinding(check)
  const remedy = first && first.severity !== 'info' && state !== 'unknown' ? remedyVerb(first, isAdmin) : undefined
  if (remedy !== undefined) return remedy
  if (harm) return 'why'
  const isFirst = ({ severity, code }: Finding) => severity !== 'info' && CHECK_FIRST.test(code)
  if (state === 'unknown' || state === 'blocked' || findings.some(isFirst)) return 'check'
  if (isUpgradable(check)) return 'review'
  if (!first || first.severity === 'info')
    return isPressing(check) ? terminal : state === 'attention' ? 'check' : undefined
  return CHECK_LATER.test(first.code) || first.remedy?.action === 'retry_check' ? 'check' : 'open'
}

/** The remedy of a finding that neither a check nor the plan replaces. */
function remedyVerb({ remedy }: Finding, isAdmin: boolean): RowVerb | undefined {
  if (remedy?.action === 'allow_release_change') return isAdmin ? 'accept' : 'open'
  if (remedy?.action === 'clean_cache') return isAdmin ? 'clear' : 'open'
  if (remedy?.action === 'open_terminal') return isAdmin ? 'terminal' : 'open'
  return undefined
}

const SEVERITIES = ['blocking', 'warning', 'info'] as const

/** The findings of a target, the worst first. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return SEVERITIES.flatMap((one) => findings.filter(({ severity }) => severity === one))
}

/** The finding that a row names; the state already says that a container is stopped. */
export function firstFinding({ findings }: Check): Finding | undefined {
  return worstFirst(findings).find(({ code }) => code !== 'container_stopped')
}

/** How many packages, services or applications the words about a finding count: those that come or go with it, if its upgrade changes others. */
export function countIn({ counts, services }: Pick<Check, 'counts' | 'services'>, finding: Finding): number {
  const { code, packages, message, severity } = finding
  if (code === 'kept_back_install') return counts.install
  if (code === 'services_outdated') return services.length
  // A warning names applications that could not be looked at.
  if (code === 'application_update' && severity !== 'info') return 0
  if (code !== 'kept_back_remove') return packages.length
  // The sentence alone has the packages that go.
  const removed = /^Des mises à jour ne passent qu’en supprimant (.{1,3000}?)(?: et (\d{1,4}) autres)?\.$/.exec(message)
  return removed ? (removed[1] ?? '').split(', ').length + Number(removed[2] ?? 0) : counts.remove
}

/** The row number of a target: its container id; the host comes first. */
export function numberOf({ target }: Pick<Check, 'target'>): number {
  return target === 'host' ? 0 : Number(target.slice('lxc:'.length))
}

/** Whether the name, the number, or a package of a finding contains the query; `found` has the service’s matches. */
export function isFound(check: Check, name: string, query: string, found?: ReadonlySet<string>): boolean {
  const wanted = query.trim().toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(wanted)
  if (wanted === '' || has(name)) return true
  if (check.target !== 'host' && String(numberOf(check)).startsWith(wanted)) return true
  return found?.has(check.target) === true || check.findings.some((finding) => finding.packages.some(has))
}

/** Rows of one group in their order; without a group when the order ignores the groups. */
export interface Rows {
  group: Group | undefined
  targets: string[]
}

/** Puts targets into the order of `sort`; `running` has the targets with a running job. */
export function arrange(checks: readonly Check[], sort: Sort, running: ReadonlySet<string>): Rows[] {
  const byNumber = sorted(checks, numberOf, false)
  if (sort !== 'urgency') return [{ group: undefined, targets: bySort(byNumber, sort).map(({ target }) => target) }]
  return GROUPS.map((group) => {
    const own = byNumber.filter((check) => groupOf(check, running.has(check.target)) === group)
    return {
      group,
      targets: [...own].sort((one, other) => urgencyOf(other) - urgencyOf(one)).map(({ target }) => target),
    }
  }).filter(({ targets }) => targets.length > 0)
}

function bySort(checks: Check[], sort: Sort): Check[] {
  if (sort === 'name') return sorted(checks, ({ name }) => name, false)
  if (sort === 'updates') return sorted(checks, updatesIn, true)
  if (sort === 'lists') return sorted(checks, ({ lists_at }) => (lists_at === null ? 0 : Date.parse(lists_at)), false)
  return checks
}

const WORST: readonly string[] = ['err', 'warn', 'back', 'stale', 'unknown']

/** Bad states first, then exploited vulnerabilities, then security updates. */
function urgencyOf(check: Check): number {
  const { kind } = shownOf(check)
  const at = WORST.indexOf(kind)
  // A decision that waits comes before everything else.
  const state = isHarmed(check) ? WORST.length + 1 : at < 0 ? 0 : WORST.length - at
  return state * 1e9 + Math.min(check.exploited, 999) * 1e6 + Math.min(check.counts.security, 99_999) * 10
}
