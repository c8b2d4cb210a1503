import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import type { CheckSummary } from '../checks/check.ts'
import { excludedFindings, uncheckedFinding } from '../checks/system-findings.ts'
import type { Finding } from '../findings/finding.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import type { TargetStanding } from '../restarts/standing.ts'
import { selfImpactFindings } from '../restarts/standing-findings.ts'
import { type LeftAlone, NONE_LEFT } from './plan.ts'
import type { PlanReport } from './plan-report.ts'

/** Findings of the last check that a plan repeats. The simulation of a plan tells the others itself, and newer. */
const REPEATED: ReadonlySet<Finding['code']> = new Set<Finding['code']>([
  'repository_unreachable',
  'repository_changed',
  'repository_unsigned',
  'repository_expired',
  'network_missing',
  'lists_stale',
  'container_locked',
  'root_read_only',
  'end_of_life',
])

/** Remarks of the last check about packages that it left alone. A plan repeats them about those that it leaves alone too. */
const LEFT: ReadonlySet<Finding['code']> = new Set<Finding['code']>([
  'kept_back_remove',
  'kept_back_dependencies',
  'held',
  'phased',
])

/**
 * Returns the findings of a plan: those of its simulation, those of the last check that matter for an upgrade, whether
 * a package changes that `exclude` names, and what the plan is for the panel itself.
 */
export function planFindings(
  { findings: own, actions, native }: Pick<PlanReport, 'findings' | 'actions' | 'native'>,
  check: Pick<CheckSummary, 'findings' | 'checked_at'> | undefined,
  exclude: readonly string[],
  standing: TargetStanding,
): Finding[] {
  const told = new Set(own.map(({ code }) => code))
  const unchecked = !check || check.checked_at === null ? [uncheckedFinding()] : []
  const ofCheck = (check?.findings ?? []).filter(({ code }) => !told.has(code))
  const repeated = ofCheck.filter(({ code }) => REPEATED.has(code))
  const changed = new Set(actions.map(({ name }) => name))
  const left = ofCheck.flatMap((found) => {
    const packages = found.packages.filter((name) => !changed.has(nameOf(name)))
    return LEFT.has(found.code) && found.severity !== 'blocking' && packages.length > 0 ? [{ ...found, packages }] : []
  })
  const named = new Set(exclude)
  const excluded = actions.filter((one) => isNamed(one, named, native)).map(({ name }) => name)
  const impact = actions.length > 0 ? selfImpactFindings(standing, [...changed]) : []
  return [...excludedFindings([...new Set(excluded)]), ...own, ...unchecked, ...repeated, ...impact, ...left]
}

/** Returns `app` of `app:i386`. */
const nameOf = (full: string) => full.replace(/:.*/, '')

/** Whether one of the names, each with or without an architecture, means the package. */
function isNamed({ name, arch }: PackageUpdate, names: ReadonlySet<string>, native: string | undefined): boolean {
  return names.has(name) || names.has(`${name}:${arch}`) || (arch === 'all' && names.has(`${name}:${native}`))
}

const Listed = z.array(
  PackageUpdate.pick({ name: true, arch: true, to: true, action: true, status: true, security: true, cves: true }),
)
/** Packages of a check. */
type Listed = z.infer<typeof Listed>
/** Characters of a check's packages that are read again. */
const MOST_READ = 4 * 1024 * 1024

/** Reads the packages of a check, a list as JSON; undefined where there is none, or a very long one. */
export async function listedOf(packages: string | undefined): Promise<Listed | undefined> {
  if (packages === undefined || packages.length > MOST_READ) return undefined
  const listed = Listed.safeParse(JSON.parse(packages)).data
  await nextTurn()
  return listed
}

/** Adds the vulnerabilities that the last check found each change to fix. */
export function withKnownVulnerabilities(actions: readonly PackageUpdate[], listed: Listed = []): PackageUpdate[] {
  const key = ({ name, arch, to }: Pick<PackageUpdate, 'name' | 'arch' | 'to'>) => `${name}:${arch} ${to ?? ''}`
  const known = new Map(listed.map((each) => [key(each), each]))
  return actions.map((action) => {
    const found = action.to === null ? undefined : known.get(key(action))
    return found ? { ...action, cves: found.cves, security: action.security || found.security } : action
  })
}

/** Counts the upgrades that the last check has left alone, without those that the plan makes. */
export function leftAlone(listed: Listed, actions: readonly PackageUpdate[]): LeftAlone {
  const changed = new Set(actions.map(({ name, arch }) => `${name}:${arch}`))
  const left = { ...NONE_LEFT }
  for (const { name, arch, action, status } of listed)
    if (status !== 'planned' && action === 'upgrade' && !changed.has(`${name}:${arch}`)) left[status] += 1
  return left
}
