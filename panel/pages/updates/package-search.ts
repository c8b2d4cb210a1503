import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'

/** A shorter query would find most packages, and the service refuses it. */
const SHORTEST = 2
/** The longest query that the service accepts. */
export const LONGEST_QUERY = 100
/** The pause after a key, so that a typed word is one request. */
const PAUSE_MS = 200

/** The answer to a search in the packages of all targets. */
export interface PackageSearch {
  /** The targets with a package that matches; none before the answer. */
  found: ReadonlySet<string>
  /** `unasked`: the query is too short for a search in the packages. */
  state: 'known' | 'asking' | 'unasked' | 'failed'
  error: unknown
  retry(): Promise<void>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Searches the packages of all targets for a query, after a pause in the typing. `revision` stands for the known
 * results: another one repeats the search, and the earlier answer stays until the next one.
 */
export function usePackageSearch(query: string, revision: string): PackageSearch {
  const wanted = query.trim()
  const isAsked = wanted.length >= SHORTEST
  const load = useLoad(
    async (signal) => {
      if (!isAsked) return { wanted, found: NONE }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      signal.throwIfAborted()
      const { targets } = await api('GET /api/updates/search', { query: { q: wanted }, signal })
      return { wanted, found: new Set(targets) }
    },
    [wanted, revision],
  )
  const answer = load.data.value?.wanted === wanted ? load.data.value : undefined
  // The error may be of an earlier query: the page keeps it until there is an answer.
  const error = isAsked ? load.error.value : undefined
  return {
    found: answer?.found ?? NONE,
    state: !isAsked ? 'unasked' : error !== undefined ? 'failed' : answer ? 'known' : 'asking',
    error,
    retry: load.reload,
  }
}
