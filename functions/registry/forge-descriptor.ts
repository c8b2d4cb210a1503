import { FILE_LIMITS } from '../../modules/modules.ts'
import type { Detail } from '../../runtime/errors.ts'
import { type Descriptor, parseDescriptor } from './descriptor.ts'
import { findInTree, findTip, type FoundFile, isBranchName, readFile } from './forge-files.ts'
import type { Repository } from './forge-repositories.ts'
import { ForgeError, type ForgeRequests } from './forge-requests.ts'
import type { LeftOutCode } from './left-out.ts'

const DESCRIPTOR = 'module.json'
/** Read after the default branch, in the order of the specification. */
const FALLBACKS = ['master', 'main']

/** A valid descriptor, or the reasons why there is none. */
export type Content = { descriptor: Descriptor } | { code: LeftOutCode; reasons: Detail[] }
/** A descriptor as it was at a commit, which was the last one of a branch. */
export type Read = { commit: string; branch: string } & Content

/** Reads the descriptors of an organisation. */
export interface DescriptorReader {
  /**
   * Reads the descriptor at the tip of the first branch that has one. Rejects with a ForgeError `unreadable` when the
   * repository has none of the branches.
   */
  atTip(repository: Repository): Promise<Read>
  /**
   * Like `atTip`, for one of many: a repository without a descriptor costs one request, and one whose branch is still
   * at the known commit does too.
   */
  ofMany(repository: Repository, known: Read | undefined): Promise<Read | Content>
}

export interface ReaderOptions {
  org: string
  /** Runs one request under its time-out. */
  ask<result>(request: (signal: AbortSignal) => Promise<result>): Promise<result>
  /** Whether a raw file that is missing does not exist; without it, another endpoint is asked too. */
  isRawTrusted?: () => Promise<boolean>
}

const NONE: Content = {
  code: 'no_descriptor',
  reasons: [{ field: '', message: `le dépôt n’a pas de ${DESCRIPTOR}` }],
}

export function createDescriptorReader(
  requests: ForgeRequests,
  { org, ask, isRawTrusted }: ReaderOptions,
): DescriptorReader {
  const tipOf = (repository: string, branch: string) =>
    ask((signal) => findTip(requests, { org, repository, branch }, signal))

  /** Returns undefined when there is no such file. Errors of the forge reject; errors of the content do not. */
  const readAt = async (repository: string, ref: string): Promise<Content | undefined> => {
    try {
      const place = { org, repository, path: DESCRIPTOR, ref }
      const found = await ask((signal) =>
        readFile(requests, place, { maxBytes: FILE_LIMITS.descriptor, signal, isRawTrusted }),
      )
      return found && descriptorIn(repository, found)
    } catch (error) {
      if (!(error instanceof ForgeError) || error.reason !== 'unreadable') throw error
      return refused(error.isTooLarge ? 'too_large' : 'invalid_descriptor', error.message)
    }
  }

  /** Undefined when the branch does not exist, and when the forge answers in another way than with its files. */
  const treeOf = async (repository: string, branch: string) => {
    try {
      return await ask((signal) => findInTree(requests, { org, repository, path: DESCRIPTOR, ref: branch }, signal))
    } catch (error) {
      // A refusal is an answer: the branch itself says more. Silence is none.
      if (error instanceof ForgeError && error.cause === undefined) return undefined
      throw error
    }
  }

  const atTip: DescriptorReader['atTip'] = async (repository) => {
    const branches = branchesOf(repository)
    let last: Read | undefined
    for (const branch of branches) {
      const commit = await tipOf(repository.name, branch)
      if (commit === undefined) continue
      const content = await readAt(repository.name, commit)
      if (content) return { commit, branch, ...content }
      last ??= { commit, branch, ...NONE }
    }
    if (last) return last
    throw new ForgeError('unreadable', `le dépôt n’a aucune de ces branches : ${branches.join(', ')}`)
  }

  const ofMany: DescriptorReader['ofMany'] = async (repository, known) => {
    const { name } = repository
    if (known && branchesOf(repository).includes(known.branch)) {
      const commit = await tipOf(name, known.branch)
      if (commit === known.commit) return known
      const content = commit === undefined ? undefined : await readAt(name, commit)
      if (commit !== undefined && content) return { commit, branch: known.branch, ...content }
    }
    const [first, ...others] = branchesOf(repository)
    const tree = first === undefined ? undefined : await treeOf(name, first)
    if (tree?.found === 'symlink') return descriptorIn(name, tree.found)
    const content = tree?.found === 'file' ? await readAt(name, tree.commit) : undefined
    if (first !== undefined && tree && content) return { commit: tree.commit, branch: first, ...content }
    for (const branch of tree?.found === 'none' ? others : branchesOf(repository)) {
      const commit = await tipOf(name, branch)
      const read = commit === undefined ? undefined : await readAt(name, commit)
      if (commit !== undefined && read) return { commit, branch, ...read }
    }
    return NONE
  }

  return { atTip, ofMany }
}

/** The branches that may have the descriptor, in the order in which they are read. */
function branchesOf({ defaultBranch, branchCount }: Repository): string[] {
  if (!isBranchName(defaultBranch)) return FALLBACKS
  if (branchCount === 1) return [defaultBranch]
  return [defaultBranch, ...FALLBACKS.filter((branch) => branch !== defaultBranch)]
}

/** Parses the descriptor of a module, whose id is its repository's name. */
export function descriptorIn(repository: string, found: FoundFile): Content {
  if (found === 'symlink') return refused(found, `${DESCRIPTOR} est un lien symbolique`)
  if (found === 'lfs_pointer') return refused(found, `${DESCRIPTOR} est un pointeur Git LFS`)
  const parsed = parseDescriptor(found.toString())
  if ('reasons' in parsed) return { code: 'invalid_descriptor', ...parsed }
  if (parsed.descriptor.id === repository) return parsed
  return refused('invalid_descriptor', `doit être le nom du dépôt, « ${repository} »`, 'id')
}

function refused(code: LeftOutCode, message: string, field = ''): Content {
  return { code, reasons: [{ field, message }] }
}
