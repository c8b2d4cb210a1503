import { compareApkVersions } from './apk-version.ts'
import { MAX_TRACKER, readTracker } from './arch-tracker.ts'
import { compareArchVersions } from './arch-version.ts'
import { compareDebianVersions } from './debian-version.ts'
import { type Flaw, MAX_COMPRESSED, readDebsecan } from './debsecan.ts'
import { branchOf, MAX_SECDB, PARTS, readSecdb } from './secdb.ts'

/*
 * The releases whose vulnerabilities lists can tell, each by a key: the code name of a release of Debian, `alpine:`
 * with a branch of Alpine, and `arch:rolling`.
 */

/** The beginning of the name of every stored list of vulnerabilities. */
export const OF_RELEASE = 'cve:'
const ALPINE = 'alpine:'
/** Arch has one release, of which the newest version counts. */
const ARCH = 'arch:rolling'

/** The ids of os-release(5) of the distributions that have lists. */
export const WITH_LISTS = ['debian', 'alpine', 'arch'] as const

/** The settings that name the source of such lists. */
export const SOURCE_SETTINGS = ['cveUrl', 'alpineSecdbUrl', 'archSecurityUrl'] as const
export type SourceSetting = (typeof SOURCE_SETTINGS)[number]

/** A kind of lists; each distribution has its own. */
interface Format {
  /** The setting with the address below which each list has its `place`. */
  setting: SourceSetting
  /** The names of the stored lists of a release. */
  lists(release: string): readonly string[]
  /** The path of a list below the address of its source. */
  place(list: string): string
  maxBytes: number
  /** Returns the vulnerabilities of these source packages. Rejects with a BrokenList. */
  read(body: Uint8Array, sources: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly Flaw[]>>
  /** Negative when the first version is the older one, 0 when they are equal, undefined when there is no order. */
  compare(a: string, b: string): number | undefined
}

const DEBSECAN: Format = {
  setting: 'cveUrl',
  lists: (release) => [`${OF_RELEASE}${release}`],
  place: (list) => list.slice(OF_RELEASE.length),
  maxBytes: MAX_COMPRESSED,
  read: readDebsecan,
  compare: compareDebianVersions,
}

const SECDB: Format = {
  setting: 'alpineSecdbUrl',
  lists: (release) => PARTS.map((part) => `${OF_RELEASE}${release}/${part}`),
  place: (list) => `${list.slice(OF_RELEASE.length + ALPINE.length)}.json`,
  maxBytes: MAX_SECDB,
  read: readSecdb,
  compare: compareApkVersions,
}

const TRACKER: Format = {
  setting: 'archSecurityUrl',
  lists: (release) => [`${OF_RELEASE}${release}`],
  place: () => 'all.json',
  maxBytes: MAX_TRACKER,
  read: readTracker,
  compare: compareArchVersions,
}

/** Returns the kind of the lists of a release. */
export function formatOf(release: string): Format {
  if (release === ARCH) return TRACKER
  return release.startsWith(ALPINE) ? SECDB : DEBSECAN
}

/** Returns the key of the release of a system; undefined when no list tells about it. */
export function releaseOf({
  id,
  version_id,
  codename,
}: {
  id: string
  version_id?: string | null | undefined
  codename?: string | null | undefined
}): string | undefined {
  if (id === 'debian') return typeof codename === 'string' && /^[a-z]{1,32}$/.test(codename) ? codename : undefined
  if (id === 'arch') return ARCH
  const branch = id === 'alpine' && typeof version_id === 'string' ? branchOf(version_id) : undefined
  return branch === undefined ? undefined : `${ALPINE}${branch}`
}
