import { type Check, canBeRepaired, canBeUpgraded, type Finding, shownOf, updatesIn } from './checked.ts'
import { needsOf } from './needs.ts'
import { sorted } from './order.ts'

export const FILTERS = ['all', 'need', 'security', 'ready', 'stopped'] as const
export type Filter = (typeof FILTERS)[number]
export const SORTS = ['urgency', 'name', 'number', 'updates', 'lists'] as const
export type Sort = (typeof SORTS)[number]
const GROUPS = ['need', 'run', 'unknown', 'ready', 'idle', 'stopped', 'unsupported'] as const
export type Group = (typeof GROUPS)[number]

/** The one action of a row. */
export type RowAction = 'show' | 'retry' | 'repair' | 'check' | 'start' | 'review'

/** The parts of a package that a search compares. */
interface Named {
  name: string
  cves: readonly { id: string }[]
}

/** Whether an upgrade would install something. */
export function isUpgradable(check: Check): boolean {
  return canBeUpgraded(check) && (updatesIn(check) > 0 || check.counts.install > 0)
}

export function groupOf(check: Check, isRunning: boolean): Group {
  if (check.state === 'stopped' || check.state === 'unsupported') return check.state
  if (isRunning) return 'run'
  if (needsOf(check) !== undefined) return 'need'
  if (check.state === 'unknown') return 'unknown'
  return check.state === 'ready' ? 'ready' : 'idle'
}

export function passes(check: Check, filter: Filter): boolean {
  if (filter === 'need') return needsOf(check) !== undefined
  if (filter === 'security') return check.counts.security > 0 && check.state !== 'stopped'
  if (filter === 'ready' || filter === 'stopped') return check.state === filter
  return true
}

/** Findings that a new check may resolve, and that make the known results useless until then. */
const CHECK_FIRST = /^(lists_stale|manager_locked|container_locked|network_missing)$/

/** The action that helps most now; undefined when none does. */
export function actionOf(check: Check, { isRunning, isAdmin }: { isRunning: boolean; isAdmin: boolean }) {
  return isRunning && check.state !== 'stopped' ? 'show' : helpOf(check, isAdmin)
}

function helpOf(check: Check, isAdmin: boolean): RowAction | undefined {
  const { state, findings } = check
  if (state === 'stopped') {
    const starts = findings.some(({ remedy }) => remedy?.action === 'start_container')
    return starts && isAdmin ? 'start' : undefined
  }
  if (state === 'unsupported') return undefined
  if (canBeRepaired(check) && isAdmin) return 'repair'
  if (shownOf(check).word === 'failed') return 'retry'
  const isFirst = ({ severity, code }: Finding) => severity !== 'info' && CHECK_FIRST.test(code)
  if (state === 'unknown' || state === 'blocked' || findings.some(isFirst)) return 'check'
  if (isUpgradable(check)) return 'review'
  return state === 'attention' ? 'check' : undefined
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

/** The row number of a target: its container id; the host comes first. */
export function numberOf({ target }: Pick<Check, 'target'>): number {
  return target === 'host' ? 0 : Number(target.slice('lxc:'.length))
}

/** Whether the name, the number, or a known package or CVE contains the query. */
export function isFound(check: Check, name: string, query: string, packages: readonly Named[] = []): boolean {
  const wanted = query.trim().toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(wanted)
  if (wanted === '' || has(name)) return true
  if (check.target !== 'host' && String(numberOf(check)).startsWith(wanted)) return true
  return (
    check.findings.some((finding) => finding.packages.some(has)) ||
    packages.some((one) => has(one.name) || one.cves.some(({ id }) => has(id)))
  )
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

const WORST: readonly string[] = ['err', 'warn', 'stale', 'unknown']

/** Bad states first, then exploited vulnerabilities, then security updates. */
function urgencyOf(check: Check): number {
  const { kind } = shownOf(check)
  const at = WORST.indexOf(kind)
  const state = at < 0 ? 0 : WORST.length - at
  return state * 1e9 + Math.min(check.exploited, 999) * 1e6 + Math.min(check.counts.security, 99_999) * 10
}
