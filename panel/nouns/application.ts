import type { Answer } from '../../client/index.ts'
import { ofPanel } from './attention.ts'
import type { Check } from './checked.ts'

/** An application beside the packages of a target. */
export type Application = Answer<'GET /api/updates/applications'>['applications'][number]
/** The code or the images of an update, as they were fetched last. */
export type Source = Answer<'POST /api/updates/applications/source'>
export type SourceFile = Source['files'][number]

/**
 * How a row shows an application. `agreed` and `unread`: the panel can update it; the first has the agreement of an administrator.
 * `manual`: only somebody in a terminal can. `itself`: it is newer elsewhere, and its manager installs that by itself. `unknown`: nobody could tell
 * whether there is a newer version.
 */
export type Standing = 'agreed' | 'unread' | 'manual' | 'itself' | 'unknown' | 'current'

/** Returns the standing of an application; `findings` are those of its target. Nothing is current while a look could not tell. */
export function standingOf(one: Application, findings: Check['findings']): Standing {
  const { kind, available, updatable, source } = one
  if (updatable) return source?.agreed ? 'agreed' : 'unread'
  const isOfPeople = kind === 'flatpak' || kind === 'snap'
  if (available !== null) return isOfPeople ? 'itself' : 'manual'
  if (kind === 'community_script') return 'manual'
  return findings.some((finding) => isAbout(finding, one)) ? 'unknown' : 'current'
}

/** Whether a warning says that a look could not tell everything about an application. */
function isAbout(
  { code, severity, packages, message }: Check['findings'][number],
  { kind, name }: Application,
): boolean {
  if (code !== 'application_update' || severity === 'info') return false
  if (packages.length > 0) return packages.includes(name)
  // Without a name it is about all of a kind, which its sentence begins with.
  const [, about] = /^Application non vérifiée — (community_script|compose|flatpak|snap)\s: /.exec(message) ?? []
  return about === undefined || about === kind
}

/** An agreement that the service has told. */
export interface Agreement {
  digest: string
  by: string
  at: string
}

/**
 * The word of an agreement, the newest one that is known, on what was fetched: `told` is to exactly this, `former` to something else. It says
 * nothing once the service answers that nobody agrees to this digest any more.
 */
export function agreementFor(
  agreement: Agreement | undefined,
  source: Pick<Source, 'digest' | 'agreed'> | undefined,
): { told?: Agreement; former?: Agreement } {
  if (agreement === undefined) return {}
  if (source === undefined) return { told: agreement }
  if (agreement.digest !== source.digest) return { former: agreement }
  return source.agreed ? { told: agreement } : {}
}

/** The action of a row. */
export type ApplicationDeed = 'read' | 'update' | 'terminal'

interface Viewed {
  isAdmin: boolean
  /** Whether the user works on this target. */
  mayOperate: boolean
  isHost: boolean
}

export function deedOf(standing: Standing, { isAdmin, mayOperate, isHost }: Viewed) {
  if (!mayOperate) return undefined
  if (standing === 'unread') return isHost ? undefined : ('read' satisfies ApplicationDeed)
  if (standing === 'agreed') return isHost ? undefined : isAdmin ? 'update' : 'read'
  return standing === 'manual' && isAdmin ? ('terminal' satisfies ApplicationDeed) : undefined
}

/** How many applications the checks name as updated by a script of their own, or as offered in a newer version. */
export function applicationsIn(checks: readonly Check[]): number {
  return checks
    .filter(({ state }) => state !== 'stopped')
    .reduce((sum, check) => {
      const told = check.findings.filter(
        (finding) => finding.code === 'application_update' && finding.severity === 'info' && !ofPanel(finding),
      )
      return sum + new Set(told.flatMap(({ packages }) => packages)).size
    }, 0)
}

/** The images of one service of a stack. */
export interface StackImage {
  service: string
  image: string
  /** `sha256:…`; equal to `to` where nothing changes. */
  from: string
  to: string
  /** Whether the registry has told the newest one. */
  isKnown: boolean
}

const DIGEST = 'sha256:[0-9a-f]{64}'
const CHANGE = new RegExp(`^  (${DIGEST})(?: -> (${DIGEST}))?( \\?)?$`)

/** Reads the one text of a stack; undefined where it has another form, so that the text itself is shown. */
export function imagesIn(text: string): StackImage[] | undefined {
  const lines = text.replace(/\n$/, '').split('\n')
  const images: StackImage[] = []
  for (let at = 0; at < lines.length; at += 2) {
    const [, service, image] = /^([A-Za-z0-9._-]+): (\S+)$/.exec(lines[at] ?? '') ?? []
    const [whole, from = '', to = from, unknown] = CHANGE.exec(lines[at + 1] ?? '') ?? []
    if (service === undefined || image === undefined || whole === undefined) return undefined
    images.push({ service, image, from, to, isKnown: unknown === undefined })
  }
  return images
}

/**
 * The images of a stack in its versions, which are a list such as `caddy:2 0f1e2d3c4b5a, redis:7 …`: each image that changes, with its digests
 * before and after. Undefined for any other text, for one that was cut, and where one image has several digests.
 */
export function imageChanges(before: string | null, after: string | null): { from: string; to: string }[] | undefined {
  const from = imageList(before)
  const to = imageList(after)
  if (!from || !to) return undefined
  const changes = to.flatMap(({ image, digest }) => {
    const [was, ...more] = from.filter((each) => each.image === image)
    return was && more.length === 0 ? [{ from: `${image} ${was.digest}`, to: digest }] : []
  })
  return changes.length === to.length ? changes : undefined
}

function imageList(text: string | null): { image: string; digest: string }[] | undefined {
  const found = (text ?? '').split(', ').map((each) => /^(\S+) ([0-9a-f]{12})$/.exec(each) ?? undefined)
  const images = found.flatMap((match) => (match ? [{ image: match[1] ?? '', digest: match[2] ?? '' }] : []))
  return images.length === found.length ? images : undefined
}

/** Twelve digits of a digest, as Docker and git show them. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, '').slice(0, 12)
}

/** How a file differs from the one that was there before. */
export type FileChange = 'same' | 'changed' | 'new'

/** Compares what is fetched now with what was read before, file by file; `gone` has the addresses that are no longer there. */
export function changesSince(before: Source, now: Source): { of(address: string): FileChange; gone: string[] } {
  const known = new Map(before.files.map(({ address, digest }) => [address, digest]))
  const digests = new Map(now.files.map(({ address, digest }) => [address, digest]))
  return {
    of(address) {
      const was = known.get(address)
      return was === undefined ? 'new' : was === digests.get(address) ? 'same' : 'changed'
    },
    gone: before.files.flatMap(({ address }) => (digests.has(address) ? [] : [address])),
  }
}

/** The line with which a run ends: the versions before and after, null where a script notes none. */
const VERSIONS = /^ops-panel: version (.{1,1000}?) -> (.{1,1000})$/

/** Returns the versions that a line of an output tells; undefined for every other line. */
export function versionsIn(line: string): { from: string | null; to: string | null } | undefined {
  const [, from, to] = VERSIONS.exec(line) ?? []
  if (from === undefined || to === undefined) return undefined
  return { from: from === '-' ? null : from, to: to === '-' ? null : to }
}
