import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../db/libsql/database.ts'
import { readSecurityData, securityDataStates } from '../../db/security-data.ts'
import type { Config } from '../../platform/config.ts'
import { compareDebianVersions } from './debian-version.ts'
import { BrokenList, type Flaw } from './debsecan.ts'
import { readExploited } from './exploited.ts'
import { formatOf, OF_RELEASE, SOURCE_SETTINGS, type SourceSetting } from './releases.ts'

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

const MOST = 50
const RANKS = { high: 0, medium: 1, low: 2 } as const

/**
 * Reads what is stored about the vulnerabilities of these source packages in a release (releases.ts); undefined when
 * one of its lists is not stored. Every list is parsed whole in each call, and only the part about these packages stays
 * in memory.
 */
export async function vulnerabilitiesFor(
  db: Database,
  release: string,
  sources: ReadonlySet<string>,
): Promise<Vulnerabilities | undefined> {
  const { compare } = formatOf(release)
  const flaws = await flawsOf(db, release, sources)
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
  /** Whether a version of the source package has the flaw, as debsecan(1) decides it; undefined where none can tell. */
  const has = ({ fixedIn, others }: Flaw, version: string): boolean | undefined => {
    if (others.includes(version)) return false
    if (fixedIn === '') return true
    const order = compare(version, fixedIn)
    return order === undefined ? undefined : order < 0
  }
  return {
    fixedBy({ source, from, to }) {
      // A flaw that came back has several fixes.
      const fixed = new Map<string, Fixed>()
      for (const flaw of ranked.get(source) ?? []) {
        if (fixed.size === MOST) break
        const { id, urgency, known_exploited } = flaw
        if (has(flaw, from) === true && has(flaw, to) === false) fixed.set(id, { id, urgency, known_exploited })
      }
      return [...fixed.values()]
    },
  }
}

async function flawsOf(db: Database, release: string, sources: ReadonlySet<string>) {
  const { lists, read } = formatOf(release)
  const flaws = new Map<string, Flaw[]>()
  for (const name of lists(release)) {
    const body = await readSecurityData(db, name)
    if (!body) return undefined
    try {
      for (const [source, found] of await read(body, sources))
        flaws.set(source, [...(flaws.get(source) ?? []), ...found])
    } catch (error) {
      // A list was read whole before it was stored, so a broken one was damaged since.
      if (error instanceof BrokenList) return undefined
      throw error
    }
  }
  return flaws
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
  config: Pick<Config, 'kevUrl' | SourceSetting>,
): Promise<{ cve: ListsState | null; kev: ListsState | null }> {
  const { kevUrl } = config
  const namesFlaws = SOURCE_SETTINGS.some((setting) => config[setting] !== undefined)
  if (!namesFlaws && kevUrl === undefined) return { cve: null, kev: null }
  const stored = await securityDataStates(db)
  const stateOf = (belongs: (name: string) => boolean): ListsState => {
    const lists = stored.filter(({ name }) => belongs(name))
    const dates = lists.flatMap(({ fetched_at }) => fetched_at ?? []).sort()
    const failed = lists.filter(({ error }) => error !== null).sort((a, b) => (a.tried_at < b.tried_at ? 1 : -1))
    return { at: dates.at(-1) ?? null, error: failed[0]?.error ?? null }
  }
  return {
    cve: namesFlaws ? stateOf((name) => name.startsWith(OF_RELEASE)) : null,
    kev: kevUrl === undefined ? null : stateOf((name) => name === KNOWN_EXPLOITED),
  }
}
