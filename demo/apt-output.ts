import type { Offered, Upgradable } from './packages.ts'
import type { Place } from './place.ts'
import { amount, downloadOf, operationLine, type Plan, planOf } from './plan.ts'
import { faultsOf, repositoryOf } from './repositories.ts'

/** apt's end of a refresh that failed in part. */
const PARTLY = 'Some index files failed to download. They have been ignored, or old ones used instead.'

/**
 * The output of `apt-get update`, piece by piece. When `isStrict`, as with `APT::Update::Error-Mode=any`, every failure
 * is an error.
 */
export function* updateLines(place: Place, isStrict = false): Generator<string> {
  const [debian, security] = [repositoryOf(place, 'stable'), repositoryOf(place, 'stable-security')]
  const faults = faultsOf(place)
  yield `Hit:1 ${debian} InRelease\n`
  yield `Get:2 ${debian}-updates InRelease [55.4 kB]\n`
  if (place.upgradable.length === 0) {
    yield `Hit:3 ${security} InRelease\n`
    yield 'Fetched 55.4 kB in 0s (212 kB/s)\n'
  } else {
    yield `Get:3 ${security} InRelease [48.0 kB]\n`
    yield `Get:4 ${security}/main amd64 Packages [268 kB]\n`
    yield 'Fetched 371 kB in 1s (402 kB/s)\n'
  }
  yield 'Reading package lists...\n'
  for (const { isPassing, lines } of faults)
    for (const line of lines) yield `${isPassing && !isStrict ? line.replace(/^E:/, 'W:') : line}\n`
  if (faults.some(({ isPassing }) => isPassing)) yield `${isStrict ? 'E' : 'W'}: ${PARTLY}\n`
}

/** Returns apt's complaint about unmet dependencies, as its lines; undefined when all are met. */
export function unmetLines({ broken }: Place): string[] | undefined {
  if (!broken) return undefined
  const { name, needs } = broken
  return [
    "You might want to run 'apt --fix-broken install' to correct these.",
    'The following packages have unmet dependencies:',
    ` ${name} : Depends: ${needs.name} (>= ${needs.version}) but it is not installed`,
    "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution).",
  ]
}

/**
 * The output of `apt-get -y full-upgrade`, piece by piece; each package leaves the list when it is unpacked. Ends early
 * where dependencies are unmet or the disk is too small.
 */
export function* upgradeLines(place: Place): Generator<string> {
  const plan = planOf(place, 'full')
  yield* fetchLines(place, plan)
  if (isUpgraded(place, plan)) yield* dpkgLines(place, plan)
}

/** Whether apt reaches the step after the download. */
export function isUpgraded(place: Place, plan: Plan): boolean {
  return !place.broken && plan.upgrades.length > 0 && !isTooSmall(place, plan)
}

/** The output of an upgrade until everything is downloaded. */
export function* fetchLines(place: Place, plan: Plan): Generator<string> {
  const { upgrades, installs, removes, keeps } = plan
  yield 'Reading package lists...\n'
  yield 'Building dependency tree...\n'
  yield 'Reading state information...\n'
  const unmet = unmetLines(place)
  if (unmet) {
    yield `${unmet.join('\n')}\n`
    return
  }
  yield 'Calculating upgrade...\n'
  if (removes.length > 0) yield `The following packages will be REMOVED:\n${wrapped(removes)}`
  if (installs.length > 0) yield `The following NEW packages will be installed:\n${wrapped(installs)}`
  if (keeps.length > 0) yield `The following packages have been kept back:\n${wrapped(keeps)}`
  if (upgrades.length > 0) yield `The following packages will be upgraded:\n${wrapped(upgrades)}`
  const counts = [`${upgrades.length} upgraded`, `${installs.length} newly installed`, `${removes.length} to remove`]
  yield `${counts.join(', ')} and ${keeps.length} not upgraded.\n`
  if (upgrades.length === 0) return
  const total = amount(downloadOf(plan) / 1000)
  yield `Need to get ${total} of archives.\n`
  yield `${operationLine(plan)}\n`
  if (isTooSmall(place, plan)) {
    yield "E: You don't have enough free space in /var/cache/apt/archives/.\n"
    return
  }
  for (const [index, one] of [...upgrades, ...installs].entries()) {
    const source = `${repositoryOf(place, one.suite)}/main amd64 ${one.name} ${one.arch}`
    yield `Get:${index + 1} ${source} ${one.version} [${amount(one.size)}]\n`
  }
  yield `Fetched ${total} in 1s (${total}/s)\n`
}

/** Whether the changes need more space than is free. */
export function isTooSmall({ disk }: Place, plan: Plan): boolean {
  return disk !== undefined && downloadOf(plan) > disk.free
}

/** The output of `apt-get -y -f install` on a place with a package that lacks another one; installs that one. */
export function* fixLines(place: Place): Generator<string> {
  const { broken } = place
  if (!broken) return
  yield 'Correcting dependencies... Done\n'
  yield `The following NEW packages will be installed:\n${wrapped([broken.needs])}`
  yield '0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.\n'
  yield* unpacked(place, [broken.needs], 0)
  place.broken = undefined
  yield `Setting up ${known(broken.needs)} (${broken.needs.version}) ...\r\n`
}

/**
 * The output of an upgrade from the unpacking on. dpkg ends its lines with CR LF and rewrites its progress with CR, to a
 * terminal or not.
 */
export function* dpkgLines(place: Place, { upgrades, installs, removes }: Plan): Generator<string> {
  const percents = Array.from({ length: 20 }, (_, index) => `(Reading database ... ${(index + 1) * 5}%\r`)
  const files = 18_000 + [...place.name].reduce((sum, char) => sum + char.charCodeAt(0), 0) * 7
  yield `(Reading database ... \r${percents.join('')}`
  yield `(Reading database ... ${files} files and directories currently installed.)\r\n`
  for (const { name, version } of removes) yield `Removing ${name} (${version}) ...\r\n`
  yield* unpacked(place, upgrades, 0)
  yield* unpacked(place, installs, upgrades.length)
  for (const one of [...upgrades, ...installs]) {
    yield `Setting up ${known(one)} (${one.version}) ...\r\n`
    if (one.name === 'tzdata') yield "\r\nCurrent default time zone: 'Europe/Paris'\r\n\r\n"
  }
  yield 'Processing triggers for man-db (2.11.2-2) ...\r\n'
  yield 'Processing triggers for libc-bin (2.36-9+deb12u10) ...\r\n'
}

function* unpacked(place: Place, packages: readonly (Offered | Upgradable)[], first: number): Generator<string> {
  const digits = String(first + packages.length - 1).length
  for (const [index, one] of packages.entries()) {
    const file = `${one.name}_${one.version.replaceAll(':', '%3a')}_${one.arch}.deb`
    yield `Preparing to unpack .../${String(first + index).padStart(digits, '0')}-${file} ...\r\n`
    place.upgradable = place.upgradable.filter(({ name }) => name !== one.name)
    const over = 'old' in one ? ` over (${one.old})` : ''
    yield `Unpacking ${known(one)} (${one.version})${over} ...\r\n`
  }
}

/** dpkg names the architecture only of libraries, which several architectures may share. */
function known({ name, arch }: Offered): string {
  return name.startsWith('lib') ? `${name}:${arch}` : name
}

/** apt breaks its lists before the 80th column. */
function wrapped(packages: readonly { name: string }[]): string {
  const lines: string[] = []
  for (const { name } of packages) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length < 78) lines[lines.length - 1] = `${last} ${name}`
    else lines.push(`  ${name}`)
  }
  return `${lines.join('\n')}\n`
}
