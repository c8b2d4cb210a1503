import { createHash } from 'node:crypto'
import type { Installed, Offered, Upgradable } from './packages.ts'
import type { Place } from './place.ts'

/** The changes that one run of apt makes. */
export interface Plan {
  upgrades: readonly Upgradable[]
  installs: readonly Offered[]
  removes: readonly Installed[]
  /** Upgradable packages that stay as they are. */
  keeps: readonly Upgradable[]
}

/** `minimal`: `upgrade`. `new`: with new packages. `full`: `full-upgrade`. `phased`: that, with phased updates. */
export type Extent = 'minimal' | 'new' | 'full' | 'phased'

/** The selection of a plan, as `PLAN` and `PLANNED` take it. */
export interface Choice {
  only: 'all' | 'security'
  extent: 'new' | 'full'
  kind: 'every' | 'these' | 'without'
  /** Each `name` or `name:arch`. */
  names: ReadonlySet<string>
}

const REMOVED_ARCH = 'amd64'

/** Reads `<only> <keep|remove> <every|these|without> <name>…`; undefined for any other words. */
export function choiceOf([only, removals, kind, ...names]: readonly string[]): Choice | undefined {
  if (only !== 'all' && only !== 'security') return undefined
  if (removals !== 'keep' && removals !== 'remove') return undefined
  if (kind !== 'every' && kind !== 'these' && kind !== 'without') return undefined
  if (kind === 'every' && names.length > 0) return undefined
  return { only, extent: removals === 'keep' ? 'new' : 'full', kind, names: new Set(names) }
}

/** Returns what apt would change. It changes nothing while dependencies are unmet. */
export function planOf(place: Place, extent: Extent): Plan {
  return planned(place, place.broken ? [] : possible(place, extent))
}

/** Whether a selection names a package, to take it or to leave it out. */
function isNamed({ names }: Choice, one: Offered | Installed): boolean {
  return names.has(one.name) || names.has(`${one.name}:${'arch' in one ? one.arch : REMOVED_ARCH}`)
}

/** Whether a selection asks for an upgrade. */
function isAsked(choice: Choice, one: Upgradable): boolean {
  if (choice.only === 'security' && one.suite !== 'stable-security') return false
  return choice.kind === 'every' || isNamed(choice, one) === (choice.kind === 'these')
}

/** Returns the lines `name[:arch]=version` of what a selection asks for, also of what apt cannot upgrade. */
export function wantedLines({ upgradable, held = [] }: Place, choice: Choice): string[] {
  if (choice.only === 'all' && choice.kind !== 'these') return []
  const wanted = upgradable.filter((one) => !held.includes(one.name) && isAsked(choice, one))
  return wanted.map(({ name, arch, version }) => `${name}${arch === 'all' ? '' : `:${arch}`}=${version}`)
}

/** Returns what apt would change for a selection: the packages of it, and those that they need. */
export function chosen(place: Place, choice: Choice): Plan {
  const { extent, kind } = choice
  const isExcluded = (one: Offered | Installed) => kind === 'without' && isNamed(choice, one)
  const candidates = place.broken ? [] : possible(place, extent)
  const free = whole(
    place,
    candidates.filter((one) => ![one, ...(one.brings ?? []), ...(one.removes ?? [])].some(isExcluded)),
  )
  const taken = new Set(free.filter((one) => isAsked(choice, one)))
  // A set also visits what is added meanwhile.
  for (const { needs } of taken) for (const one of free) if (needs?.includes(one.name)) taken.add(one)
  return planned(
    place,
    place.upgradable.filter((one) => taken.has(one)),
  )
}

/** The upgrades that apt can make with such an extent. */
function possible(place: Place, extent: Extent): Upgradable[] {
  const held = new Set(place.held)
  const isTaken = ({ name, kept, brings, removes }: Upgradable) => {
    if (held.has(name) || kept === 'dependencies') return false
    if (kept === 'phased' && extent !== 'phased') return false
    if (removes && (extent === 'minimal' || extent === 'new')) return false
    return !(brings && extent === 'minimal')
  }
  return whole(place, place.upgradable.filter(isTaken))
}

/** Leaves out each upgrade that needs another one which is not among them. */
function whole(place: Place, upgrades: readonly Upgradable[]): Upgradable[] {
  const names = new Set(upgrades.map(({ name }) => name))
  const missing = new Set(place.upgradable.flatMap(({ name }) => (names.has(name) ? [] : [name])))
  const left = upgrades.filter(({ needs = [] }) => !needs.some((name) => missing.has(name)))
  return left.length === upgrades.length ? left : whole(place, left)
}

function planned(place: Place, upgrades: readonly Upgradable[]): Plan {
  return {
    upgrades,
    installs: upgrades.flatMap(({ brings = [] }) => brings),
    removes: upgrades.flatMap(({ removes = [] }) => removes),
    keeps: place.upgradable.filter((one) => !upgrades.includes(one)),
  }
}

/** Returns the changes as the lines of a plan's hash, `action name:arch from to`, sorted by bytes. */
export function actionLines({ upgrades, installs, removes }: Plan): string[] {
  return [
    ...upgrades.map(({ name, arch, old, version }) => `upgrade ${name}:${arch} ${old} ${version}`),
    ...installs.map(({ name, arch, version }) => `install ${name}:${arch} - ${version}`),
    ...removes.map(({ name, version }) => `remove ${name}:${REMOVED_ARCH} ${version} -`),
  ].sort()
}

/** Returns the hash of a plan: SHA-256, in hex. */
export function hashOf(plan: Plan): string {
  const text = actionLines(plan).map((line) => `${line}\n`)
  return createHash('sha256').update(text.join('')).digest('hex')
}

/** Returns the bytes of the archives that the changes need. */
export function downloadOf({ upgrades, installs }: Plan): number {
  return [...upgrades, ...installs].reduce((sum, { size }) => sum + Math.round(size * 1000), 0)
}

/** Returns apt's line about the disk; undefined when nothing changes. */
export function operationLine({ upgrades, installs }: Plan): string | undefined {
  if (upgrades.length + installs.length === 0) return undefined
  // A new package takes about four times the size of its archive.
  const kB = 24.6 + installs.reduce((sum, { size }) => sum + 4 * size, 0)
  return `After this operation, ${amount(kB)} of additional disk space will be used.`
}

/** Writes an amount in kB as apt does. */
export function amount(kB: number): string {
  if (kB >= 10_000) return `${(kB / 1000).toFixed(1)} MB`
  return kB >= 1000 ? `${Math.round(kB).toLocaleString('en')} kB` : `${kB.toPrecision(3)} kB`
}
