import { codeOf, inSlices, partsOf, withoutControls } from '../managers/sections.ts'
import { downgradeFindings, dpkgFindings, isKernel } from '../checks/check-report.ts'
import { simulatedOf } from '../checks/package-report.ts'
import { conffileFindings, diskFindings, leftOutFindings } from '../checks/system-findings.ts'
import { type Finding, findingOf } from '../findings/finding.ts'
import { managedPlan } from '../managers/managed-report.ts'
import { isManaged } from '../managers/managed-scripts.ts'
import { type ManagerName, PROGRAMS } from '../managers/manager.ts'
import { MOST_PACKAGES, type PackageUpdate, short } from '../managers/package-update.ts'
import { add, newSum, totalOf } from '../managers/sizes.ts'
import type { Selection } from './plan-command.ts'
import { changedConffiles, type StoredConffile } from './conffile.ts'

/** The result of `PLAN`. `findings` are what forbids the plan (blocking), or must be known. */
export interface PlanReport {
  actions: PackageUpdate[]
  /** Of the archives that apt has not downloaded yet. */
  download_bytes: number | null
  disk_bytes: number | null
  findings: Finding[]
  conffiles: StoredConffile[]
  /** The architecture of dpkg, where the target tells it. */
  native: string | undefined
  manager: ManagerName
}

/** Returns the manager that the output of `PLAN` names; undefined for none or an unknown one. */
export function plannedBy(text: string): ManagerName | undefined {
  return PROGRAMS.get(/^manager (\S{1,20})$/m.exec(text.slice(0, 1_000))?.[1] ?? '')
}

const KIB = 1024

/**
 * Reads the output of `PLAN` (plan-script.ts). Undefined where the target has no manager, has printed too much, or names a
 * change that cannot be read, that the line of a hash cannot hold, or that removes configuration files.
 */
export async function readPlanReport(text: string, selection: Choice = EVERYTHING): Promise<PlanReport | undefined> {
  const { words, sections, isTwice } = await partsOf(text.split('\n').map(withoutControls))
  const section = (name: string) => sections.get(name) ?? []
  const manager = PROGRAMS.get(words.get('manager') ?? '')
  if (manager === undefined || !words.has('end')) return undefined
  if (isManaged(manager)) {
    const kind = selection.packages ? 'these' : selection.exclude.length > 0 ? 'without' : 'every'
    const managed = isTwice ? undefined : await managedPlan(manager, sections, { only: selection.only, kind })
    if (!managed) return undefined
    const { packages: actions, sizes } = managed
    const disk = diskFindings(section('disk'), sizes, actions.some(isKernel))
    const bytes = { download_bytes: sizes.download, disk_bytes: sizes.disk }
    return { actions, findings: [...managed.findings, ...disk], ...bytes, conffiles: [], native: undefined, manager }
  }
  const planned = section('planned')
  if (LISTS.some((name) => section(name).length > MOST_PACKAGES + OTHER_LINES)) return undefined
  const code = codeOf(planned)
  if (code !== 0 && code !== 100) return undefined

  const native = words.get('native') || undefined
  const offers = await offersOf(section('offered'))
  const installedAs = await installedOf(section('installed'), native)
  const cached = await cachedOf(section('cached'))
  const actions = new Map<string, PackageUpdate>()
  const [download, disk, kept] = [newSum(), newSum(), newSum()]
  let isReadable = true
  await inSlices(planned, (line) => {
    if (!CHANGE.test(line)) return
    const one = simulatedOf(line)
    if (!one) {
      isReadable = false
      return
    }
    const was = one.action === 'install' ? NOTHING : installedAs(one.name, one.arch)
    const offer = one.action === 'remove' ? NOTHING : offers.get(`${one.name}:${one.arch} ${one.to}`)
    const arch = one.arch || (was?.arch ?? '')
    const size = one.action === 'remove' ? null : (offer?.size ?? null)
    const whole = { ...one, arch, size, source: offer?.source ?? was?.source ?? null }
    const isCached = size !== null && cached.get(archiveOf(whole)) === size
    if (isCached) add(kept, size)
    else if (one.action !== 'remove') add(download, size)
    add(disk, offer && was && offer.room !== null && was.room !== null ? offer.room - was.room : null)
    isReadable &&= isExact(whole)
    actions.set(`${whole.name}:${arch}`, whole)
  })
  if (!isReadable || actions.size > MOST_PACKAGES) return undefined
  const changes = [...actions.values()]
  // The known part of a need can forbid a plan whose whole need is unknown.
  const needs = { download: download.known, disk: disk.known }
  // A planned archive that a cleaning removes must be downloaded again.
  const freed = [...cached.values()].reduce((sum, bytes) => sum + bytes, 0) - kept.known
  const findings = [
    ...unfinishedFindings(words.has('journal'), section('unfinished')),
    ...(code === 100 ? [refusal(planned)] : leftOutFindings(await leftOut(section('wanted'), changes))),
    ...downgradeFindings(changes),
    ...diskFindings([`cached ${freed}`, ...section('disk')], needs, changes.some(isKernel)),
    ...conffileFindings(section('conffiles')),
  ]
  const conffiles = changedConffiles(section('conffiles'))
  const bytes = { download_bytes: totalOf(download), disk_bytes: totalOf(disk) }
  return { conffiles, actions: changes, ...bytes, findings, native, manager }
}

type Choice = Pick<Selection, 'only' | 'packages' | 'exclude'>
const EVERYTHING: Choice = { only: 'all', packages: null, exclude: [] }

/** The lines of a simulation that tell of a change. `Purg` is one that no plan makes. */
const CHANGE = /^(Inst|Remv|Purg)( |$)/

/** The lines of errors, and the exit code. */
const OTHER_LINES = 50
const LISTS = ['planned', 'offered', 'installed']

/** Whether a change has the names and versions that dpkg allows (deb-control(5)), so that its line has four words. */
function isExact({ name, arch, from, to }: PackageUpdate): boolean {
  const versions = [from, to].filter((version) => version !== null)
  return (
    /^[a-z0-9][a-z0-9+.-]{1,199}$/.test(name) &&
    /^[a-z0-9][a-z0-9-]{0,49}$/.test(arch) &&
    versions.length > 0 &&
    versions.every((version) => /^[A-Za-z0-9][A-Za-z0-9.+:~-]{0,249}$/.test(version))
  )
}

/** One side of a change. `room` is the space that the package takes, `size` that of its archive; null: unknown. */
interface Side {
  arch: string
  room: number | null
  source: string | null
  size: number | null
}

/** The side of a change without a package. */
const NOTHING: Side = { arch: '', room: 0, source: null, size: null }

/** Reads a size; no package takes nothing at all, so that 0 stands for a size that nobody has recorded. */
function bytesOf(text: string, unit = 1): number | null {
  const bytes = Number(text) * unit
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null
}

/** Reads lines `name arch version size installed-size source [(source version)]`; the installed size is in KiB. */
async function offersOf(lines: readonly string[]): Promise<ReadonlyMap<string, Side>> {
  const offers = new Map<string, Side>()
  await inSlices(lines, (line) => {
    const [name = '', arch = '', version = '', size = '', room = '', source = ''] = line.split(' ')
    const one = { arch, size: bytesOf(size), room: bytesOf(room, KIB), source: short(source) || name }
    offers.set(`${name}:${arch} ${version}`, one)
  })
  return offers
}

/**
 * Reads lines `name arch installed-size source version`. The result finds a package by what a simulation calls it: apt
 * tells no architecture of a package of the native one or of all.
 */
async function installedOf(lines: readonly string[], native: string | undefined) {
  const installed = new Map<string, Side>()
  await inSlices(lines, (line) => {
    const [name = '', arch = '', room = '', source = ''] = line.split(' ')
    const one = { arch, size: null, room: bytesOf(room, KIB), source: short(source) || name }
    installed.set(`${name}:${arch}`, one)
    if (!installed.has(name)) installed.set(name, one)
  })
  return (name: string, arch: string): Side | undefined => {
    if (native === undefined) return installed.get(`${name}:${arch}`) ?? installed.get(name)
    const isForeign = arch !== '' && arch !== 'all' && arch !== native
    const likely = isForeign ? [arch, 'all'] : [arch, native, 'all']
    return likely.map((each) => installed.get(`${name}:${each}`)).find((each) => each !== undefined)
  }
}

/** No cache has so many archives; further ones are left out. */
const MOST_ARCHIVES = 20_000

/** Reads lines `file bytes`: the archives that apt has downloaded before. */
async function cachedOf(lines: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const cached = new Map<string, number>()
  await inSlices(lines.slice(0, MOST_ARCHIVES), (line) => {
    const space = line.lastIndexOf(' ')
    const bytes = line.slice(space + 1)
    if (space > 0 && /^\d{1,12}$/.test(bytes)) cached.set(line.slice(0, space), Number(bytes))
  })
  return cached
}

/** The name that apt gives to an archive in its cache (`pkgAcqArchive` of apt-pkg/acquire-item.cc). */
function archiveOf({ name, to, arch }: PackageUpdate): string {
  return `${name}_${to?.replaceAll(':', '%3a')}_${arch}.deb`
}

/** Returns the names in lines `name[:arch]=version`, of what was asked for, that no change brings to that version. */
async function leftOut(wanted: readonly string[], changes: readonly PackageUpdate[]): Promise<string[]> {
  const brought = new Set(changes.flatMap(({ name, arch, to }) => [`${name}:${arch}=${to}`, `${name}=${to}`]))
  const names = new Set(changes.map(({ name }) => name))
  const left: string[] = []
  await inSlices(wanted.slice(0, MOST_PACKAGES), (line) => {
    const [, full = '', name = ''] = /^(([a-z0-9][a-z0-9+.-]{1,199})(?::[a-z0-9-]{1,50})?)=\S/.exec(line) ?? []
    // Another architecture of a package that is changed is named with it.
    if (name !== '' && !brought.has(line)) left.push(names.has(name) ? full : name)
  })
  return [...new Set(left)]
}

/** A journal of dpkg stops apt, and a package that is only half there must be installed again; the rest apt completes. */
function unfinishedFindings(hasJournal: boolean, unfinished: readonly string[]): Finding[] {
  const isStuck = hasJournal || unfinished.some((line) => /^(half-installed|\S+ reinstreq) /.test(line))
  return dpkgFindings(hasJournal, unfinished).map((found) => (isStuck ? { ...found, severity: 'blocking' } : found))
}

/** Returns apt's own reason why it makes no plan. */
function refusal(lines: readonly string[]): Finding {
  const cause = lines.findLast((line) => line.startsWith('E: '))?.slice(3, 300)
  return findingOf(
    'dependencies_broken',
    cause === undefined ? {} : { message: `apt refuse la mise à jour : ${cause}` },
  )
}
