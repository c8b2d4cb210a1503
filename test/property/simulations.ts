import type { PackageUpdate } from '../../functions/managers/package-update.ts'
import type { Random } from '../soak/random.ts'

/** One line of `apt-get -s`, and the change that it stands for; null for a line that changes no version. */
export interface Simulated {
  line: string
  change: Change | null
}
export type Change = Pick<PackageUpdate, 'name' | 'arch' | 'from' | 'to' | 'action' | 'origin' | 'security'>

const NATIVE = 'amd64'
const FOREIGN = ['i386', 'arm64', 'armhf', 'musl-linux-amd64', 'x32'] as const
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789'] as [string, ...string[]]
const IN_NAMES = [...LETTERS, ...'+.-'] as [string, ...string[]]
const IN_VERSIONS = [...LETTERS, ...'ABZ.+~.+~'] as [string, ...string[]]
const NO_ORIGIN = { origin: null, security: false }

const text = (random: Random, least: number, most: number, letters: readonly [string, ...string[]]) =>
  Array.from({ length: random.between(least, most) }, () => random.pick(letters)).join('')

/** A name that deb-control(5) allows; `at` makes it unlike every other one. */
const nameOf = (random: Random, at: number) => `${random.pick(LETTERS)}${text(random, 0, 20, IN_NAMES)}-${at}`

function upstreamOf(random: Random): string {
  const revision = random.chance(0.7) ? `-${text(random, 1, 8, IN_VERSIONS)}` : ''
  const dash = revision !== '' && random.chance(0.2) ? `-${text(random, 1, 4, IN_VERSIONS)}` : ''
  return `${random.between(0, 99)}${text(random, 0, 20, IN_VERSIONS)}${dash}${revision}`
}

/** Two versions, the older one first: the newer one has a higher epoch, a suffix more, or a pre-release mark less. */
function versionsOf(random: Random): [string, string] {
  const [one, other] = [upstreamOf(random), upstreamOf(random)]
  const epoch = random.between(0, 20)
  const mark = epoch === 0 ? '' : `${epoch}:`
  return random.pick([
    [`${mark}${one}`, `${epoch + 1}:${other}`],
    [`${mark}${one}`, `${mark}${one}+b${epoch}`],
    [`${mark}${one}~rc${epoch}`, `${mark}${one}`],
  ])
}

/** Labels as people write them: a Release file may have any characters of one line there. */
const LABELS = [
  ...['Debian', 'Debian-Security', 'Debian Backports', 'Ubuntu', 'Docker CE', '', ' ', 'Rig, Inc.', 'l’été 📦'],
  ...['LP-PPA-rig', '. stable', 'obs://build.example/home:rig/Debian_12', "it's {$HOME} `id` <b>", 'a/b|c\\d;e&f'],
  ...['Debian-Security2', 'not Debian-Security', '-security', 'x: y', '(unofficial', 'Inst Remv code 0', '"=~*?!#%'],
] as const
/** Labels with the brackets that also end a list of origins. */
export const BRACKETS = ['Rig (unofficial)', 'Rig [test]', '[amd64])', ') []', 'a ] b [ c', '[all]) [x', '[]'] as const
const SUITES = [
  'stable',
  'oldstable-security',
  'bookworm-security',
  'noble-updates',
  './',
  'stable/main',
  'now',
] as const

/** One `Label:Version/Archive` of `pkgCache::VerIterator::RelStr`; a repository without a Release file has a host name. */
function originOf(random: Random, labels: readonly [string, ...string[]]): { text: string; isSecurity: boolean } {
  const label = random.pick(labels).trim()
  const head = label === '' ? '' : `${label}:`
  if (random.chance(0.1)) {
    const site = random.pick(['localhost', 'deb.example.org', '192.0.2.7:8080'])
    return { text: `${head}${site}`, isSecurity: label === 'Debian-Security' }
  }
  const suite = random.pick(SUITES)
  const version = random.chance(0.7) ? `${random.pick(['12', '12.15', '24.04', '13~alpha'])}/` : ''
  const isSecurity = label === 'Debian-Security' || (label === 'Ubuntu' && suite.endsWith('-security'))
  return { text: `${head}${version}${suite}`, isSecurity }
}

/** The packages that an unpacked one breaks for the moment: `pkgSimulate::ShortBreaks`, mostly nothing at all. */
function breaksOf(random: Random): string {
  if (random.chance(0.5)) return ''
  const names = Array.from({ length: random.chance(0.5) ? 0 : random.between(1, 4) }, (_, at) => {
    return `${nameOf(random, at)}:${random.pick([NATIVE, ...FOREIGN])} `
  })
  return ` [${names.join('')}]`
}

/** Makes one line as `pkgSimulate` of apt-pkg/algorithms.cc prints it, for the package with the number `at`. */
export function simulated(random: Random, at: number, labels: readonly [string, ...string[]] = LABELS): Simulated {
  const name = nameOf(random, at)
  const foreign = random.chance(0.15) ? random.pick(FOREIGN) : undefined
  // `PkgIterator::FullName(true)` tells no architecture of a native package.
  const full = foreign === undefined ? name : `${name}:${foreign}`
  const [older, newer] = versionsOf(random)
  const breaks = breaksOf(random)
  const word = random.pick(['Inst', 'Inst', 'Inst', 'Inst', 'Remv', 'Remv', 'Conf'])
  if (word === 'Remv') {
    const change: Change = { name, arch: foreign ?? '', from: older, to: null, action: 'remove', ...NO_ORIGIN }
    return { line: `${word} ${full} [${older}]${breaks}`, change }
  }
  const action =
    word === 'Conf'
      ? 'install'
      : random.pick<Change['action']>(['upgrade', 'upgrade', 'upgrade', 'install', 'downgrade'])
  const [from, to] = action === 'downgrade' ? [newer, older] : [older, newer]
  const origins = Array.from({ length: random.chance(0.7) ? 1 : random.between(0, 4) }, () => originOf(random, labels))
  const told = origins.map(({ text }) => text).join(', ')
  const arch = foreign ?? random.pick([NATIVE, NATIVE, 'all'])
  // While other packages break a conflict, their names come before the list of the others.
  const conflict = random.chance(0.05) ? ` [${nameOf(random, at)}:${NATIVE} on ${nameOf(random, at)}:${NATIVE}]` : ''
  const before = action === 'install' ? '' : ` [${from}]`
  const line = `${word} ${full}${before} (${to} ${told} [${arch}])${word === 'Conf' ? '' : conflict}${breaks}`
  if (word === 'Conf') return { line: random.chance(0.05) ? `Conf ${name}:${NATIVE} broken` : line, change: null }
  return {
    line,
    change: {
      ...{ name, arch, from: action === 'install' ? null : from, to, action },
      origin: told.slice(0, 256) || null,
      security: origins.some(({ isSecurity }) => isSecurity),
    },
  }
}

/** The sections beside the lines of changes, and the sums and remarks that a reader must make of both. */
export interface Details {
  native: string
  sections: Readonly<Record<'offered' | 'installed' | 'cached' | 'wanted' | 'disk', readonly string[]>>
  /** The changes, each with its architecture. */
  changes: readonly Change[]
  /** The sums of the sizes; null where one of them is not told. */
  download: number | null
  disk: number | null
  /** Packages that were asked for and do not come. */
  left: readonly string[]
  /** Whether the known needs exceed the room on the only file system. */
  isShort: boolean
}

const KIB = 1024
const sum = (all: readonly (number | null)[]) => all.reduce<number>((total, one) => total + (one ?? 0), 0)
const whole = (all: readonly (number | null)[]) => (all.includes(null) ? null : sum(all))

/** A size as a section tells it, and what it is: 0 and nothing at all stand for an unknown one. */
function sizeOf(random: Random, most: number): { text: string; size: number | null } {
  if (random.chance(0.01)) return { text: random.pick(['0', '']), size: null }
  const size = random.between(1, most)
  return { text: String(size), size }
}

/** The sections of `PLAN` for these changes, with lines about other versions, architectures and files between them. */
export function detailsOf(random: Random, given: readonly Change[]): Details {
  const lines = { offered: [] as string[], installed: [] as string[], cached: [] as string[], wanted: [] as string[] }
  const [downloads, rooms, left]: [(number | null)[], (number | null)[], string[]] = [[], [], []]
  const put = (to: string[], ...some: string[]) => (random.chance(0.5) ? to.push(...some) : to.unshift(...some))
  const changes = given.map((one) => ({ ...one, arch: one.arch || random.pick([NATIVE, NATIVE, NATIVE, 'all']) }))
  for (const { name, arch, from, to, action } of changes) {
    const other = arch === 'arm64' ? 'armhf' : random.pick(['arm64', 's390x'])
    let room = 0
    let isKnown = true
    const count = (size: number | null, sign: 1 | -1) => {
      room += sign * KIB * (size ?? 0)
      isKnown &&= size !== null
    }
    if (from !== null) {
      const { text, size } = sizeOf(random, 400_000)
      // dpkg-query tells the package of every architecture, in the order of their names.
      put(lines.installed, `${name} ${arch} ${text} src-${name} ${from}`)
      if (random.chance(0.2)) put(lines.installed, `${name} ${other} ${random.between(1, 400_000)} x ${from}`)
      count(size, -1)
    }
    if (to !== null) {
      const [archive, unpacked] = [sizeOf(random, 90_000_000), sizeOf(random, 400_000)]
      // A field that is missing is told as 0, so that the others stay in their places.
      const told = `${archive.text || 0} ${unpacked.text || 0}`
      const isTold = !random.chance(0.01)
      if (isTold) put(lines.offered, `${name} ${arch} ${to} ${told} ${random.pick(['', `src-${name} `, 'src (1.0)'])}`)
      if (random.chance(0.2)) put(lines.offered, `${name} ${arch} ${to}+other 1 1 `, `${name} ${other} ${to} 2 2 `)
      count(isTold ? unpacked.size : null, 1)
      const size = isTold ? archive.size : null
      const file = `${name}_${to.replaceAll(':', '%3a')}_${arch}.deb`
      const isCached = size !== null && random.chance(0.2)
      if (isCached) put(lines.cached, `${file} ${size}`)
      else if (random.chance(0.2))
        put(lines.cached, `${file} ${(size ?? 0) + 1}`, `${name}_${to}.1_${arch}.deb ${size ?? 1}`)
      downloads.push(isCached ? 0 : size)
      if (random.chance(0.2))
        put(lines.wanted, random.chance(0.5) || arch === 'all' ? `${name}=${to}` : `${name}:${arch}=${to}`)
    }
    rooms.push(isKnown ? room : null)
    if (action !== 'remove' && random.chance(0.02)) {
      left.push(`${name}:${other}`)
      lines.wanted.push(`${name}:${other}=${to}+later`)
    }
  }
  const need = sum(downloads) + Math.max(0, sum(rooms))
  const free = random.chance(0.5) ? 10 ** 13 : Math.floor(random.between(0, 2_000_000) * KIB)
  const space = `${Math.floor(free / KIB)} ${KIB} 0 7`
  return {
    native: NATIVE,
    sections: { ...lines, disk: ['/', '/usr', 'archives'].map((folder) => `${folder} ${space}`) },
    changes,
    download: whole(downloads),
    disk: whole(rooms),
    left,
    isShort: need > Math.floor(free / KIB) * KIB,
  }
}

const NO_DETAILS = { native: undefined, sections: {} }

/** The output of `PLAN` for these lines. Without details, it is that of an older version, which tells less. */
export function planOutput(
  lines: readonly Simulated[],
  code = 0,
  { native, sections }: Pick<Details, 'native' | 'sections'> | typeof NO_DETAILS = NO_DETAILS,
): string {
  const section = (name: string, of: readonly string[]) => [name, ...of.map((line) => ` ${line}`), '']
  const removed = lines.flatMap(({ change }) => (change?.action === 'remove' ? [change] : []))
  const installed = removed.map(({ name, arch, from }) => `${name} ${arch || NATIVE} 100 ${name} ${from}`)
  const told = { unfinished: [], offered: [], installed, disk: [], ...sections }
  return [
    'manager apt-get',
    ...(native === undefined ? [] : [`native ${native}`]),
    ...section('planned', [...lines.map(({ line }) => line), `code ${code}`]),
    ...Object.entries(told).flatMap(([name, of]) => section(name, of)),
    'end',
    '',
  ].join('\n')
}

/** The line of the hash that a change must have (`planLines` of functions/plans/plan.ts). */
export function hashLine({ action, name, arch, from, to }: Change): string {
  return `${action} ${name}:${arch || NATIVE} ${from ?? '-'} ${to ?? '-'}`
}

/** Characters with a meaning to the reader, to a terminal or to a shell. */
const SPLINTERS = [
  ...['[', ']', '(', ')', ' ', ':', ',', '/', '\n', '\n ', '\r', '\t', '\0', '\x1b[2J', '\u202e', '\ud800', '-', '~'],
  ...['Inst ', 'Remv ', ' [all])', '(1 ', ' []', 'code 0', 'end', '__proto__', '\n\nend\n', '\nplanned\n', '$(id)'],
] as const

/** Deletes, repeats, moves or inserts pieces of a text. */
export function mutated(random: Random, whole: string): string {
  let text = whole
  for (let times = random.between(1, 4); times > 0; times--) {
    const [one, other] = [random.between(0, text.length), random.between(0, text.length)]
    const [start, end] = [Math.min(one, other), Math.min(Math.max(one, other), Math.min(one, other) + 40)]
    const piece = random.pick([
      '',
      random.pick(SPLINTERS),
      text.slice(start, end) + random.pick(SPLINTERS) + text.slice(start, end),
      random.pick(SPLINTERS).repeat(random.between(2, 300)),
    ])
    text = text.slice(0, start) + piece + text.slice(random.chance(0.5) ? start : end)
  }
  return text
}
