import type { Suite } from './packages.ts'
import { BOOKWORM, type Place } from './place.ts'

const MIRROR = 'http://mirror.example'

/** One repository that apt refuses or cannot reach, with apt's messages about it. */
export interface Fault {
  /** `<base> <suite>`, as a finding and the upgrade script name it. */
  name: string
  /** Whether apt counts it as a passing failure: it then only warns, unless asked otherwise. */
  isPassing: boolean
  isChange: boolean
  lines: readonly string[]
}

/** Returns `http://mirror.example/debian bookworm`, the repository of a suite. */
export function repositoryOf(place: Place, suite: Suite): string {
  const { codename } = place.os ?? BOOKWORM
  if (suite === 'third') return `http://vendor.example/linux/debian ${codename}`
  return suite === 'stable' ? `${MIRROR}/debian ${codename}` : `${MIRROR}/debian-security ${codename}-security`
}

/** Returns the origin of a simulation, such as `Debian-Security:12/stable-security`. */
export function originOf(place: Place, suite: Suite): string {
  const { version, codename } = place.os ?? BOOKWORM
  if (suite === 'third') return `Vendor:${codename}`
  return `${suite === 'stable' ? 'Debian' : 'Debian-Security'}:${version}/${suite}`
}

/** Returns the suite as `apt list` prints it. */
export function suiteOf(place: Place, suite: Suite): string {
  return suite === 'third' ? (place.os ?? BOOKWORM).codename : suite
}

/** Returns the addresses of all repositories, each with `/dists/<suite>/`. */
export function addressesOf(place: Place): string[] {
  const own = [repositoryOf(place, 'stable'), repositoryOf(place, 'stable-security')]
  const names = [...own, ...faultsOf(place).map(({ name }) => name)]
  return names.map((name) => `${name.replace(' ', '/dists/')}/`)
}

/** Returns the repositories of a place that cannot be refreshed. */
export function faultsOf({ silent, changed, unsigned, expired }: Place): Fault[] {
  const faults: Fault[] = []
  const add = (base: string | undefined, kind: Partial<Fault>, messages: (name: string) => string[]) => {
    if (base === undefined) return
    const name = `${base} stable`
    faults.push({ isPassing: false, isChange: false, ...kind, name, lines: messages(name) })
  }
  add(silent, { isPassing: true }, (name) => {
    const address = `${name.replace(' ', '/dists/')}/InRelease`
    return [`E: Failed to fetch ${address}  Could not connect to ${new URL(address).hostname}:80`]
  })
  add(changed, { isChange: true }, (name) => [
    `E: Repository '${name} InRelease' changed its 'Codename' value from 'bookworm' to 'trixie'`,
    'N: This must be accepted explicitly before updates for this repository can be applied. See apt-secure(8) manpage for details.',
  ])
  add(unsigned, {}, (name) => [
    `W: GPG error: ${name} InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 49023CD01DE21A7B`,
    `E: The repository '${name} InRelease' is not signed.`,
  ])
  add(expired, {}, (name) => [
    `E: Release file for ${name.replace(' ', '/dists/')}/InRelease is expired (invalid since 9d 4h 12min 7s). Updates for this repository will not be applied.`,
  ])
  return faults
}

/**
 * Puts the newer version of a package that waits for it into the lists. apt sees it only after a refresh: by
 * `apt-get update` (`isRefresh`), or by the timer of the place (apt-daily.timer), `afterMs` after the first plan.
 */
export function publish(place: Place, isRefresh = false): void {
  const { newer } = place
  if (newer?.since === undefined || (!isRefresh && Date.now() - newer.since < newer.afterMs)) return
  place.newer = undefined
  const { of, version } = newer
  const before = place.upgradable.find(({ name }) => name === of.name)
  const others = place.upgradable.filter((one) => one !== before)
  place.upgradable = [...others, before ? { ...before, version } : { ...of, old: of.version, version }]
}
