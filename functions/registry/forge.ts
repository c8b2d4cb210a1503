import { createPriorityQueue } from '../../platform/priority-queue.ts'
import type { Pauses } from '../forge/pauses.ts'
import type { Descriptor } from './descriptor.ts'
import { type Content, createDescriptorReader, type Read } from './forge-descriptor.ts'
import { Commit, hasRawFiles, readFile } from './forge-files.ts'
import { findRepository, isModuleName, readRepositories, type Repository } from './forge-repositories.ts'
import { createForgeRequests, type ForgeAddress, ForgeError } from './forge-requests.ts'
import type { LeftOut } from './left-out.ts'

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

/** The state of a list while it is being read. */
export interface ListProgress {
  /** Whether the names of all repositories are known. */
  isListed: boolean
  /** Repositories that may be modules, and those of them that were read. */
  candidates: number
  read: number
  /** The modules found so far, in the order in which they were found. */
  modules: readonly RegistryModule[]
}

export interface ListOptions {
  /** Without a time, the repositories that are no modules are read each time. */
  now?: Date
  /** Ends the reading early. */
  signal?: AbortSignal
  tell?(progress: ListProgress): void
}

/** An organisation of a Gitea or Forgejo. Calls reject with ForgeErrors. */
export interface Forge {
  /**
   * Returns the organisation's modules. Repositories that are not modules or could not be read are left out. Rejects
   * with `unreachable` when the list is not complete. Each request takes at most 10 s, and the whole at most two
   * minutes. The forge's later lists read only what has changed.
   */
  list(options?: ListOptions): Promise<Registry>
  /**
   * Returns the repository of a module, with its descriptor or the errors in it, in 10 s at most. `missing` when the
   * repository does not exist, is archived, is empty or has no code; `unreadable` when it has none of the branches that
   * are read; `unreachable` when the forge cannot be read.
   */
  find(name: string): Promise<{ repository: Repository } & Read>
  /**
   * Returns a file at a commit, in 10 s at most: `missing` when it does not exist, `unreadable` when it is longer than
   * `maxBytes`, a symbolic link or a pointer of Git LFS.
   */
  file(repository: string, path: string, commit: string, maxBytes: number): Promise<Buffer>
}

/** The specification's time-out for the forge: a person still looks at the waiting page. */
const TIMEOUT_MS = 10_000
/** Time for a whole list: two thousand repositories of a forge that takes a third of a second for each answer. */
const LIST_MS = 120_000
/** As many connections as a browser opens to one site, which a small forge can serve. */
const AT_ONCE = 6
/** Readings in a row without an answer after which the forge counts as gone: two rounds. */
const GONE = 2 * AT_ONCE
/** Time for which a repository without a module stays one while the forge shows no change of it. */
const KNOWN_MS = 3_600_000
/** Age in ms of a change that a reading has certainly seen. The forge's times have seconds, and its own clock. */
const SETTLED_MS = 60_000

type Known = { stamp: string } & ({ read: Read & { descriptor: Descriptor } } | { left: LeftOut; readAt: number })

/** Tests set the options. */
export function createForge(
  address: ForgeAddress,
  { withinMs = TIMEOUT_MS, pauses }: { withinMs?: number; pauses?: Pauses } = {},
): Forge {
  const requests = createForgeRequests(address, pauses)
  const { org } = address
  const known = new Map<string, Known>()

  /** The module or the reason of a repository, from memory when nothing has changed since. */
  const readOne = async (
    repository: Repository,
    ofMany: (known: Read | undefined) => Promise<Read | Content>,
    now: number,
  ): Promise<RegistryModule | LeftOut> => {
    const { name, stamp } = repository
    const before = known.get(name)
    if (before && 'left' in before && before.stamp === stamp && now - before.readAt < KNOWN_MS) return before.left
    // A module on another branch than the default one may have moved there.
    const isSame =
      before && 'read' in before && (before.stamp === stamp || before.read.branch === repository.defaultBranch)
    const read = await ofMany(isSame ? before.read : undefined)
    if ('descriptor' in read && 'commit' in read) {
      known.set(name, { stamp, read })
      return { repository, commit: read.commit, descriptor: read.descriptor }
    }
    const left = leftOut(name, read)
    if (stamp !== '' && now - Date.parse(repository.updatedAt) > SETTLED_MS)
      known.set(name, { stamp, left, readAt: now })
    else known.delete(name)
    return left
  }

  const list = async ({ now, tell }: ListOptions, signal: AbortSignal): Promise<Registry> => {
    const ask = <result>(request: (signal: AbortSignal) => Promise<result>) => within(withinMs, request, signal)
    let trusted: Promise<boolean> | undefined
    const isRawTrusted = () => (trusted ??= ask((ending) => hasRawFiles(requests, ending)))
    const { ofMany } = createDescriptorReader(requests, { org, ask, isRawTrusted })
    const queue = createPriorityQueue({ running: AT_ONCE, waiting: Number.POSITIVE_INFINITY })
    const found: RegistryModule[] = []
    const progress = { isListed: false, candidates: 0, read: 0, modules: found }
    let failures = 0

    /** Never rejects: a failure of one repository must not affect the others. */
    const readModule = async (repository: Repository): Promise<RegistryModule | LeftOut> => {
      const unreadable = (detail: string) => ({ repository: repository.name, code: 'unreadable', detail }) as const
      if (failures >= GONE) return unreadable('la forge ne répond plus')
      try {
        const result = await readOne(repository, (read) => ofMany(repository, read), now?.getTime() ?? Number.NaN)
        failures = 0
        if ('descriptor' in result) found.push(result)
        return result
      } catch (error) {
        // A refusal is an answer.
        failures = error instanceof Error && error.cause !== undefined ? failures + 1 : 0
        return unreadable(error instanceof Error ? error.message : String(error))
      } finally {
        progress.read += 1
        tell?.(progress)
      }
    }

    const readings: Promise<{ result: RegistryModule | LeftOut } | undefined>[] = []
    const left: LeftOut[] = []
    const names = new Set<string>()
    for await (const page of readRepositories(requests, org, ask)) {
      left.push(...page.left)
      for (const repository of page.repositories) {
        names.add(repository.name)
        // The readings begin while the next page loads, because a slow forge has time for few requests.
        readings.push(queue.run(() => readModule(repository)))
      }
      progress.candidates = names.size
      tell?.(progress)
    }
    progress.isListed = true
    tell?.(progress)
    const read = (await Promise.all(readings)).flatMap((entered) => (entered ? [entered.result] : []))
    for (const name of known.keys()) if (!names.has(name)) known.delete(name)
    return {
      modules: read.flatMap((one) => ('code' in one ? [] : [one])),
      left: [...left, ...read.flatMap((one) => ('code' in one ? [one] : []))],
    }
  }

  return {
    list: (options = {}) => within(LIST_MS, (signal) => list(options, signal), options.signal),

    find: (name) =>
      within(withinMs, async (signal) => {
        const repository = await findRepository(requests, org, name, signal)
        const { atTip } = createDescriptorReader(requests, { org, ask: (request) => request(signal) })
        return { repository, ...(await atTip(repository)) }
      }),

    file: (repository, path, commit, maxBytes) =>
      within(withinMs, async (signal) => {
        const place = { org, repository, path, ref: commit }
        const exists = isModuleName(repository) && Commit.safeParse(commit).success
        const found = exists ? await readFile(requests, place, { maxBytes, signal }) : undefined
        if (Buffer.isBuffer(found)) return found
        const what = `${path} de « ${repository} »`
        if (found === 'symlink') throw new ForgeError('unreadable', `${what} est un lien symbolique`)
        if (found === 'lfs_pointer') throw new ForgeError('unreadable', `${what} est un pointeur Git LFS`)
        throw new ForgeError('missing', `« ${repository} » n’a pas de fichier ${path} au commit ${commit}`)
      }),
  }
}

/** The reason of a repository without a valid descriptor; the code says most of them in full. */
function leftOut(repository: string, read: Read | Content): LeftOut {
  if (!('reasons' in read)) return { repository, code: 'no_descriptor' }
  const { code, reasons } = read
  if (code !== 'invalid_descriptor') return { repository, code }
  const detail = reasons.map(({ field, message }) => (field ? `${field} : ${message}` : message)).join(' ; ')
  return { repository, code, detail }
}

/**
 * Runs work under a signal that aborts after `ms`, with the signal above it, or with the end of the work, so that
 * neither a request nor a timer stays behind.
 */
async function within<result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<result>,
  above?: AbortSignal,
): Promise<result> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, ms)
  above?.addEventListener('abort', end)
  if (above?.aborted) end()
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    above?.removeEventListener('abort', end)
    end()
  }
}
