import { type Finding, findingOf, REMEDIES } from '../findings/finding.ts'

/** Bytes of the planned upgrade: `download` from the network, `disk` more on the disk afterwards (negative: less). */
export interface Sizes {
  download: number | null
  disk: number | null
}

/** Parses `download 4802` and apt's `After this operation, 12.3 kB of additional disk space will be used.` */
export function sizesOf(lines: readonly string[]): Sizes {
  const sizes: Sizes = { download: null, disk: null }
  for (const line of lines) {
    const download = /^download (\d{1,15})$/.exec(line)?.[1]
    if (download !== undefined) sizes.download = Number(download)
    const [, amount = '', unit = '', end] =
      /^After this operation, ([\d.,]{1,20}) (\w?B) .*(used|freed)/.exec(line) ?? []
    const bytes = Math.round(Number(amount.replaceAll(',', '')) * 1000 ** ' kMGT'.indexOf(unit[0] ?? ''))
    if (end !== undefined && unit !== 'B' && Number.isSafeInteger(bytes)) sizes.disk = end === 'freed' ? -bytes : bytes
    if (end !== undefined && unit === 'B') sizes.disk = Number(amount) * (end === 'freed' ? -1 : 1)
  }
  return sizes
}

/** An upgrade that leaves less than this on a file system is told. */
const LITTLE = 100 * 1024 * 1024

interface Space {
  name: string
  free: number
  id: string
}

/**
 * Compares the free space with the needs of the planned upgrade. Lines: `<folder> <free blocks> <block size> <blocks>
 * <file system id>`, where the folder of downloads is named `archives`, `folder <path>` of these downloads where it is not
 * that of apt, and `cached <bytes>` that a cleaning frees.
 */
export function diskFindings(lines: readonly string[], sizes: Sizes, hasKernel: boolean): Finding[] {
  const spaces = new Map<string, Space>()
  let cached = 0
  let folder = '/var/cache/apt/archives'
  for (const line of lines.slice(0, 20)) {
    const [name = '', blocks, size, , id = ''] = line.split(' ')
    if (name === 'cached') cached = Number(blocks) || 0
    else if (name === 'folder') folder = (blocks ?? '').slice(0, 100)
    else if (Number(size) > 0) spaces.set(name, { name, free: Number(blocks) * Number(size), id })
  }
  const downloads = spaces.get('archives')
  const system = spaces.get('/usr') ?? spaces.get('/')
  const need = new Map<string, number>()
  const add = (space: Space | undefined, bytes: number | null) => {
    if (space && bytes !== null && bytes > 0) need.set(space.id, (need.get(space.id) ?? 0) + bytes)
  }
  add(downloads, sizes.download)
  add(system, sizes.disk)
  const told = new Set<string>()
  return [...spaces.values()].flatMap((space) => {
    const isFirst = !told.has(space.id)
    told.add(space.id)
    // Downloads are removed again, so only a lack counts there; and /boot matters when a kernel arrives.
    const isOnlyCache = space === downloads
    if (!isFirst || (space.name === '/boot' && !hasKernel)) return []
    const needed = need.get(space.id) ?? 0
    const name = isOnlyCache ? folder : space.name
    const cleans = downloads?.id === space.id && cached > 0
    if (needed > space.free) {
      const lack = `La place manque sur ${name} : la mise à jour demande ${amountOf(needed)}, il reste ${amountOf(space.free)}.`
      const remedy = cleans && space.free + cached >= needed ? REMEDIES.CLEAN : REMEDIES.TERMINAL
      return [findingOf('disk_low', { message: lack, remedy })]
    }
    const left = space.free - needed
    if (isOnlyCache || left >= LITTLE) return []
    const message = `Il ne reste presque plus de place sur ${name} : ${amountOf(left)} après la mise à jour.`
    return [
      findingOf('disk_low', { severity: 'warning', message, remedy: cleans ? REMEDIES.CLEAN : REMEDIES.TERMINAL }),
    ]
  })
}

/** An amount in the units of the panel, which grow by 1024. */
function amountOf(bytes: number): string {
  const [amount, unit] = bytes >= 2 ** 30 ? [bytes / 2 ** 30, 'Gio'] : [bytes / 2 ** 20, 'Mio']
  return `${amount.toLocaleString('fr', { maximumFractionDigits: 1 })} ${unit}`
}

/** Recognises a read-only root in lines `<mount point> rw|ro`, of which the last one of a mount point is in force. */
export function mountFindings(lines: readonly string[]): Finding[] {
  const modes = new Map(
    lines.slice(0, 50).map((line) => [(line.split(' ')[0] ?? '').slice(0, 100), line.split(' ')[1]]),
  )
  const locked = [...modes].flatMap(([place, mode]) => (mode === 'ro' ? [place] : []))
  if (locked.length === 0) return []
  const message = `${locked.join(', ')} en lecture seule : rien ne peut être installé.`
  return [findingOf('root_read_only', { message })]
}

/** Files that a message names. */
const NAMED = 5

/** Names the changed configuration files of planned packages; lines `<package> <file>`. */
export function conffileFindings(lines: readonly string[]): Finding[] {
  const files = lines.slice(0, 100).map((line) => line.slice(line.indexOf(' ') + 1, 300))
  const packages = [...new Set(lines.slice(0, 100).map((line) => line.split(' ')[0] ?? ''))]
  if (files.length === 0) return []
  const more = files.length > NAMED ? ` et ${files.length - NAMED} autres` : ''
  const named = `${files.slice(0, NAMED).join(', ')}${more}`
  const message = `Vous avez modifié ${named} : votre version est gardée ; si la nouvelle diffère, elle est posée à côté (.dpkg-dist).`
  return [findingOf('conffile_changed', { packages, message })]
}

/** A line of cron that upgrades: `cron <tool> <line> <file>`. A target may print anything, so only these files pass. */
const CRON_LINE =
  /^cron (apt|apk|dnf|zypper|pacman|unattended|lxcs) ([1-9]\d{0,4}) (\/etc\/crontab|\/etc\/cron\.d\/[\w-]{1,100}|(?:\/var\/spool\/cron|\/etc)\/crontabs\/root|\/var\/spool\/cron\/root)$/
const CRON_TOOLS: Readonly<Record<string, string>> = {
  apt: 'apt',
  apk: 'apk',
  dnf: 'dnf',
  zypper: 'zypper',
  pacman: 'pacman',
  unattended: 'unattended-upgrade',
  lxcs: 'update-lxcs',
}

/** Tells what else upgrades a target, from the lines of `UPGRADERS` (upgraders-script.ts). */
export function otherUpgraderFindings(lines: readonly string[]): Finding[] {
  const told = lines.slice(0, 30)
  const places = told.flatMap((line) => {
    const [, tool = '', number = '', file = ''] = CRON_LINE.exec(line) ?? []
    return file === '' ? [] : [`ligne ${number} de ${file} (${CRON_TOOLS[tool] ?? tool})`]
  })
  const more = places.length > NAMED ? ` et ${places.length - NAMED} autres` : ''
  const named = `${places.slice(0, NAMED).join(', ')}${more}`
  const byCron = `Cron lance des mises à jour sans instantané et à côté des plans : ${named}.`
  return [
    ...(told.includes('unattended') ? [findingOf('other_upgrader')] : []),
    ...told.flatMap((line) => {
      const unit = /^timer ([a-z0-9-]{1,50})$/.exec(line)?.[1]
      const message = `${unit}.timer installe des mises à jour de lui-même, sans instantané et à côté des plans.`
      return unit === undefined ? [] : [findingOf('other_upgrader', { message, remedy: REMEDIES.TERMINAL })]
    }),
    ...(places.length > 0 ? [findingOf('other_upgrader', { message: byCron, remedy: REMEDIES.TERMINAL })] : []),
  ]
}

/** Names the packages that a selection asked for and apt leaves out. */
export function leftOutFindings(packages: readonly string[]): Finding[] {
  if (packages.length === 0) return []
  const message = 'Des paquets de ce choix restent tels quels : apt ne peut pas les mettre à jour maintenant.'
  return [findingOf('kept_back_dependencies', { packages: [...packages], message })]
}

/** Forbids a plan that changes packages which it was to leave alone. */
export function excludedFindings(packages: readonly string[]): Finding[] {
  if (packages.length === 0) return []
  const named = packages.slice(0, NAMED).join(', ')
  const more = packages.length > NAMED ? ` et ${packages.length - NAMED} autres` : ''
  const message = `La mise à jour changerait aussi ${named}${more}, que ce choix laisse de côté : choisissez autrement.`
  return [findingOf('kept_back_dependencies', { severity: 'blocking', packages: [...packages], message })]
}

/** Says of a plan that no check has told how old the lists are, and what is left alone. */
export function uncheckedFinding(): Finding {
  const message = 'Cette cible n’a jamais été vérifiée : ses listes de paquets sont peut-être anciennes.'
  return findingOf('lists_stale', { message })
}
