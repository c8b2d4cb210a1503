import { LINES_PER_TURN, nextTurn } from './check-blocks.ts'
import { type PackageUpdate, Summary } from './check.ts'
import { type Finding, findingOf } from './finding.ts'
import { repositoryFindings } from './repository-findings.ts'

/** The result of inspecting one target. */
export interface Report {
  summary: Summary
  packages: PackageUpdate[]
  /** Whether every package list was refreshed. */
  refreshed: boolean
}

/** No machine has so many updates available. A longer report is rejected. */
export const MOST_PACKAGES = 10_000

/** Reads the output of an inspection (`INSPECTION` of check-script.ts); undefined when it is incomplete or too long. */
export async function readReport(lines: readonly string[], place: 'host' | 'container'): Promise<Report | undefined> {
  const { words, sections } = partsOf(lines)
  const manager = MANAGERS.get(words.get('manager') ?? '')
  if (manager === undefined) return undefined
  const os = osOf(sections.get('os') ?? [])
  const reboot = rebootOf(sections.get('reboot'), place)
  if (manager !== 'apt') {
    const findings = manager === null ? [findingOf('manager_missing')] : []
    return { summary: { ...EMPTY, manager, os, reboot, findings }, packages: [], refreshed: false }
  }
  const packages = await packagesOf(sections)
  if (!words.has('end') || packages === undefined || !isWhole(sections)) return undefined

  const refresh = sections.get('update')
  const repositories = repositoryFindings(refresh ?? [])
  const refreshed = refresh !== undefined && codeOf(refresh) === 0 && repositories.length === 0
  const hasLists = Number(sections.get('lists')?.[0] ?? 0) > 0
  const locked = words.get('locked')
  const findings: Finding[] = [...repositories]
  if (locked !== undefined) findings.push(findingOf('manager_locked'))
  if (!hasLists) findings.push(findingOf('lists_stale', { message: 'Aucune liste de paquets n’a pu être lue.' }))
  else if (!refreshed && refresh !== undefined && repositories.length === 0) findings.push(notRefreshed(refresh))
  findings.push(...unreadFindings(sections.get('unread') ?? []))
  // dpkg findings are left out while apt or dpkg works: an operation in progress is not an interrupted one.
  if (locked === undefined) findings.push(...dpkgFindings(words.has('journal'), sections.get('unfinished') ?? []))
  findings.push(...dependencyFindings(sections.get('check') ?? []))
  const held = packages.filter(({ status }) => status === 'held').map(({ name }) => name)
  if (held.length > 0) findings.push(findingOf('held', { packages: held }))

  const summary = Summary.safeParse({ ...EMPTY, manager, os, reboot, findings, counts: countsOf(packages) })
  return summary.success ? { summary: summary.data, packages, refreshed: refreshed && hasLists } : undefined
}

/**
 * Whether apt completed the simulated upgrade and the listing. A killed apt leaves an empty list and an exit code other
 * than 0. With code 100 apt reports a problem, which `apt-get check` reports too.
 */
function isWhole(sections: ReadonlyMap<string, string[]>): boolean {
  const codes = ['check', 'planned', 'upgradable'].map((name) => codeOf(sections.get(name) ?? []))
  return codes.every((code) => code === 0) || (codes[0] === 100 && codes.every((code) => code === 0 || code === 100))
}

const MANAGERS: ReadonlyMap<string, Summary['manager']> = new Map([
  ['apt-get', 'apt'],
  ['apk', 'apk'],
  ['dnf', 'dnf'],
  ['zypper', 'zypper'],
  ['pacman', 'pacman'],
  ['none', null],
])

const EMPTY = {
  counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
  download_bytes: null,
  disk_bytes: null,
  services: [],
}

/** Splits the output into words at the beginning of a line, and the indented lines below each word. */
function partsOf(lines: readonly string[]): { words: Map<string, string>; sections: Map<string, string[]> } {
  const words = new Map<string, string>()
  const sections = new Map<string, string[]>()
  let current: string[] | undefined
  for (const line of lines) {
    if (line.startsWith(' ')) {
      if (line.trim() !== '') current?.push(line.slice(1))
    } else if (line !== '') {
      const space = line.indexOf(' ')
      const word = space < 0 ? line : line.slice(0, space)
      words.set(word, space < 0 ? '' : line.slice(space + 1))
      current = []
      sections.set(word, current)
    }
  }
  return { words, sections }
}

function codeOf(lines: readonly string[]): number {
  return Number(/^code (\d+)$/.exec(lines.at(-1) ?? '')?.[1] ?? Number.NaN)
}

function osOf(lines: readonly string[]): Summary['os'] {
  const value = (key: string) => {
    const line = lines.find((each) => each.startsWith(`${key}=`))
    return line?.slice(key.length + 1, 200).replace(/^["']|["']$/g, '')
  }
  const id = value('ID')
  if (!id) return null
  return { id, version_id: value('VERSION_ID') ?? null, name: value('PRETTY_NAME') ?? id, end_of_life: null }
}

function rebootOf(lines: readonly string[] | undefined, place: 'host' | 'container'): Summary['reboot'] {
  if (place === 'container') return { required: null, reasons: [] }
  return { required: lines !== undefined, reasons: lines?.slice(0, 100).map((line) => line.slice(0, 200)) ?? [] }
}

/**
 * Returns the packages that the simulated upgrade would change, then the upgradable packages that it would leave alone;
 * undefined when a list exceeds `MOST_PACKAGES`.
 */
async function packagesOf(sections: ReadonlyMap<string, string[]>): Promise<PackageUpdate[] | undefined> {
  const planned = sections.get('planned') ?? []
  const listed = sections.get('upgradable') ?? []
  if (planned.length > MOST_PACKAGES || listed.length > MOST_PACKAGES) return undefined
  const held = new Set(sections.get('held') ?? [])
  const packages = new Map<string, PackageUpdate>()
  const key = ({ name, arch }: PackageUpdate) => `${name}:${arch}`
  for (const [at, line] of planned.entries()) {
    if (at % LINES_PER_TURN === 0) await nextTurn()
    const one = plannedOf(line)
    if (one) packages.set(key(one), one)
  }
  for (const [at, line] of listed.entries()) {
    if (at % LINES_PER_TURN === 0) await nextTurn()
    const one = listedOf(line)
    if (!one || packages.has(key(one))) continue
    const status = held.has(one.name) || held.has(`${one.name}:${one.arch}`) ? 'held' : 'kept_back'
    packages.set(key(one), { ...one, status })
  }
  return [...packages.values()]
}

/** Cuts a text that a target reports: no real name, version or list of origins is longer. */
const short = (text: string) => text.slice(0, 256)

/** The fields that a check does not fill yet. */
const NO_DETAILS = { size: null, source: null, cves: [], reason: null }

/**
 * Parses `Inst beta [1.0] (1:2.0~rc1 Rig:12/stable-updates, Debian-Security:12/x [all]) [dep]`. A new package has no
 * `[1.0]`.
 */
function plannedOf(line: string): PackageUpdate | undefined {
  const match = /^Inst (\S+) (?:\[([^\]]*)\] )?\((\S+) ([^[)]*)\[([^\]]*)\]/.exec(line)
  if (!match) return undefined
  const [, full = '', from, to = '', origins = '', arch = ''] = match
  return {
    ...NO_DETAILS,
    name: short(full.split(':')[0] ?? full),
    arch: short(arch),
    from: from === undefined ? null : short(from),
    to: short(to),
    action: from === undefined ? 'install' : 'upgrade',
    origin: short(origins.trim()) || null,
    security: origins.split(',').some(isSecurity),
    status: 'planned',
  }
}

/** Recognises `Debian-Security:12/stable-security` by its label, or by its suite as Ubuntu names it. */
function isSecurity(origin: string): boolean {
  return /^Debian-Security:/.test(origin.trim()) || /-security$/.test(origin.trim())
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

function countsOf(packages: readonly PackageUpdate[]): Summary['counts'] {
  const counts = { ...EMPTY.counts }
  for (const { status, action, security } of packages) {
    if (status !== 'planned') counts[status] += 1
    else if (action === 'install') counts.install += 1
    else counts.upgrade += 1
    if (security && status !== 'held') counts.security += 1
  }
  return counts
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
  // Only sources.list files matter: root's own refresh reads the other settings, such as a proxy's password.
  const files = new Set(lines.flatMap((line) => / (\/\S*\/sources\.list\S*)/.exec(line)?.[1] ?? []))
  return [...files].map((file) =>
    findingOf('lists_stale', {
      repository: file,
      message: `Le compte de service ne peut pas lire ${file.slice(0, 200)}.`,
    }),
  )
}

function dpkgFindings(hasJournal: boolean, unfinished: readonly string[]): Finding[] {
  const packages = unfinished.flatMap((line) => line.split(' ')[2] ?? [])
  return hasJournal || packages.length > 0 ? [findingOf('dpkg_interrupted', { packages })] : []
}

function dependencyFindings(lines: readonly string[]): Finding[] {
  if (codeOf(lines) !== 100) return []
  const packages = lines.flatMap((line) => /^ (\S+) : /.exec(line)?.[1] ?? [])
  return [findingOf('dependencies_broken', { packages: [...new Set(packages)] })]
}
