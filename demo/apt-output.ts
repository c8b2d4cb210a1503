import type { Place, Upgradable } from './place.ts'

const SOURCES = {
  stable: 'http://mirror.example/debian bookworm',
  'stable-security': 'http://mirror.example/debian-security bookworm-security',
}

/** The output of `apt-get update`, piece by piece. */
export function* updateLines({ upgradable, silent }: Place): Generator<string> {
  yield `Hit:1 ${SOURCES.stable} InRelease\n`
  yield `Get:2 ${SOURCES.stable}-updates InRelease [55.4 kB]\n`
  if (upgradable.length === 0) {
    yield `Hit:3 ${SOURCES['stable-security']} InRelease\n`
    yield 'Fetched 55.4 kB in 0s (212 kB/s)\n'
  } else {
    yield `Get:3 ${SOURCES['stable-security']} InRelease [48.0 kB]\n`
    yield `Get:4 ${SOURCES['stable-security']}/main amd64 Packages [268 kB]\n`
    yield 'Fetched 371 kB in 1s (402 kB/s)\n'
  }
  yield 'Reading package lists...\n'
  if (silent) {
    yield `W: Failed to fetch ${silent}/dists/stable/InRelease  Could not connect to packages.example:80\n`
    yield 'W: Some index files failed to download. They have been ignored, or old ones used instead.\n'
  }
}

/** The output of `apt-get -y full-upgrade`, piece by piece; each package leaves the list when it is unpacked. */
export function* upgradeLines(place: Place): Generator<string> {
  const packages = [...place.upgradable]
  yield 'Reading package lists...\n'
  yield 'Building dependency tree...\n'
  yield 'Reading state information...\n'
  yield 'Calculating upgrade...\n'
  if (packages.length > 0) yield `The following packages will be upgraded:\n${wrapped(packages)}`
  yield `${packages.length} upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n`
  if (packages.length === 0) return
  const total = amount(packages.reduce((sum, { size }) => sum + size, 0))
  yield `Need to get ${total} of archives.\n`
  yield 'After this operation, 24.6 kB of additional disk space will be used.\n'
  for (const [index, one] of packages.entries()) {
    const source = `${SOURCES[one.suite]}/main amd64 ${one.name} ${one.arch}`
    yield `Get:${index + 1} ${source} ${one.version} [${amount(one.size)}]\n`
  }
  yield `Fetched ${total} in 1s (${total}/s)\n`
  yield* dpkg(place, packages)
}

/** dpkg ends its lines with CR LF and rewrites its progress with CR, to a terminal or not. */
function* dpkg(place: Place, packages: readonly Upgradable[]): Generator<string> {
  const percents = Array.from({ length: 20 }, (_, index) => `(Reading database ... ${(index + 1) * 5}%\r`)
  const files = 18_000 + [...place.name].reduce((sum, char) => sum + char.charCodeAt(0), 0) * 7
  yield `(Reading database ... \r${percents.join('')}`
  yield `(Reading database ... ${files} files and directories currently installed.)\r\n`
  const digits = String(packages.length - 1).length
  for (const [index, one] of packages.entries()) {
    const file = `${one.name}_${one.version.replaceAll(':', '%3a')}_${one.arch}.deb`
    yield `Preparing to unpack .../${String(index).padStart(digits, '0')}-${file} ...\r\n`
    place.upgradable = place.upgradable.filter(({ name }) => name !== one.name)
    yield `Unpacking ${known(one)} (${one.version}) over (${one.old}) ...\r\n`
  }
  for (const one of packages) {
    yield `Setting up ${known(one)} (${one.version}) ...\r\n`
    if (one.name === 'tzdata') yield "\r\nCurrent default time zone: 'Europe/Paris'\r\n\r\n"
  }
  yield 'Processing triggers for man-db (2.11.2-2) ...\r\n'
  yield 'Processing triggers for libc-bin (2.36-9+deb12u10) ...\r\n'
}

/** dpkg names the architecture only of libraries, which several architectures may share. */
function known({ name, arch }: Upgradable): string {
  return name.startsWith('lib') ? `${name}:${arch}` : name
}

function amount(kB: number): string {
  if (kB >= 10_000) return `${(kB / 1000).toFixed(1)} MB`
  return kB >= 1000 ? `${Math.round(kB).toLocaleString('en')} kB` : `${kB.toPrecision(3)} kB`
}

/** apt breaks its lists before the 80th column. */
function wrapped(packages: readonly Upgradable[]): string {
  const lines: string[] = []
  for (const { name } of packages) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length < 78) lines[lines.length - 1] = `${last} ${name}`
    else lines.push(`  ${name}`)
  }
  return `${lines.join('\n')}\n`
}
