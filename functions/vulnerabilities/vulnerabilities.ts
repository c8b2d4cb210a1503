import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../db/libsql/database.ts'
import { readSecurityData, securityDataStates } from '../../db/security-data.ts'
import type { Config } from '../../platform/config.ts'
import { compareDebianVersions } from './debian-version.ts'
import { BrokenList, type Flaw, readDebsecan } from './debsecan.ts'
import { readExploited } from './exploited.ts'

/** A vulnerability that an upgrade fixes. */
export interface Fixed {
  id: string
  urgency: 'high' | 'medium' | 'low' | null
  known_exploited: boolean
}

export interface Vulnerabilities {
  /**
   * Returns the vulnerabilities of the version `from` of a source package that the version `to` does not have: at most
   * 50, the known exploited ones first, then by urgency, then the newest.
   */
  fixedBy(change: { source: string; from: string; to: string }): Fixed[]
}

/** The name of the stored list of known exploited vulnerabilities. */
export const KNOWN_EXPLOITED = 'kev'
const OF_RELEASE = 'cve:'

/** Returns the name of the stored list of a release of Debian. */
export function listOf(codename: string): string {
  return `${OF_RELEASE}${codename}`
}

const MOST = 50
const RANKS = { high: 0, medium: 1, low: 2 } as const

/**
 * Reads what is stored about the vulnerabilities of these source packages in a release of Debian; undefined when no
 * list of it is stored. The whole list is parsed in each call, and only the part about these packages stays in memory.
 */
export async function vulnerabilitiesFor(
  db: Database,
  codename: string,
  sources: ReadonlySet<string>,
): Promise<Vulnerabilities | undefined> {
  const body = await readSecurityData(db, listOf(codename))
  if (!body) return undefined
  const flaws = await flawsIn(body, sources)
  if (!flaws) return undefined
  const known = await readSecurityData(db, KNOWN_EXPLOITED)
  const exploited = known ? readExploited(known) : new Set<string>()
  // A source has up to thousands of them, and a target may name one source for thousands of packages.
  const ranked = new Map<string, (Flaw & Fixed)[]>()
  for (const [source, found] of flaws) {
    await nextTurn()
    ranked.set(
      source,
      found.map((flaw) => ({ ...flaw, known_exploited: exploited.has(flaw.id) })).sort(mostUrgentFirst),
    )
  }
  return {
    fixedBy({ source, from, to }) {
      const fixed: Fixed[] = []
      for (const flaw of ranked.get(source) ?? []) {
        if (fixed.length === MOST) break
        const { id, urgency, known_exploited } = flaw
        if (has(flaw, from) && !has(flaw, to)) fixed.push({ id, urgency, known_exploited })
      }
      return fixed
    },
  }
}

/** A list was read whole before it was stored, so a broken one was damaged since. */
async function flawsIn(body: Uint8Array, sources: ReadonlySet<string>) {
  try {
    return await readDebsecan(body, sources)
  } catch (error) {
    if (error instanceof BrokenList) return undefined
    throw error
  }
}

/** Whether a version of the source package has the flaw, as debsecan(1) decides it. */
function has({ fixedIn, others }: Flaw, version: string): boolean {
  if (others.includes(version)) return false
  return fixedIn === '' || compareDebianVersions(version, fixedIn) < 0
}

function mostUrgentFirst(one: Fixed, other: Fixed): number {
  return (
    Number(other.known_exploited) - Number(one.known_exploited) ||
    rankOf(one) - rankOf(other) ||
    // Ids have a year and a number, which sort like the parts of a version.
    compareDebianVersions(other.id, one.id)
  )
}

function rankOf({ urgency }: Fixed): number {
  return urgency === null ? 3 : RANKS[urgency]
}

/** The age of stored lists: when the newest one was fetched whole, and the last failure as a French sentence. */
export interface ListsState {
  at: string | null
  error: string | null
}

/** Returns the state of the lists of vulnerabilities and of known exploited ones; null where no source is set. */
export async function vulnerabilityState(
  db: Database,
  { cveUrl, kevUrl }: Pick<Config, 'cveUrl' | 'kevUrl'>,
): Promise<{ cve: ListsState | null; kev: ListsState | null }> {
  if (cveUrl === undefined && kevUrl === undefined) return { cve: null, kev: null }
  const stored = await securityDataStates(db)
  const stateOf = (belongs: (name: string) => boolean): ListsState => {
    const lists = stored.filter(({ name }) => belongs(name))
    const dates = lists.flatMap(({ fetched_at }) => fetched_at ?? []).sort()
    const failed = lists.filter(({ error }) => error !== null).sort((a, b) => (a.tried_at < b.tried_at ? 1 : -1))
    return { at: dates.at(-1) ?? null, error: failed[0]?.error ?? null }
  }
  return {
    cve: cveUrl === undefined ? null : stateOf((name) => name.startsWith(OF_RELEASE)),
    kev: kevUrl === undefined ? null : stateOf((name) => name === KNOWN_EXPLOITED),
  }
}
