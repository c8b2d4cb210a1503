import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { parseJson } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'
import { BrokenList, type Flaw, ID } from './debsecan.ts'

/** Most bytes of the list, several times its present size. */
export const MAX_TRACKER = 8 * 1024 * 1024
const MAX_GROUPS = 50_000
const MAX_OF_GROUP = 2_000
/** Most vulnerabilities of one package. */
const MAX_OF_PACKAGE = 20_000
const GROUPS_PER_TURN = 200

const text = z.string().max(256)
/** A group of vulnerabilities that were found and fixed together. */
const Group = z.object({
  packages: z.array(text).max(MAX_OF_GROUP),
  status: z.enum(['Vulnerable', 'Testing', 'Fixed', 'Not affected', 'Unknown']),
  severity: z.enum(['Critical', 'High', 'Medium', 'Low', 'Unknown']),
  fixed: text.nullable(),
  issues: z.array(text).max(MAX_OF_GROUP),
})

const URGENCIES = { Critical: 'high', High: 'high', Medium: 'medium', Low: 'low', Unknown: null } as const

/**
 * Reads the list of Arch's security tracker (`all.json`) and returns the vulnerabilities of these packages, which it names
 * by the packages themselves, not by their sources. Every version before the fixed one counts as vulnerable, and every
 * version where none is fixed. Rejects with a BrokenList.
 */
export async function readTracker(
  body: Uint8Array,
  packages: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Flaw[]>> {
  if (body.byteLength > MAX_TRACKER) throw new BrokenList('too many bytes')
  const groups = parseJson(Buffer.from(body).toString())
  if (!Array.isArray(groups) || groups.length === 0 || groups.length > MAX_GROUPS)
    throw new BrokenList('no list of groups')
  const found = new Map<string, Flaw[]>()
  for (const [at, each] of groups.entries()) {
    if (at % GROUPS_PER_TURN === 0) await nextTurn()
    const group = checked(Group, each)
    if (!group.success) throw new BrokenList('a group in another format')
    const { status, severity, fixed, issues } = group.data
    if (status === 'Not affected' || status === 'Unknown') continue
    const flaws = issues
      .filter((id) => ID.test(id))
      .map((id) => ({ id, urgency: URGENCIES[severity], fixedIn: fixed ?? '', others: [] }))
    for (const name of new Set(group.data.packages)) {
      if (!packages.has(name)) continue
      const known = found.get(name) ?? []
      if (known.length + flaws.length > MAX_OF_PACKAGE) throw new BrokenList('too many vulnerabilities of one package')
      found.set(name, known)
      known.push(...flaws)
    }
  }
  return found
}
