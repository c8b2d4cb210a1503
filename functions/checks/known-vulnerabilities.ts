import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../db/libsql/database.ts'
import { releaseOf } from '../vulnerabilities/releases.ts'
import { type Vulnerabilities, vulnerabilitiesFor } from '../vulnerabilities/vulnerabilities.ts'
import { type Finding, findingOf } from '../findings/finding.ts'
import type { PackageUpdate } from '../managers/package-update.ts'
import type { Report } from './check-report.ts'
import { countsOf } from './package-report.ts'

/**
 * Adds to each package the vulnerabilities that its change fixes, as far as the stored lists of its release know them,
 * marks it as a security update, and sorts: planned ones first, among them known exploited ones, then security updates.
 */
export async function withVulnerabilities(
  db: Database,
  reports: ReadonlyMap<string, Report>,
): Promise<ReadonlyMap<string, Report>> {
  const releases = new Map<string, Set<string>>()
  for (const { summary, changes } of reports.values()) {
    const release = summary.os ? releaseOf(summary.os) : undefined
    if (release === undefined) continue
    const sources = releases.get(release) ?? new Set()
    for (const { source } of changes.values()) sources.add(source)
    releases.set(release, sources)
  }
  const known = new Map<string, Awaited<ReturnType<typeof vulnerabilitiesFor>>>()
  for (const [release, sources] of releases)
    if (sources.size > 0) known.set(release, await vulnerabilitiesFor(db, release, sources))

  const all = new Map<string, Report>()
  for (const [name, report] of reports) {
    const vulnerabilities = known.get((report.summary.os && releaseOf(report.summary.os)) ?? '')
    const packages = (vulnerabilities ? await marked(report, vulnerabilities) : [...report.packages]).sort(
      mostUrgentFirst,
    )
    const exploited = packages.filter((each) => each.status === 'planned' && isExploited(each)).length
    // A list of the distribution's vulnerabilities tells what its package manager does not.
    const told = report.summary.findings.filter(({ code }) => code !== 'security_unknown' || !vulnerabilities)
    const findings = told.map((found) => withWaitingFixes(found, packages))
    const summary = { ...report.summary, findings, counts: countsOf(packages), exploited }
    all.set(name, { ...report, packages, summary })
  }
  return all
}

const FIXES_WAIT = 'Des correctifs de sécurité attendent des dépendances que les dépôts n’offrent pas.'

/**
 * Makes the remark about packages that wait for dependencies a warning where one of them is a security update: nobody has
 * chosen to wait, the fix is out, and without this the target could be up to date.
 */
function withWaitingFixes(found: Finding, packages: readonly PackageUpdate[]): Finding {
  if (found.code !== 'kept_back_dependencies' || found.severity !== 'info') return found
  const fixes = packages.filter((one) => one.reason === found.code && one.action === 'upgrade' && one.security)
  if (fixes.length === 0) return found
  const names = new Set(fixes.map(({ name }) => name))
  const rest = found.packages.filter((name) => !names.has(name))
  return findingOf(found.code, { severity: 'warning', message: FIXES_WAIT, packages: [...names, ...rest] })
}

/** The changes of one target that are looked up, and the vulnerabilities that are stored of it: more than any real one has. */
const MOST_CHANGES = 2_000
const MOST_CVES = 5_000

async function marked(report: Report, vulnerabilities: Vulnerabilities): Promise<PackageUpdate[]> {
  const known = new Map<string, PackageUpdate['cves']>()
  let stored = 0
  const packages: PackageUpdate[] = []
  for (const each of report.packages) {
    const change = report.changes.get(each)
    const key = change && `${change.source} ${change.from} ${change.to}`
    if (change && key !== undefined && !known.has(key) && known.size < MOST_CHANGES) {
      await nextTurn()
      known.set(key, vulnerabilities.fixedBy(change))
    }
    const found = key === undefined ? [] : (known.get(key) ?? [])
    const cves = found.slice(0, Math.max(0, MOST_CVES - stored))
    stored += cves.length
    packages.push(found.length === 0 ? each : { ...each, cves, security: true })
  }
  return packages
}

function isExploited({ cves }: PackageUpdate): boolean {
  return cves.some(({ known_exploited }) => known_exploited)
}

function mostUrgentFirst(one: PackageUpdate, other: PackageUpdate): number {
  return rankOf(one) - rankOf(other)
}

function rankOf(one: PackageUpdate): number {
  return (one.status === 'planned' ? 0 : 4) + (isExploited(one) ? 0 : one.security ? 1 : 2)
}
