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

/** Returns what apt would change. It changes nothing while dependencies are unmet. */
export function planOf(place: Place, extent: Extent): Plan {
  const held = new Set(place.held)
  const isTaken = ({ name, kept, brings, removes }: Upgradable) => {
    if (held.has(name) || kept === 'dependencies') return false
    if (kept === 'phased' && extent !== 'phased') return false
    if (removes && (extent === 'minimal' || extent === 'new')) return false
    return !(brings && extent === 'minimal')
  }
  const upgrades = place.broken ? [] : place.upgradable.filter(isTaken)
  return {
    upgrades,
    installs: upgrades.flatMap(({ brings = [] }) => brings),
    removes: upgrades.flatMap(({ removes = [] }) => removes),
    keeps: place.upgradable.filter((one) => !upgrades.includes(one)),
  }
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
