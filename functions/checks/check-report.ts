import { reportedApplications } from '../applications/applications-look.ts'
import { type Finding, findingOf, REMEDIES } from '../findings/finding.ts'
import { isLockRefused, isOffline, repositoryFindings } from '../findings/repository-findings.ts'
import { rebootOf } from '../hypervisor/reboot-reasons.ts'
import { outdatedOf, sawAll } from '../restarts/outdated-services.ts'
import { targetFactsOf, type TargetFacts } from '../restarts/standing-facts.ts'
import { isVital } from '../restarts/standing-findings.ts'
import { managedReport } from '../managers/managed-report.ts'
import { isManaged } from '../managers/managed-scripts.ts'
import { noManagerFinding } from '../managers/no-manager.ts'
import { PROGRAMS } from '../managers/manager.ts'
import type { PackageUpdate, ReportedPackages } from '../managers/package-update.ts'
import { Summary } from './check.ts'
import { codeOf, partsOf } from '../managers/sections.ts'
import { endOfLifeOf } from './end-of-life.ts'
import { countsOf, packagesOf } from './package-report.ts'
import {
  conffileFindings,
  diskFindings,
  mountFindings,
  otherUpgraderFindings,
  type Sizes,
  sizesOf,
} from './system-findings.ts'

/** The result of inspecting one target. */
export interface Report extends ReportedPackages {
  summary: Summary
  /** Whether every package list was refreshed. */
  refreshed: boolean
  /** The facts that the target tells of its place; undefined where it tells none. */
  standing: TargetFacts | undefined
}

/** Reads the output of an inspection (`INSPECTION` of check-script.ts); undefined when it is incomplete or too long. */
export async function readReport(lines: readonly string[], place: 'host' | 'container'): Promise<Report | undefined> {
  const { words, sections, isTwice } = await partsOf(lines)
  const section = (name: string) => sections.get(name) ?? []
  const manager = managerOf(words.get('manager'))
  if (manager === undefined) return undefined
  const os = osOf(section('os'))
  const standing = targetFactsOf(section('standing'))
  // A container has no kernel of its own.
  const reboot =
    place === 'host' ? rebootOf(sections.get('reboot'), section('kernels')) : { required: null, reasons: [] }
  if (manager === null) {
    const findings = [noManagerFinding(words, os?.name)]
    const summary = { ...EMPTY, manager, supported: false, os, reboot, findings }
    return { summary, packages: [], changes: new Map(), refreshed: false, standing }
  }
  if (!words.has('end')) return undefined
  const mounts = mountFindings(section('mounts'))
  const services = outdatedOf(section('services'), place)
  const whole = (
    { packages, changes }: ReportedPackages,
    findings: readonly Finding[],
    own: { sizes: Sizes; refreshed: boolean; isSupported?: boolean },
  ): Report | undefined => {
    const last: Finding[] = []
    if (reboot.required) last.push(findingOf('reboot_required'))
    if (services.length > 0) last.push(findingOf('services_outdated'))
    last.push(...otherUpgraderFindings(section('upgraders')))
    const { applications, findings: ofApplications } = reportedApplications(sections, place)
    last.push(...ofApplications)
    const summary = Summary.safeParse({
      ...EMPTY,
      manager,
      supported: own.isSupported ?? true,
      os,
      reboot,
      findings: [...findings, ...last].slice(0, MOST_FINDINGS),
      services,
      applications,
      services_unseen: !sawAll(section('services')),
      vital: packages.filter(({ name }) => isVital(name)).slice(0, MOST_VITAL),
      counts: countsOf(packages),
      download_bytes: own.sizes.download,
      disk_bytes: own.sizes.disk,
    })
    return summary.success
      ? { packages, changes, summary: summary.data, refreshed: own.refreshed, standing }
      : undefined
  }
  if (isManaged(manager)) {
    const managed = isTwice ? undefined : await managedReport(manager, sections)
    if (!managed) return undefined
    const { findings, sizes, packages } = managed
    const disk = diskFindings(section('disk'), sizes, packages.some(isKernel))
    return whole(managed, [...mounts, ...findings, ...disk], managed)
  }
  const reported = await packagesOf(sections)
  if (reported === undefined || !isWhole(sections)) return undefined

  const { packages } = reported
  const refresh = sections.get('update')
  // On a read-only system apt complains about its own files.
  const repositories = repositoryFindings(refresh ?? []).filter(
    (each) => mounts.length === 0 || each.repository !== null,
  )
  const refreshed = refresh !== undefined && codeOf(refresh) === 0 && repositories.length === 0
  const hasLists = Number(section('lists')[0] ?? 0) > 0
  const locked = words.get('locked') ?? (isLockRefused(refresh ?? []) ? 'lists' : undefined)
  const sizes = sizesOf(section('sizes'))
  const findings: Finding[] = [...mounts]
  if (isOffline(section('repositories'), repositories)) findings.push(findingOf('network_missing'))
  findings.push(...repositories)
  if (locked !== undefined) findings.push(findingOf('manager_locked'))
  // apt can do nothing on a read-only system, whatever it says about dependencies.
  const unmet = mounts.length === 0 ? dependencyFindings(section('check'), section('fix')) : []
  const isUnreadable = unmet.some(({ code }) => code === 'lists_stale')
  if (!isUnreadable && !hasLists)
    findings.push(findingOf('lists_stale', { message: 'Aucune liste de paquets n’a pu être lue.' }))
  else if (!isUnreadable && !refreshed && refresh && locked === undefined && repositories.length === 0)
    findings.push(notRefreshed(refresh))
  findings.push(...unreadFindings(section('unread')))
  // dpkg findings are left out while apt or dpkg works: an operation in progress is not an interrupted one.
  if (locked === undefined) findings.push(...dpkgFindings(words.has('journal'), section('unfinished')))
  findings.push(...unmet)
  findings.push(...diskFindings(section('disk'), sizes, packages.some(isKernel)))
  findings.push(...conffileFindings(section('conffiles')))
  // Without met dependencies, apt leaves every package alone.
  const isBroken = findings.some(({ severity }) => severity === 'blocking')
  findings.push(...packageFindings(packages, section('held')).filter(({ code }) => !isBroken || code === 'held'))
  return whole(reported, findings, { sizes, refreshed: refreshed && hasLists })
}

/** Findings of one target, which every page loads. */
const MOST_FINDINGS = 100
/** Packages of one target that the panel may depend on. */
const MOST_VITAL = 100

/**
 * Whether apt completed the simulated upgrade and the listing. A killed apt leaves an empty list and an exit code other
 * than 0. With code 100 apt reports a problem, which `apt-get check` reports too.
 */
function isWhole(sections: ReadonlyMap<string, string[]>): boolean {
  const more = ['minimal', 'full', 'phased'].filter((name) => sections.has(name))
  const codes = ['check', 'planned', 'upgradable', ...more].map((name) => codeOf(sections.get(name) ?? []))
  return codes.every((code) => code === 0) || (codes[0] === 100 && codes.every((code) => code === 0 || code === 100))
}

/** Returns null for a target without a manager, and undefined where it does not tell. */
function managerOf(program = ''): Summary['manager'] | undefined {
  return program === 'none' ? null : PROGRAMS.get(program)
}

const EMPTY = {
  counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
  exploited: 0,
  download_bytes: null,
  disk_bytes: null,
  services: [],
  services_unseen: false,
  vital: [],
  applications: [],
}

function osOf(lines: readonly string[]): Summary['os'] {
  const value = (key: string) => {
    const line = lines.find((each) => each.startsWith(`${key}=`))
    return line?.slice(key.length + 1, 200).replace(/^["']|["']$/g, '')
  }
  const id = value('ID')
  if (!id) return null
  const version_id = value('VERSION_ID') ?? null
  const codename = value('VERSION_CODENAME') ?? null
  return { id, version_id, name: value('PRETTY_NAME') ?? id, codename, end_of_life: endOfLifeOf(id, version_id) }
}

function notRefreshed(lines: readonly string[]): Finding {
  const lastLine = lines.findLast((line) => !line.startsWith('code '))
  const message = 'Les listes de paquets n’ont pas pu être actualisées'
  return findingOf('lists_stale', { message: lastLine ? `${message} : ${lastLine.slice(0, 300)}` : `${message}.` })
}

/**
 * Returns a finding for the repository files that the service account may not read and that apt skips: `W: Unable to
 * read FILE - open (13: …)`.
 */
function unreadFindings(lines: readonly string[]): Finding[] {
  // Only these files matter: root's own refresh reads the other settings, such as a proxy's password.
  const files = new Set(
    lines.slice(0, 40).flatMap((line) => / (\/\S*\/(?:sources\.list|preferences)\S*)/.exec(line)?.[1] ?? []),
  )
  return [...files].map((file) =>
    findingOf('lists_stale', {
      repository: file,
      message: `Le compte de service ne peut pas lire ${file.slice(0, 200)}.`,
    }),
  )
}

/** Returns the finding of an interrupted dpkg; lines `<status> <flags> <package>`. */
export function dpkgFindings(hasJournal: boolean, unfinished: readonly string[]): Finding[] {
  const packages = unfinished.flatMap((line) => line.split(' ')[2] ?? [])
  return hasJournal || packages.length > 0 ? [findingOf('dpkg_interrupted', { packages })] : []
}

/**
 * Returns the finding of unmet dependencies. `fix` is the simulated repair: it may remove the broken packages
 * themselves; a repair that removes others is left to people.
 */
function dependencyFindings(lines: readonly string[], fix: readonly string[]): Finding[] {
  if (codeOf(lines) !== 100) return []
  const broken = new Set(lines.slice(0, 200).flatMap((line) => /^ (\S+) : /.exec(line)?.[1] ?? []))
  const packages = [...broken]
  if (packages.length === 0) {
    const cause = lines.find((line) => line.startsWith('E: ')) ?? ''
    const message = `apt ne peut pas lire sa configuration : ${cause.slice(3, 300)}`
    return [findingOf('lists_stale', { severity: 'blocking', message, remedy: REMEDIES.TERMINAL })]
  }
  const removed = removedBy(fix)
  const message =
    removed.length > 0 ? `Des dépendances ne sont pas satisfaites. Réparer supprime ${named(removed)}.` : undefined
  const isSafe = codeOf(fix) === 0 && removed.every((name) => broken.has(name))
  const remedy = isSafe ? {} : { remedy: REMEDIES.TERMINAL }
  return [findingOf('dependencies_broken', { packages, ...(message !== undefined && { message }), ...remedy })]
}

function removedBy(lines: readonly string[]): string[] {
  return lines.slice(0, 1_000).flatMap((line) => /^Remv (\S+)/.exec(line)?.[1] ?? [])
}

/** Package names that a sentence lists; it counts the rest. */
const NAMED = 20

function named(packages: readonly string[]): string {
  const more = packages.length - NAMED
  const first = packages.slice(0, NAMED).map((name) => name.slice(0, 100))
  return more > 0 ? `${first.join(', ')} et ${more} autres` : first.join(', ')
}

/** Returns one finding for each reason why packages are left alone, and for those that bring new packages. */
function packageFindings(packages: readonly PackageUpdate[], held: readonly string[]): Finding[] {
  const because = (reason: PackageUpdate['reason']) =>
    packages.filter((each) => each.reason === reason && each.action === 'upgrade').map(({ name }) => name)
  const removed = packages.filter(({ action }) => action === 'remove').map(({ name }) => name)
  const removes = `Des mises à jour ne passent qu’en supprimant ${named(removed)}.`
  const of = (code: NonNullable<PackageUpdate['reason']>, names: string[], message?: string) =>
    names.length > 0 ? [findingOf(code, { packages: names, ...(message !== undefined && { message }) })] : []
  return [
    ...of('kept_back_remove', because('kept_back_remove'), removes),
    ...of('kept_back_install', because('kept_back_install')),
    ...of('kept_back_dependencies', because('kept_back_dependencies')),
    ...downgradeFindings(packages),
    // A hold is told before an update waits for it.
    ...of(
      'held',
      held.slice(0, 1000).filter((name) => PACKAGE_NAME.test(name)),
    ),
    ...of('phased', because('phased')),
  ]
}

const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?$/

/** apt refuses an upgrade by itself while a preference asks for an older version of an installed package. */
export function downgradeFindings(packages: readonly PackageUpdate[]): Finding[] {
  const older = packages.filter(({ action }) => action === 'downgrade').map(({ name }) => name)
  if (older.length === 0) return []
  const message = `Une préférence d’apt impose une version plus ancienne de ${named(older)} : apt refuse toute mise à jour.`
  const how = { severity: 'blocking', remedy: REMEDIES.TERMINAL } as const
  return [findingOf('kept_back_dependencies', { packages: older, message, ...how })]
}

/** Whether a planned package is a kernel, which needs room on /boot. */
export function isKernel({ name, status }: PackageUpdate): boolean {
  return (
    status === 'planned' &&
    /^((linux-image|proxmox-kernel|pve-kernel)-|(kernel(-core|-default)?|linux(-lts|-zen|-hardened|-virt)?)$)/.test(
      name,
    )
  )
}
