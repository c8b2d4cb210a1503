import { listed } from './apt.ts'
import { unmetLines } from './apt-output.ts'
import type { Installed, Offered, Upgradable } from './packages.ts'
import { BOOKWORM, hasApt, type Place } from './place.ts'
import { downloadOf, type Extent, operationLine, type Plan, planOf } from './plan.ts'
import type { Process, Program } from './process.ts'
import { addressesOf, originOf } from './repositories.ts'
import { type Shell, wordsOf } from './sh.ts'

const BLOCK = 4096
const PLENTY = { size: 32 * 2 ** 30, free: 19 * 2 ** 30 }
/** The running kernel of the host, which its containers share. */
const KERNEL = '6.1.0-37-amd64'

/** Imitates `INSPECTION`, which prints sections: a word, indented lines, an empty line. */
export function createInspection({ heard }: Shell): Program {
  return async ([sudo = ''], process) => {
    const { place } = process
    const section = (name: string, lines: readonly string[]) =>
      process.stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)

    await section('os', osLines(place))
    await process.stdout(`manager ${hasApt(place) ? 'apt-get' : 'apk'}\n`)
    if (!hasApt(place)) return 0
    await section('mounts', [`/ ${place.readOnly ? 'ro' : 'rw'}`])
    const refresh = await heard([...wordsOf(sudo), 'apt-get', '-o', 'APT::Update::Error-Mode=any', 'update'], process)
    const told = refresh.text.split('\n').filter((line) => /^([EW]|sudo): /.test(line))
    await section('update', [...told, `code ${refresh.code}`])
    await section('lists', ['3'])
    await section('unread', [])
    await section('repositories', addressesOf(place))
    if (place.lock) await process.stdout('locked dpkg\n')
    await section('unfinished', unfinishedLines(place))
    for (const [name, lines] of packageSections(place)) await section(name, lines)
    for (const [name, lines] of systemSections(process)) await section(name, lines)
    await process.stdout('end\n')
    return 0
  }
}

function osLines({ os: { id, version, codename, name } = BOOKWORM }: Place): string[] {
  const named = [`PRETTY_NAME="${name}"`, `ID=${id}`]
  return id === 'alpine'
    ? [...named, `VERSION_ID=${version}`]
    : [...named, `VERSION_ID="${version}"`, `VERSION_CODENAME=${codename}`]
}

function unfinishedLines({ unfinished = [] }: Place): string[] {
  return unfinished.map((name) => `half-configured ok ${name}`)
}

/** The sections about packages, in the script's order; a simulation that the script leaves out is not there. */
function packageSections(place: Place): [string, string[]][] {
  const unmet = unmetLines(place)
  const reading = ['Reading package lists...', 'Building dependency tree...', 'Reading state information...']
  const code = unmet ? 'code 100' : 'code 0'
  const simulated = (extent: Extent) => [...simulation(place, planOf(place, extent)), code]
  const planned = planOf(place, 'new')
  const isPart = place.upgradable.length > planned.upgrades.length
  const full = isPart ? planOf(place, 'full') : planned
  const sections: [string, string[]][] = [
    ['check', [...reading, ...(unmet ?? []), code]],
    ['held', [...(place.held ?? [])].sort()],
  ]
  if (place.broken) sections.push(['fix', [installed(place, place.broken.needs), 'code 0']])
  sections.push(['planned', simulated('new')], ['upgradable', ['Listing...', ...listed(place), 'code 0']])
  if (planned.installs.length > 0) sections.push(['minimal', simulated('minimal')])
  if (isPart) sections.push(['full', simulated('full')], ['phased', simulated('phased')])
  const operation = operationLine(planned)
  sections.push(
    ['offered', [...full.upgrades, ...full.installs].map(offeredLine).sort()],
    ['installed', [...full.upgrades.map(sourceLine), ...full.removes.map(removedLine)].sort()],
    ['conffiles', full.upgrades.flatMap(({ name, changedFile }) => (changedFile ? [`${name} ${changedFile}`] : []))],
    ['sizes', [...(operation ? [operation] : []), `download ${downloadOf(planned)}`]],
  )
  return sections
}

function simulation(place: Place, { upgrades, installs, removes }: Plan): string[] {
  return [
    ...removes.map(({ name, version }) => `Remv ${name} [${version}]`),
    ...upgrades.map((one) => upgraded(place, one)),
    ...installs.map((one) => installed(place, one)),
  ]
}

function upgraded(place: Place, { name, old, version, suite, arch }: Upgradable): string {
  return `Inst ${name} [${old}] (${version} ${originOf(place, suite)} [${arch}])`
}

function installed(place: Place, { name, version, suite, arch }: Offered): string {
  return `Inst ${name} (${version} ${originOf(place, suite)} [${arch}])`
}

/** The script prints the source package behind a space, and the space also where there is none. */
function offeredLine({ name, arch, version, size, source = '' }: Offered): string {
  return `${name} ${arch} ${version} ${Math.round(size * 1000)} ${source}${source === '' ? '' : ' '}`
}

function sourceLine({ name, arch, old, source = name }: Upgradable): string {
  return `${name} ${arch} ${source} ${old}`
}

function removedLine({ name, version }: Installed): string {
  return `${name} amd64 ${name} ${version}`
}

/** The sections about the system; `reboot` only where a package asks for a restart, `services` only for root. */
function systemSections({ place, user }: Process): [string, string[]][] {
  const { disk = PLENTY, cached = 0, reboot, services = [] } = place
  const space = `${Math.floor(disk.free / BLOCK)} ${BLOCK} ${Math.floor(disk.size / BLOCK)}`
  // A file system of its own for each place, as the number in `stat -f`.
  const id = Buffer.from(place.id).toString('hex')
  const sections: [string, string[]][] = [
    [
      'disk',
      [...['/', '/usr', '/var', '/boot', 'archives'].map((name) => `${name} ${space} ${id}`), `cached ${cached}`],
    ],
  ]
  if (reboot) sections.push(['reboot', [...reboot].sort()])
  sections.push(['kernels', place.id === 'host' ? [KERNEL, KERNEL] : [KERNEL]])
  if (user.uid === 0) sections.push(['services', services.map(({ name, file }) => `${name} ${file}`).sort()])
  return sections
}
