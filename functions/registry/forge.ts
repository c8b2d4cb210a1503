import { createPriorityQueue } from '../../platform/priority-queue.ts'
import type { Detail } from '../../runtime/errors.ts'
import { type Descriptor, parseDescriptor } from './descriptor.ts'
import { Commit, findTip, readFile } from './forge-files.ts'
import { findRepository, isModuleName, type LeftOut, readRepositories, type Repository } from './forge-repositories.ts'
import { createForgeRequests, type ForgeAddress, ForgeError } from './forge-requests.ts'

export { type ForgeAddress, ForgeError, type LeftOut, type Repository }

export interface RegistryModule {
  repository: Repository
  /** The commit at which the descriptor was read. */
  commit: string
  descriptor: Descriptor
}

export interface Registry {
  /** Sorted as the forge returns them. */
  modules: RegistryModule[]
  /** The repositories left out, with the reasons. */
  left: LeftOut[]
}

type Read = { commit: string } & ({ descriptor: Descriptor } | { reasons: Detail[] })

/** An organisation of a Gitea or Forgejo. Each call takes at most 10 s in all, and rejects with ForgeErrors. */
export interface Forge {
  /**
   * Returns the organisation's modules. Repositories that are not modules or could not be read in time are left out.
   * Rejects with `unreachable` when the list is not complete.
   */
  list(): Promise<Registry>
  /**
   * Returns the repository of a module, with its descriptor or the errors in it. `missing` when the repository does not
   * exist, is archived or is empty; `unreadable` when it has neither a branch master nor main; `unreachable` when the
   * forge cannot be read.
   */
  find(name: string): Promise<{ repository: Repository } & Read>
  /** Returns a file at a commit: `missing` when it does not exist, `unreadable` when it is longer than `maxBytes`. */
  file(repository: string, path: string, commit: string, maxBytes: number): Promise<Buffer>
}

/** The specification's time-out for the forge: a person still looks at the waiting page. */
const TIMEOUT_MS = 10_000
/** As many connections as a browser opens to one site, which a small forge can serve. */
const AT_ONCE = 6
const MAX_DESCRIPTOR = 64 * 1024
const DESCRIPTOR = 'module.json'
/** In the order of the specification. */
const BRANCHES = ['master', 'main']

/** Tests set `withinMs`. */
export function createForge(address: ForgeAddress, { withinMs = TIMEOUT_MS } = {}): Forge {
  const requests = createForgeRequests(address)
  const { org } = address

  /** Reads the descriptor from the first branch that has one. */
  const readDescriptor = async (repository: string, signal: AbortSignal): Promise<Read> => {
    let last: string | undefined
    for (const branch of BRANCHES) {
      const commit = await findTip(requests, { org, repository, branch }, signal)
      if (commit === undefined) continue
      const reading = readFile(
        requests,
        { org, repository, path: DESCRIPTOR, commit },
        { maxBytes: MAX_DESCRIPTOR, signal },
      )
      const found = await orReason(reading)
      if (typeof found === 'string') return { commit, reasons: [{ field: '', message: found }] }
      if (found) return { commit, ...parsedFor(repository, found.toString()) }
      last ??= commit
    }
    if (last === undefined) throw new ForgeError('unreadable', 'le dépôt n’a ni branche master, ni branche main')
    return { commit: last, reasons: [{ field: '', message: `le dépôt n’a pas de ${DESCRIPTOR}` }] }
  }

  /** Never rejects: a failure of one repository must not affect the others. */
  const readModule = async (repository: Repository, signal: AbortSignal): Promise<RegistryModule | LeftOut> => {
    try {
      const read = await readDescriptor(repository.name, signal)
      if ('descriptor' in read) return { repository, ...read }
      const reasons = read.reasons.map(({ field, message }) => (field ? `${field} : ${message}` : message))
      return { repository: repository.name, reason: reasons.join(' ; ') }
    } catch (error) {
      const unread = !(error instanceof ForgeError) || error.reason === 'unreachable'
      const reason = error instanceof Error ? error.message : String(error)
      return { repository: repository.name, reason, ...(unread && { unread }) }
    }
  }

  return {
    list: () =>
      within(withinMs, async (signal) => {
        const queue = createPriorityQueue({ running: AT_ONCE, waiting: Number.POSITIVE_INFINITY })
        const readings: Promise<{ result: RegistryModule | LeftOut } | undefined>[] = []
        const left: LeftOut[] = []
        for await (const page of readRepositories(requests, org, signal)) {
          left.push(...page.left)
          // The readings begin while the next page loads, because a slow forge has time for few requests.
          for (const repository of page.repositories) readings.push(queue.run(() => readModule(repository, signal)))
        }
        const read = (await Promise.all(readings)).flatMap((entered) => (entered ? [entered.result] : []))
        return {
          modules: read.flatMap((one) => ('reason' in one ? [] : [one])),
          left: [...left, ...read.flatMap((one) => ('reason' in one ? [one] : []))],
        }
      }),

    find: (name) =>
      within(withinMs, async (signal) => {
        const repository = await findRepository(requests, org, name, signal)
        return { repository, ...(await readDescriptor(name, signal)) }
      }),

    file: (repository, path, commit, maxBytes) =>
      within(withinMs, async (signal) => {
        const place = { org, repository, path, commit }
        const exists = isModuleName(repository) && Commit.safeParse(commit).success
        const bytes = exists ? await readFile(requests, place, { maxBytes, signal }) : undefined
        if (bytes) return bytes
        throw new ForgeError('missing', `« ${repository} » n’a pas de fichier ${path} au commit ${commit}`)
      }),
  }
}

function parsedFor(repository: string, text: string): { descriptor: Descriptor } | { reasons: Detail[] } {
  const parsed = parseDescriptor(text)
  if ('reasons' in parsed || parsed.descriptor.id === repository) return parsed
  return { reasons: [{ field: 'id', message: `doit être le nom du dépôt, « ${repository} »` }] }
}

/** Returns an error of the content as text about the module; errors of the forge reject. */
async function orReason(reading: Promise<Buffer | undefined>): Promise<Buffer | string | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ForgeError && error.reason === 'unreadable') return error.message
    throw error
  }
}

/**
 * Runs work under a signal that aborts after `ms` or with the end of the work, so that neither a request nor a timer
 * stays behind.
 */
async function within<result>(ms: number, work: (signal: AbortSignal) => Promise<result>): Promise<result> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), ms)
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    ending.abort()
  }
}
