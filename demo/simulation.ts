import type { Installed, Offered, Upgradable } from './packages.ts'
import type { Place } from './place.ts'
import type { Plan } from './plan.ts'
import { originOf } from './repositories.ts'

/** The lines of `apt-get -s` about changes. */
export function simulation(place: Place, { upgrades, installs, removes }: Plan): string[] {
  return [
    ...removes.map(({ name, version }) => `Remv ${name} [${version}]`),
    ...upgrades.map((one) => upgraded(place, one)),
    ...installs.map((one) => installed(place, one)),
  ]
}

function upgraded(place: Place, { name, old, version, suite, arch }: Upgradable): string {
  return `Inst ${name} [${old}] (${version} ${originOf(place, suite)} [${arch}])`
}

/** The line about a new package. */
export function installed(place: Place, { name, version, suite, arch }: Offered): string {
  return `Inst ${name} (${version} ${originOf(place, suite)} [${arch}])`
}

/**
 * A line about an offered package: `name arch version bytes source`, and the installed size in KiB behind the bytes where
 * the script asks for it. The source follows a space, which is there also without a source.
 */
export function offeredLine({ name, arch, version, size, source = '' }: Offered, withInstalledSize = false): string {
  const sizes = [Math.round(size * 1000), ...(withInstalledSize ? [installedSize(size)] : [])]
  return `${name} ${arch} ${version} ${sizes.join(' ')} ${source}${source === '' ? '' : ' '}`
}

/** A line about an installed package: `name arch source version`, with the installed size behind the architecture. */
export function installedLine(one: Upgradable | Installed, withInstalledSize = false): string {
  const isUpgradable = 'old' in one
  const { name } = one
  const arch = isUpgradable ? one.arch : 'amd64'
  // An upgrade takes a little more space than the version before it.
  const size = isUpgradable ? Math.max(1, installedSize(one.size) - 6) : REMOVED_SIZE
  const [source, version] = isUpgradable ? [one.source ?? name, one.old] : [name, one.version]
  return [name, arch, ...(withInstalledSize ? [size] : []), source, version].join(' ')
}

/** A package takes about four times the size of its archive. `kB` is that size; the result is in KiB. */
function installedSize(kB: number): number {
  return Math.round((4 * kB * 1000) / 1024)
}

const REMOVED_SIZE = 61_440
