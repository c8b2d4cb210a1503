import {
  MOST_PACKAGES,
  type PackageUpdate,
  type ReportedPackages,
  short,
  type SourceChange,
} from '../managers/package-update.ts'
import { compareDebianVersions } from '../vulnerabilities/debian-version.ts'
import type { Summary } from './check.ts'
import { inSlices } from '../managers/sections.ts'

type Sections = ReadonlyMap<string, string[]>

/**
 * Returns the packages that the simulated upgrade would change, then those that it would leave alone, with the reason:
 * a removal that only `full-upgrade` makes, phasing, a hold, or dependencies. Undefined when a list exceeds
 * `MOST_PACKAGES`.
 */
export async function packagesOf(sections: Sections): Promise<ReportedPackages | undefined> {
  const lines = (name: string) => sections.get(name) ?? []
  if (LISTS.some((name) => lines(name).length > MOST_PACKAGES + OTHER_LINES)) return undefined
  const packages = new Map<string, PackageUpdate>()
  const simulated = async (name: string, visit: (one: PackageUpdate) => void) =>
    inSlices(lines(name), (line) => {
      const one = simulatedOf(line)
      if (one) visit(one)
    })
  const add = (one: PackageUpdate) => {
    if (!packages.has(keyOf(one))) packages.set(keyOf(one), one)
  }

  const minimal = new Set<string>()
  await simulated('minimal', (one) => minimal.add(keyOf(one)))
  const bringsNew = (one: PackageUpdate) =>
    sections.has('minimal') && one.action === 'upgrade' && !minimal.has(keyOf(one))
  await simulated('planned', (one) => {
    // Without a person who allows it, apt makes no upgrade at all that downgrades a package.
    if (one.action === 'downgrade') add({ ...one, status: 'kept_back', reason: 'kept_back_dependencies' })
    else add(bringsNew(one) ? { ...one, reason: 'kept_back_install' } : one)
  })
  // The removals of a repair, where dependencies are broken.
  await simulated('fix', (one) => {
    if (one.action === 'remove') add({ ...one, status: 'kept_back', reason: 'kept_back_dependencies' })
  })
  // A full upgrade that removes nothing leaves nothing back for a removal.
  const removes = lines('full').some((line) => line.startsWith('Remv '))
  await simulated('full', (one) => add(removes ? { ...one, status: 'kept_back', reason: 'kept_back_remove' } : one))
  await simulated('phased', (one) => {
    if (one.action === 'upgrade') add({ ...one, status: 'phased', reason: 'phased' })
  })
  const held = new Set(lines('held'))
  await inSlices(lines('upgradable'), (line) => {
    const one = listedOf(line)
    if (!one) return
    const isHeld = held.has(one.name) || held.has(`${one.name}:${one.arch}`)
    add({ ...one, ...(isHeld ? { status: 'held', reason: 'held' } : { reason: 'kept_back_dependencies' }) })
  })
  if (packages.size > MOST_PACKAGES) return undefined
  return withDetails(packages, lines('offered'), lines('installed'))
}

/** A heading and the exit code. */
const OTHER_LINES = 2
const LISTS = ['fix', 'minimal', 'planned', 'full', 'phased', 'held', 'upgradable', 'offered', 'installed']

const keyOf = ({ name, arch }: Pick<PackageUpdate, 'name' | 'arch'>) => `${name}:${arch}`

/** The fields that the list of offered packages or the CVE data fill. */
const NO_DETAILS = { size: null, source: null, cves: [], reason: null }

/**
 * Parses `Inst beta [1.0] (1:2.0~rc1 Rig:12/stable-updates, Debian-Security:12/x [all]) [dep]` and `Remv delta [1.0]`
 * of `apt-get -s`. A new package has no `[1.0]`.
 */
export function simulatedOf(line: string): PackageUpdate | undefined {
  const match = /^(Inst|Remv) (\S+)(?: \[([^\]]*)\])?(?: \((\S+) ([\s\S]*)\[([a-z0-9-]+)\]\))?/.exec(line)
  if (!match) return undefined
  const [, word, full = '', from, to, origins = '', arch] = match
  const [name = full, foreign] = full.split(':')
  const isOlder = from !== undefined && to !== undefined && compareDebianVersions(short(from), short(to)) > 0
  const action = word === 'Remv' ? 'remove' : from === undefined ? 'install' : isOlder ? 'downgrade' : 'upgrade'
  if (action !== 'remove' && to === undefined) return undefined
  return {
    ...NO_DETAILS,
    name: short(name),
    arch: short(arch ?? foreign ?? ''),
    from: from === undefined ? null : short(from),
    to: action === 'remove' || to === undefined ? null : short(to),
    action,
    origin: short(origins.trim()) || null,
    security: origins.split(',').some(isSecurity),
    status: 'planned',
  }
}

/** Recognises `Debian-Security:12/stable-security` by its label, `Ubuntu:24.04/noble-security` by label and suite. */
function isSecurity(origin: string): boolean {
  return /^(Debian-Security:|Ubuntu:.*-security$)/.test(origin.trim())
}

const MARKER = '[upgradable from: '

/** Parses `librig2/stable,stable-security 1:2.0 amd64 [upgradable from: 1.4]`. */
function listedOf(line: string): PackageUpdate | undefined {
  const [place = '', to = '', arch = ''] = line.split(' ')
  const marker = line.indexOf(MARKER)
  const slash = place.indexOf('/')
  if (marker < 0 || !line.endsWith(']') || slash < 1) return undefined
  const from = line.slice(marker + MARKER.length, -1)
  const origin = place.slice(slash + 1)
  return {
    ...NO_DETAILS,
    name: short(place.slice(0, slash)),
    arch: short(arch),
    from: short(from),
    to: short(to),
    action: 'upgrade',
    origin: short(origin) || null,
    security: origin.split(',').some((suite) => suite.endsWith('-security')),
    status: 'kept_back',
  }
}

/**
 * Adds sizes and sources. `offered` has lines `name arch version size [source [(source version)]]`, `installed` has
 * lines `name arch source source-version`.
 */
async function withDetails(
  packages: ReadonlyMap<string, PackageUpdate>,
  offered: readonly string[],
  installed: readonly string[],
): Promise<ReportedPackages> {
  const offers = new Map<string, { size: number; source: string; version: string }>()
  await inSlices(offered, (line) => {
    const [name = '', arch = '', to = '', size = '', source = name, version] = line.split(' ')
    const own = { size: Number(size), source: short(source) || name, version: version?.replace(/^\(|\)$/g, '') || to }
    offers.set(`${name}:${arch} ${to}`, own)
  })
  const before = new Map<string, { arch: string; source: string; version: string }>()
  await inSlices(installed, (line) => {
    const [name = '', arch = '', source = '', version = ''] = line.split(' ')
    before.set(`${name}:${arch}`, { arch, source, version })
    // A simulation does not name the architecture of a package that it removes.
    before.set(`${name}:`, { arch, source, version })
  })
  const detailed: PackageUpdate[] = []
  const changes = new Map<PackageUpdate, SourceChange>()
  await inSlices(packages.values(), (one) => {
    const was = before.get(keyOf(one))
    const offer = offers.get(`${keyOf(one)} ${one.to}`)
    const size = offer && Number.isSafeInteger(offer.size) && offer.size > 0 ? offer.size : null
    const whole = { ...one, arch: one.arch || (was?.arch ?? ''), size, source: offer?.source ?? was?.source ?? null }
    detailed.push(whole)
    if (was && offer && was.source === offer.source)
      changes.set(whole, { source: offer.source, from: was.version, to: offer.version })
  })
  return { packages: detailed, changes }
}

/** Counts what an upgrade without removals would do, and what it would leave alone. */
export function countsOf(packages: readonly PackageUpdate[]): Summary['counts'] {
  const counts = { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }
  for (const { status, action, security } of packages) {
    if (status !== 'planned') counts[status] += action === 'upgrade' ? 1 : 0
    else if (action === 'install' || action === 'remove') counts[action] += 1
    else counts.upgrade += 1
    if (security && status === 'planned' && action !== 'remove') counts.security += 1
  }
  return counts
}
