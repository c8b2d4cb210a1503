import * as z from 'zod'
import { type ModuleRow, previousOf } from '../../db/modules.ts'
import { FILE_LIMITS } from '../../modules/modules.ts'
import { createPriorityQueue } from '../../platform/priority-queue.ts'
import { type Detail, failuresOf } from '../../runtime/errors.ts'
import { FORGE_ERRORS } from '../forge/codes.ts'
import { ForgeCertificateError } from '../forge/error.ts'
import { REGISTRY_ERRORS } from '../registry/codes.ts'
import type { Descriptor } from '../registry/descriptor.ts'
import { descriptorIn } from '../registry/forge-descriptor.ts'
import { Commit, type FoundFile } from '../registry/forge-files.ts'
import { addressOf, findRepository, isModuleName } from '../registry/forge-repositories.ts'
import { createForgeRequests, type ForgeRequests, sizeText } from '../registry/forge-requests.ts'
import { createForge, type ForgeAddress, ForgeError } from '../registry/forge.ts'
import { PAGE_TOO_LARGE } from '../registry/installation.ts'
import { type CommitFiles, commitFiles } from './commit-files.ts'
import { findTag, hasCommit, TagName } from './forge-versions.ts'

/** The release that a person has chosen: without anything, the tip of the branch. */
export const Choice = z.object({
  commit: Commit.optional(),
  tag: TagName.optional(),
  previous: z.literal(true).optional(),
  pinned: z.literal(true).optional(),
})
export type Choice = z.infer<typeof Choice>

/** A release of a module, with its files, as the forge has them at its commit. */
export interface Release {
  descriptor: Descriptor
  commit: string
  tag: string | undefined
  /** The address of the repository. */
  repository: string
  /** The code and the files of the page, by their paths. */
  files: ReadonlyMap<string, Buffer>
}

type Found = Omit<Release, 'files' | 'descriptor'>

/** The codes of the failures that `readRelease` throws. */
export const RELEASE_FAILURES = [
  'commit_changed',
  'commit_missing',
  'tag_missing',
  'release_unknown',
  'other_repository',
  'repository_missing',
  'invalid_descriptor',
  'invalid_files',
  'forge_failed',
  'forge_certificate',
] as const

const failure = failuresOf({ ...REGISTRY_ERRORS, ...FORGE_ERRORS })

const DESCRIPTOR = 'module.json'
const AT_ONCE = 6
/** The specification's time-out for the forge. */
const TIMEOUT_MS = 10_000

/**
 * Reads the chosen release of a module from the forge: its descriptor at that very commit, then every file that it
 * needs. Throws a Failure when the choice is not what the forge or the record has by now, or when a file is missing or
 * cannot be used.
 */
export async function readRelease(
  address: ForgeAddress,
  id: string,
  choice: Choice,
  before: ModuleRow | undefined,
): Promise<Release> {
  const requests = createForgeRequests(address)
  const found = await translated(() =>
    within(TIMEOUT_MS, (signal) =>
      choice.tag !== undefined || choice.previous || choice.pinned
        ? readChosen(requests, { org: address.org, repository: id }, choice, before, signal)
        : readTip(address, id, choice.commit),
    ),
  )
  const content = commitFiles(requests, { org: address.org, repository: id }, found.commit)
  const descriptor = await translated(() => within(TIMEOUT_MS, (signal) => readDescriptor(content, id, signal)))
  const files = await translated(() => within(TIMEOUT_MS, (signal) => readFiles(content, descriptor, signal)))
  return { ...found, descriptor, files }
}

async function readTip(address: ForgeAddress, id: string, shown: string | undefined): Promise<Found> {
  const found = await createForge(address).find(id)
  if (shown !== undefined && shown !== found.commit) throw changed(found.commit)
  if ('reasons' in found) throw failure('invalid_descriptor', { details: found.reasons })
  const { commit, repository } = found
  return { commit, tag: undefined, repository: repository.htmlUrl }
}

async function readChosen(
  requests: ForgeRequests,
  home: { org: string; repository: string },
  { commit = '', tag, previous, pinned }: Choice,
  before: ModuleRow | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const { repository: id } = home
  if (!isModuleName(id)) throw failure('repository_missing')
  if ([tag, previous, pinned].filter((way) => way !== undefined).length > 1) throw failure('release_unknown')
  if (tag !== undefined) {
    const { htmlUrl } = await findRepository(requests, home.org, id, signal)
    const now = await findTag(requests, home, tag, signal)
    if (now === undefined) throw failure('tag_missing', { values: { tag } })
    if (now !== commit) throw changed(now)
    await expectCommit(requests, home, commit, signal)
    return { commit, tag, repository: htmlUrl }
  }
  // The commits on record were the forge's once; they stay installable where their branch has gone on since.
  const onRecord = before && (pinned ? before : previousOf(before))
  if (!before?.repository || onRecord?.commit == null) throw failure('release_unknown')
  if (onRecord.commit !== commit) throw changed(onRecord.commit)
  // The settings may name another forge by now, where the same name is somebody else's repository.
  const address = await addressOf(requests, home.org, id, signal)
  if (address !== before.repository)
    throw failure('other_repository', { values: { recorded: before.repository, address } })
  await expectCommit(requests, home, commit, signal)
  return { commit, tag: onRecord.tag ?? undefined, repository: before.repository }
}

async function expectCommit(...where: Parameters<typeof hasCommit>): Promise<void> {
  const [, , commit] = where
  if (!(await hasCommit(...where))) throw failure('commit_missing', { values: { commit } })
}

async function readDescriptor(content: CommitFiles, id: string, signal: AbortSignal): Promise<Descriptor> {
  const found = await content.read(DESCRIPTOR, { maxBytes: FILE_LIMITS.descriptor, signal })
  const read = found && descriptorIn(id, found)
  if (read && 'descriptor' in read) return read.descriptor
  const message = `${DESCRIPTOR} ${UNUSABLE.missing}`
  throw failure('invalid_descriptor', { details: read?.reasons ?? [{ field: '', message }] })
}

const UNUSABLE: Record<'missing' | Exclude<FoundFile, Buffer>, string> = {
  missing: 'n’existe pas à ce commit',
  symlink: 'est un lien symbolique',
  lfs_pointer: 'est un pointeur Git LFS : le fichier lui-même n’est pas dans le dépôt',
}

/** Reads the code and the page of a module, or throws a Failure that names each unusable file. */
async function readFiles(
  content: CommitFiles,
  { has_backend, backend, page }: Descriptor,
  signal: AbortSignal,
): Promise<Map<string, Buffer>> {
  const queue = createPriorityQueue({ running: AT_ONCE, waiting: Number.POSITIVE_INFINITY })
  const bad: Detail[] = []
  let room: number = FILE_LIMITS.page
  const read = async (path: string): Promise<[string, Buffer][]> => {
    const isCode = has_backend && path === backend
    const most = isCode ? FILE_LIMITS.code : FILE_LIMITS.pageFile
    const maxBytes = isCode ? most : Math.max(1, Math.min(most, room))
    try {
      const found = await content.read(path, { maxBytes, signal })
      if (Buffer.isBuffer(found)) {
        if (!isCode) room -= found.length
        if (room >= 0) return [[path, found]]
        throw new ForgeError('unreadable', PAGE_TOO_LARGE)
      }
      bad.push({ field: path, message: UNUSABLE[found ?? 'missing'] })
    } catch (error) {
      if (!(error instanceof ForgeError) || error.reason !== 'unreadable') throw error
      const tooLarge = maxBytes === most ? `dépasse ${sizeText(most)}` : PAGE_TOO_LARGE
      bad.push({ field: path, message: error.isTooLarge ? tooLarge : error.message })
    }
    return []
  }
  const paths = new Set([...(has_backend ? [backend] : []), ...(page?.files ?? [])])
  const readings = [...paths].map((path) => queue.run(() => read(path)))
  const all = (await Promise.all(readings)).flatMap((entered) => entered?.result ?? [])
  if (bad.length > 0)
    throw failure('invalid_files', { details: bad.sort((one, other) => (one.field < other.field ? -1 : 1)) })
  return new Map(all)
}

const changed = (commit: string) => failure('commit_changed', { values: { commit } })

/** Turns an error of the forge into the failure that a person sees. */
async function translated<result>(work: () => Promise<result>): Promise<result> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof ForgeError)) throw cause
    const { reason, message } = cause
    if (reason === 'missing') throw failure('repository_missing', { details: [{ field: '', message }], cause })
    if (reason === 'unreadable')
      throw failure('invalid_descriptor', { details: [{ field: DESCRIPTOR, message }], cause })
    if (cause instanceof ForgeCertificateError) {
      const { problem, fingerprint = 'aucun' } = cause
      throw failure('forge_certificate', { values: { message: problem, fingerprint }, cause })
    }
    throw failure('forge_failed', { values: { message }, cause })
  }
}

/** Runs work under a signal that aborts after `ms` or with the end of the work, so that nothing stays behind. */
export async function within<result>(ms: number, work: (signal: AbortSignal) => Promise<result>): Promise<result> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), ms)
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    ending.abort()
  }
}
