import {
  checkedSystems,
  claimSecurityData,
  failSecurityData,
  keepOnlySecurityData,
  keepSecurityData,
  saveSecurityData,
} from '../../db/security-data.ts'
import type { Database } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { defineTask } from '../services.ts'
import { MAX_LIST, storedExploited } from './exploited.ts'
import { fetchList, ListError } from './list-requests.ts'
import { formatOf, releaseOf, WITH_LISTS } from './releases.ts'
import { KNOWN_EXPLOITED } from './vulnerabilities.ts'

const MINUTE = 60_000
const FRESH_MS = 12 * 60 * MINUTE
const RETRY_MS = 30 * MINUTE
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * MINUTE
const WITHIN_MS = 60_000
/** A target may report any release, and the lists of each are asked for. */
const MOST_RELEASES = 8
const MOST_SYSTEMS = 500

interface List {
  name: string
  address: string
  maxBytes: number
  /** Returns the body to store; undefined for a file that is not such a list. */
  read(bytes: Buffer): Promise<Buffer | undefined>
}

/** Fetches the lists of vulnerabilities that are set and older than 12 hours, each by one instance. */
export default defineTask({
  name: 'refresh-data',
  every: 60,
  async run({ db, config, clock, log }) {
    const { kevUrl } = config
    const lists = [...(await releaseLists(db, config)), ...(kevUrl === undefined ? [] : [exploitedList(kevUrl)])]
    await keepOnlySecurityData(
      db,
      lists.map(({ name }) => name),
    )
    for (const list of lists) {
      const now = clock().getTime()
      const at = (ms: number) => timestamp(new Date(now + ms))
      const due = { now: at(0), fetchedBefore: at(-FRESH_MS), triedBefore: at(-RETRY_MS), ahead: at(SKEW_MS) }
      const claimed = await claimSecurityData(db, list.name, due)
      if (!claimed) continue
      try {
        const found = await fetched(list, claimed.etag)
        if (found) await saveSecurityData(db, list.name, { ...found, at: at(0) })
        else await keepSecurityData(db, list.name, at(0))
      } catch (error) {
        if (!(error instanceof ListError)) throw error
        log.warn({ list: list.name, reason: error.message }, 'a list of vulnerabilities could not be fetched')
        await failSecurityData(db, list.name, error.message)
      }
    }
  },
})

async function fetched({ address, maxBytes, read }: List, etag: string | null) {
  const answer = await fetchList(address, { etag, maxBytes, withinMs: WITHIN_MS })
  if (!answer) return undefined
  const body = await read(answer.bytes)
  if (!body) throw new ListError(`La réponse de ${new URL(address).origin} n’est pas la liste attendue.`)
  return { body, etag: answer.etag }
}

/** The lists of the releases that checks have found, as far as their source is set: the most frequent releases. */
async function releaseLists(db: Database, config: Config): Promise<List[]> {
  const releases = new Set<string>()
  for (const system of await checkedSystems(db, WITH_LISTS, MOST_SYSTEMS)) {
    const release = releaseOf(system)
    if (release !== undefined && config[formatOf(release).setting] !== undefined) releases.add(release)
  }
  return [...releases].slice(0, MOST_RELEASES).flatMap((release) => {
    const { setting, lists, place, maxBytes, read } = formatOf(release)
    return lists(release).map((name) => ({
      name,
      address: below(config[setting] ?? '', place(name)),
      maxBytes,
      read: (bytes: Buffer) =>
        read(bytes, new Set()).then(
          () => bytes,
          () => undefined,
        ),
    }))
  })
}

function exploitedList(address: string): List {
  return { name: KNOWN_EXPLOITED, address, maxBytes: MAX_LIST, read: async (bytes) => storedExploited(bytes) }
}

/** Returns the address of a name below another address, whose query stays. */
function below(base: string, name: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`
  return url.href
}
