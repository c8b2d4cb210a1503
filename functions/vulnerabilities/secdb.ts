import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseJson } from '../../platform/untrusted.ts'
import { BrokenList, type Flaw, ID } from './debsecan.ts'

/** Most bytes of a list, several times the size of a real one. */
export const MAX_SECDB = 8 * 1024 * 1024
const MAX_PACKAGES = 50_000
/** Most fixes of one package, and most in a list. */
const MAX_OF_PACKAGE = 10_000
const MAX_FIXES = 500_000
const MAX_TEXT = 1_024
const PACKAGES_PER_TURN = 200

/** The parts of the archive that have a list each. */
export const PARTS = ['main', 'community'] as const

/**
 * Returns the branch whose lists tell about a release of Alpine, by the `VERSION_ID` of os-release(5): `v3.20` for
 * `3.20.3`, `edge` for a version that is not released yet. Undefined for any other text.
 */
export function branchOf(versionId: string): string | undefined {
  if (/^\d{1,3}\.\d{1,3}(\.\d{1,3})?_alpha\d{1,12}$/.test(versionId) || versionId === 'edge') return 'edge'
  const match = /^(\d{1,3}\.\d{1,3})(\.\d{1,5})?$/.exec(versionId)
  return match ? `v${match[1]}` : undefined
}

/**
 * Reads a list of Alpine's security database (JSON) and returns the vulnerabilities of these source packages. A list
 * names the versions with a fix alone: every older one counts as vulnerable. Version `0` stands for packages that never
 * had the flaw. Rejects with a BrokenList.
 */
export async function readSecdb(
  body: Uint8Array,
  sources: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Flaw[]>> {
  if (body.byteLength > MAX_SECDB) throw new BrokenList('too many bytes')
  const packages = fieldOf(parseJson(Buffer.from(body).toString()), 'packages')
  if (!Array.isArray(packages) || packages.length === 0 || packages.length > MAX_PACKAGES)
    throw new BrokenList('no list of packages')
  const found = new Map<string, Flaw[]>()
  let fixes = 0
  for (const [at, each] of packages.entries()) {
    if (at % PACKAGES_PER_TURN === 0) await nextTurn()
    const entry = fieldOf(each, 'pkg')
    const name = fieldOf(entry, 'name')
    if (typeof name !== 'string') throw new BrokenList('a package without a name')
    const flaws = flawsOf(fieldOf(entry, 'secfixes'))
    fixes += flaws.length
    if (fixes > MAX_FIXES) throw new BrokenList('too many fixes')
    if (!sources.has(name)) continue
    const known = found.get(name)
    if (known) known.push(...flaws)
    else found.set(name, flaws)
  }
  if (fixes === 0) throw new BrokenList('no vulnerability')
  return found
}

/** `{"1.2.3-r0": ["CVE-2024-0001 GHSA-…", …]}`: an entry may have several ids, and remarks between them. */
function flawsOf(secfixes: unknown): Flaw[] {
  if (typeof secfixes !== 'object' || secfixes === null) throw new BrokenList('a package without fixes')
  const flaws: Flaw[] = []
  for (const [fixedIn, given] of Object.entries(secfixes)) {
    // An empty list of one version is null in some of them.
    const entries: unknown = given ?? []
    if (!Array.isArray(entries)) throw new BrokenList('fixes in another format')
    for (const entry of entries) {
      if (typeof entry !== 'string' || entry.length > MAX_TEXT) throw new BrokenList('a fix in another format')
      const ids = entry.split(/[\s,;()]+/).filter((word) => ID.test(word))
      if (fixedIn === '0') continue
      flaws.push(...ids.map((id) => ({ id, urgency: null, fixedIn, others: [] })))
    }
    if (flaws.length > MAX_OF_PACKAGE) throw new BrokenList('too many fixes of one package')
  }
  return flaws
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
