import { MOST_PACKAGES, type PackageUpdate, type ReportedPackages, type SourceChange } from './package-update.ts'
import { inSlices } from './sections.ts'
import { add, newSum, totalOf } from './sizes.ts'

/*
 * Reads the lines that the functions of manager.ts print, with `|` between their fields. A line of another form, a field
 * with other characters, or a missing end makes an answer unreadable: half an answer would be a plan of something else.
 */

/** Lines of one answer, besides those of packages. */
const OTHER_LINES = 1_000
/** Messages of one answer that are kept, and characters of each. */
const MOST_TOLD = 20
const LONGEST = 300

/** The answer of `m_changes`. `problems` stand in the way; `code` is 0 for a whole answer. */
export interface Changes extends ReportedPackages {
  isUnsupported: boolean
  /** Whether there are more repositories than are read. */
  isCrowded: boolean
  problems: string[]
  /** Bytes to download, and bytes on the disk afterwards; null where one of them is unknown. */
  download: number | null
  room: number | null
  code: number
}

/** Reads what `m_changes` tells; undefined when it cannot be read. */
export async function changesOf(lines: readonly string[]): Promise<Changes | undefined> {
  const packages: PackageUpdate[] = []
  const changes = new Map<PackageUpdate, SourceChange>()
  const problems: string[] = []
  const [download, room] = [newSum(), newSum()]
  let total: { download: number | null; room: number | null } | undefined
  if (lines.length > 0 && lines.every((line, at) => (at === 0 ? line === 'unsupported' : /^code\|\d{1,5}$/.test(line))))
    return { packages, changes, problems, isUnsupported: true, isCrowded: false, download: null, room: null, code: 0 }
  let isCrowded = false
  const code = await answerOf(lines, (word, fields) => {
    if (word === 'crowded' && fields.length === 0) {
      isCrowded = true
      return true
    }
    if (word === 'problem' && fields.length === 1) {
      tell(problems, fields[0])
      return true
    }
    if (word === 'total' && fields.length === 2 && total === undefined) {
      const [all, space] = [numberOf(fields[0] ?? '', /^\d{1,15}$/), numberOf(fields[1] ?? '', /^-?\d{1,15}$/)]
      if (all !== undefined && space !== undefined) total = { download: all, room: space }
      return total !== undefined
    }
    const [action = '', name, arch, from, to, origin = '', security, size = '', space = '', source = ''] = fields
    const one = packageOf({ action, name, arch, from, to, origin, security })
    const sizes = numberOf(size, /^\d{1,15}$/)
    const spaces = numberOf(space, /^-?\d{1,15}$/)
    const isTold = word === 'change' && fields.length === 10 && isText(source)
    if (!one || !isTold || sizes === undefined || spaces === undefined) return false
    const whole = { ...one, size: one.action === 'remove' ? null : sizes, source: absent(source) }
    if (one.action !== 'remove') add(download, sizes)
    add(room, spaces)
    packages.push(whole)
    if (whole.source !== null && whole.from !== null && whole.to !== null)
      changes.set(whole, { source: whole.source, from: whole.from, to: whole.to })
    return true
  })
  if (code === undefined || packages.length > MOST_PACKAGES) return undefined
  const sums = total ?? { download: totalOf(download), room: totalOf(room) }
  return { packages, changes, problems, isUnsupported: false, isCrowded, ...sums, code }
}

/** The answer of `m_left`: the upgrades that are left alone, each with its reason, and the names that are held. */
export interface Left {
  packages: PackageUpdate[]
  held: string[]
  code: number
}

const LEFT = {
  held: { status: 'held', reason: 'held' },
  kept_back_remove: { status: 'kept_back', reason: 'kept_back_remove' },
  kept_back_dependencies: { status: 'kept_back', reason: 'kept_back_dependencies' },
} as const

/** Reads what `m_left` tells; undefined when it cannot be read. */
export async function leftOf(lines: readonly string[]): Promise<Left | undefined> {
  const packages: PackageUpdate[] = []
  const held: string[] = []
  const code = await answerOf(lines, (word, fields) => {
    // A hold may be a pattern.
    if (word === 'hold' && fields.length === 1) {
      held.push((fields[0] ?? '').slice(0, LONGEST))
      return true
    }
    const [because = '', name, arch, from, to, origin = '', security] = fields
    const reason = because === 'held' || because === 'kept_back_remove' || because === 'kept_back_dependencies'
    // A removal brings new packages, and takes others.
    const isWith = because === 'kept_back_remove'
    const action = isWith && from === '-' ? 'install' : isWith && to === '-' ? 'remove' : 'upgrade'
    const one = packageOf({ action, name, arch, from, to, origin, security })
    if (word !== 'left' || fields.length !== 7 || !reason || !one) return false
    packages.push({ ...one, ...LEFT[because] })
    return true
  })
  return code === undefined || packages.length > MOST_PACKAGES ? undefined : { packages, held, code }
}

/** The answer of `m_refresh`. */
export interface Refresh {
  repositories: { id: string; address: string }[]
  failed: { code: string; id: string; message: string }[]
  isLocked: boolean
  /** Whether more are enabled than those. */
  isCrowded: boolean
  /** How many repositories have lists that can be read now. */
  lists: number
  /** Why the account may not refresh, where a sudo rule does not allow it. */
  lacking: string | undefined
  code: number
}

/** No target should have so many repositories. */
export const MOST_REPOSITORIES = 200

/** Reads what `m_refresh` tells; undefined when it cannot be read. */
export async function refreshOf(lines: readonly string[]): Promise<Refresh | undefined> {
  const none = { isLocked: false, isCrowded: false, lists: 0, lacking: undefined }
  const found: Omit<Refresh, 'code'> = { repositories: [], failed: [], ...none }
  const code = await answerOf(lines, (word, fields) => {
    const [first = '', second = '', third = ''] = fields
    if (word === 'repository' && fields.length === 2 && found.repositories.length < MOST_REPOSITORIES)
      found.repositories.push({ id: first.slice(0, LONGEST), address: second.slice(0, LONGEST) })
    else if (word === 'failed' && fields.length === 3 && /^\d{1,5}$/.test(first)) {
      if (found.failed.length < MOST_REPOSITORIES)
        found.failed.push({ code: first, id: second.slice(0, LONGEST), message: third.slice(0, LONGEST) })
    } else if (word === 'locked' && fields.length === 0) found.isLocked = true
    else if (word === 'crowded' && fields.length === 0) found.isCrowded = true
    else if (word === 'lists' && fields.length === 1 && /^\d{1,5}$/.test(first)) found.lists = Number(first)
    else if (word === 'lacking' && fields.length === 1) found.lacking = first.slice(0, LONGEST)
    else return false
    return true
  })
  return code === undefined ? undefined : { ...found, code }
}

/** The answer of `m_verify`: packages with unmet dependencies, and what an interrupted run has left. */
export interface Verified {
  broken: { name: string; message: string }[]
  unfinished: { name: string; message: string }[]
  code: number
}

/** Reads what `m_verify` tells; undefined when it cannot be read. */
export async function verifiedOf(lines: readonly string[]): Promise<Verified | undefined> {
  const found: Omit<Verified, 'code'> = { broken: [], unfinished: [] }
  const code = await answerOf(lines, (word, fields) => {
    const [name = '', message = ''] = fields
    if (fields.length !== 2 || (word !== 'broken' && word !== 'unfinished')) return false
    if (found[word].length < OTHER_LINES)
      found[word].push({ name: name.slice(0, LONGEST), message: message.slice(0, LONGEST) })
    return true
  })
  return code === undefined ? undefined : { ...found, code }
}

/** Passes each line to `take` and returns the code of the last one; undefined where a line or the end is not as it must be. */
async function answerOf(
  lines: readonly string[],
  take: (word: string, fields: string[]) => boolean,
): Promise<number | undefined> {
  const end = /^code\|(\d{1,5})$/.exec(lines.at(-1) ?? '')?.[1]
  if (end === undefined || lines.length > MOST_PACKAGES + OTHER_LINES) return undefined
  let isReadable = true
  await inSlices(lines.slice(0, -1), (line) => {
    const [word = '', ...fields] = line.split('|')
    isReadable &&= take(word, fields)
  })
  return isReadable ? Number(end) : undefined
}

const NAME = /^[A-Za-z0-9_.@+~][A-Za-z0-9_.@+~-]{0,199}$/
const ARCH = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,49}$/
/** Printable characters without a space, so that the line of a hash has four words. */
const VERSION = /^[!-~]{1,250}$/

const isText = (text: string) => text.length > 0 && text.length <= 256
const absent = (text: string | undefined) => (text === undefined || text === '-' ? null : text)

function packageOf({
  action,
  name = '',
  arch = '',
  from = '',
  to = '',
  origin,
  security,
}: {
  action: string
  name: string | undefined
  arch: string | undefined
  from: string | undefined
  to: string | undefined
  origin: string
  security: string | undefined
}): PackageUpdate | undefined {
  // Another build of the same version is an upgrade, as it is for apt.
  const kind = action === 'reinstall' ? 'upgrade' : action
  if (kind !== 'upgrade' && kind !== 'install' && kind !== 'remove' && kind !== 'downgrade') return undefined
  const [was, will] = [absent(from), absent(to)]
  const hasVersions = (was !== null) === (kind !== 'install') && (will !== null) === (kind !== 'remove')
  const isReadable = NAME.test(name) && ARCH.test(arch) && VERSION.test(from) && VERSION.test(to) && isText(origin)
  if (!hasVersions || !isReadable || (security !== '0' && security !== '1')) return undefined
  return {
    name,
    arch,
    from: was,
    to: will,
    action: kind,
    origin: absent(origin),
    security: security === '1',
    size: null,
    source: null,
    cves: [],
    status: 'planned',
    reason: null,
  }
}

/** Returns null for an unknown number, and undefined for none. */
function numberOf(text: string, form: RegExp): number | null | undefined {
  if (text === '-') return null
  return form.test(text) ? Number(text) : undefined
}

function tell(told: string[], message = ''): void {
  if (told.length < MOST_TOLD) told.push(message.slice(0, LONGEST))
}
