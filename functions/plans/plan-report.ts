import type { PackageUpdate } from '../checks/check.ts'
import { codeOf, inSlices, partsOf, withoutControls } from '../checks/check-blocks.ts'
import { downgradeFindings, dpkgFindings, isKernel } from '../checks/check-report.ts'
import { MOST_PACKAGES, short, simulatedOf } from '../checks/package-report.ts'
import { diskFindings } from '../checks/system-findings.ts'
import { type Finding, findingOf } from '../findings/finding.ts'

/** The result of `PLAN`. `findings` are what forbids the plan (blocking), or must be known. */
export interface PlanReport {
  actions: PackageUpdate[]
  download_bytes: number | null
  disk_bytes: number | null
  findings: Finding[]
}

const KIB = 1024

/**
 * Reads the output of `PLAN` (plan-script.ts). Undefined where the target has no apt, has printed too much, or names a
 * change that the line of a hash cannot hold.
 */
export async function readPlanReport(text: string): Promise<PlanReport | undefined> {
  const { words, sections } = await partsOf(text.split('\n').map(withoutControls))
  const section = (name: string) => sections.get(name) ?? []
  if (words.get('manager') !== 'apt-get' || !words.has('end')) return undefined
  const planned = section('planned')
  if (LISTS.some((name) => section(name).length > MOST_PACKAGES + OTHER_LINES)) return undefined
  const code = codeOf(planned)
  if (code !== 0 && code !== 100) return undefined

  const offers = await offersOf(section('offered'))
  const installed = await installedOf(section('installed'))
  const actions = new Map<string, PackageUpdate>()
  let download: number | null = 0
  let disk = 0
  let isReadable = true
  await inSlices(planned, (line) => {
    const one = simulatedOf(line.replace(/^Purg /, 'Remv '))
    if (!one) return
    const was = installed.get(one.arch === '' ? one.name : `${one.name}:${one.arch}`) ?? installed.get(one.name)
    const offer = offers.get(`${one.name}:${one.arch} ${one.to}`)
    const arch = one.arch || (was?.arch ?? '')
    const size = offer && Number.isSafeInteger(offer.size) && offer.size > 0 ? offer.size : null
    if (one.action !== 'remove') download = size === null || download === null ? null : download + size
    disk += ((offer?.room ?? 0) - (was?.room ?? 0)) * KIB
    const source = offer?.source ?? was?.source ?? null
    const whole = { ...one, arch, size, source }
    isReadable &&= isExact(whole)
    actions.set(`${whole.name}:${arch}`, whole)
  })
  if (!isReadable || actions.size > MOST_PACKAGES) return undefined
  const changes = [...actions.values()]
  const sizes = { download, disk: Number.isSafeInteger(disk) ? disk : null }
  const findings = [
    ...unfinishedFindings(words.has('journal'), section('unfinished')),
    ...(code === 100 ? [refusal(planned)] : []),
    ...downgradeFindings(changes),
    ...diskFindings(section('disk'), sizes, changes.some(isKernel)),
  ]
  return { actions: changes, download_bytes: sizes.download, disk_bytes: sizes.disk, findings }
}

/** The lines of errors, and the exit code. */
const OTHER_LINES = 50
const LISTS = ['planned', 'offered', 'installed']

/** Whether a change has the names and versions that dpkg allows (deb-control(5)), so that its line has four words. */
function isExact({ name, arch, from, to }: PackageUpdate): boolean {
  const versions = [from, to].filter((version) => version !== null)
  return (
    /^[a-z0-9][a-z0-9+.-]{1,199}$/.test(name) &&
    /^[a-z0-9][a-z0-9-]{0,49}$/.test(arch) &&
    versions.length > 0 &&
    versions.every((version) => /^[A-Za-z0-9][A-Za-z0-9.+:~-]{0,249}$/.test(version))
  )
}

/** Reads lines `name arch version size installed-size source [(source version)]`; the installed size is in KiB. */
async function offersOf(lines: readonly string[]) {
  const offers = new Map<string, { size: number; room: number; source: string }>()
  await inSlices(lines, (line) => {
    const [name = '', arch = '', version = '', size = '', room = '', source = ''] = line.split(' ')
    offers.set(`${name}:${arch} ${version}`, {
      size: Number(size),
      room: Number(room) || 0,
      source: short(source) || name,
    })
  })
  return offers
}

/** Reads lines `name arch installed-size source version`, found by name and by `name:arch`. */
async function installedOf(lines: readonly string[]) {
  const installed = new Map<string, { arch: string; room: number; source: string }>()
  await inSlices(lines, (line) => {
    const [name = '', arch = '', room = '', source = ''] = line.split(' ')
    const one = { arch, room: Number(room) || 0, source: short(source) || name }
    installed.set(`${name}:${arch}`, one)
    if (!installed.has(name)) installed.set(name, one)
  })
  return installed
}

/** A journal of dpkg stops apt, and a package that is only half there must be installed again; the rest apt completes. */
function unfinishedFindings(hasJournal: boolean, unfinished: readonly string[]): Finding[] {
  const isStuck = hasJournal || unfinished.some((line) => /^(half-installed|\S+ reinstreq) /.test(line))
  return dpkgFindings(hasJournal, unfinished).map((found) => (isStuck ? { ...found, severity: 'blocking' } : found))
}

/** Returns apt's own reason why it makes no plan. */
function refusal(lines: readonly string[]): Finding {
  const cause = lines.findLast((line) => line.startsWith('E: '))?.slice(3, 300)
  return findingOf(
    'dependencies_broken',
    cause === undefined ? {} : { message: `apt refuse la mise à jour : ${cause}` },
  )
}
