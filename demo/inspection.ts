import { ownPlace } from '../platform/program.ts'
import { applicationSections } from './application.ts'
import { listed } from './apt.ts'
import { unmetLines } from './apt-output.ts'
import { managedSections } from './managed.ts'
import { BOOKWORM, managedOf, type Place, programOf } from './place.ts'
import { diskLines } from './disk.ts'
import { downloadOf, type Extent, operationLine, planOf } from './plan.ts'
import type { Process, Program } from './process.ts'
import { addressesOf } from './repositories.ts'
import { mainPid } from './services.ts'
import { type Shell, wordsOf } from './sh.ts'
import { installed, installedLine, offeredLine, simulation } from './simulation.ts'

/** The running kernel of the host, which its containers share. */
export const KERNEL = '6.1.0-37-amd64'

/** Imitates `INSPECTION`, which prints sections: a word, indented lines, an empty line. */
export function createInspection({ heard }: Shell): Program {
  return async ([sudo = ''], process) => {
    const { place } = process
    const section = (name: string, lines: readonly string[]) =>
      process.stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)

    await section('os', osLines(place))
    await section('standing', await standingLines(place))
    const manager = managedOf(place)
    await process.stdout(`manager ${programOf(place)}\n`)
    if (programOf(place) === 'none') return 0
    await section('mounts', [`/ ${place.readOnly ? 'ro' : 'rw'}`])
    if (manager) {
      for (const [name, lines] of managedSections(place, manager)) await section(name, lines)
      const [, ...others] = systemSections(process)
      for (const [name, lines] of others) await section(name, lines)
      await process.stdout('end\n')
      return 0
    }
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

/** The packages that dpkg has not finished. */
export function unfinishedLines({ unfinished = [] }: Place): string[] {
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
    ['offered', [...full.upgrades, ...full.installs].map((one) => offeredLine(one)).sort()],
    ['installed', [...full.upgrades, ...full.removes].map((one) => installedLine(one)).sort()],
    [
      'conffiles',
      full.upgrades.flatMap(({ name, changedFile }) => (changedFile ? [`${name} ${changedFile.file}`] : [])),
    ],
    ['sizes', [...(operation ? [operation] : []), `download ${downloadOf(planned)}`]],
  )
  return sections
}

/** The sections about the system; `reboot` only where a package asks for a restart, services only for root. */
function systemSections(process: Process): [string, string[]][] {
  const { place, user } = process
  const { reboot, services = [], upgraders = [] } = place
  const sections: [string, string[]][] = [['disk', diskLines(place)]]
  if (reboot) sections.push(['reboot', [...reboot].sort()])
  sections.push(['kernels', place.id === 'host' ? [KERNEL, KERNEL] : [KERNEL]])
  sections.push(['upgraders', upgraders])
  const outdated = services
    .map(({ kind = 'service', name, file, from }) => `${kind} ${name} ${mainPid(place, name)} ${from} ${file}`)
    .sort()
  sections.push(['services', user.uid === 0 ? [...outdated, 'whole'] : []])
  sections.push(...applicationSections(process))
  return sections
}

/**
 * Imitates `STANDING`: each place has a boot id and a pid namespace of its own, except for the one where the panel of the
 * demo is said to run, which has those of this process.
 */
async function standingLines({ id, hasPanel = false }: Place): Promise<string[]> {
  const own = hasPanel ? await ownPlace() : undefined
  const number = id === 'host' ? 1 : Number(id)
  const boot = own?.boot ?? `5b1d7c2e-0000-4000-8000-${String(number).padStart(12, '0')}`
  return [`place ${boot} pid:[${own?.namespace ?? number}]`, `address 10.0.0.${number % 250}/24 eth0`]
}
