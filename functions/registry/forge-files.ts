import * as z from 'zod'
import { ForgeError, type ForgeRequests } from './forge-requests.ts'

/** A file of a repository at a commit, or at the tip of a branch. */
export interface Place {
  org: string
  repository: string
  path: string
  ref: string
}

/** A file's bytes, or the reason why they are not the file: a link's target, or a text in place of a large file. */
export type FoundFile = Buffer | 'symlink' | 'lfs_pointer'

/** A commit's name: SHA-1, or SHA-256 in a repository of that format. */
export const Commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, 'un numéro de commit')

/** Gitea's `Branch`, `ContentsResponse` and `ServerVersion`, as its `/api/swagger` documents them. */
const GiteaBranch = z.object({ commit: z.object({ id: Commit }) })
const GiteaContents = z.union([
  z.object({ type: z.literal('symlink') }),
  z.object({
    type: z.literal('file'),
    encoding: z.literal('base64'),
    // Forges other than Gitea break the base64 text into lines.
    content: z.string().transform((text, { addIssue }) => {
      const bytes = Buffer.from(text, 'base64')
      // Node ignores characters that are not base64, so the decoded bytes are encoded again and compared.
      if (bytes.toString('base64') !== text.replace(/[\r\n]/g, '')) addIssue('du base64')
      return bytes
    }),
  }),
])
const GiteaTree = z.object({
  /** Of the commit, although it is the answer about its files. */
  sha: Commit,
  tree: z.array(z.object({ path: z.string(), mode: z.string(), sha: Commit })).nullable(),
  truncated: z.boolean().default(false),
})
const GiteaVersion = z.object({ version: z.string() })

/** Most bytes of an answer around a file's text, or of a branch's last commit, whose message may be long. */
const MAX_FRAME = 256 * 1024
/** Most bytes of a list of files, which has a thousand of them at most, each with its address. */
const MAX_TREE = 1024 * 1024
/** The modes of Git's entries for files and for links; others are folders and submodules. */
const FILE = /^100/
const LINK = '120000'
const FOLDER = '040000'
/** The type of a raw file's entry, in Gitea and in Forgejo. Both send the target of a link as if it were the file. */
const TYPE_HEADERS = ['x-gitea-object-type', 'x-forgejo-object-type']
/** The first line of a Git LFS pointer, https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. */
const LFS_POINTER = Buffer.from('version https://git-lfs.github.com/spec/v1\n')

/** Whether a text is a branch's name by Git's rules, as far as they concern a path. */
export function isBranchName(name: string): boolean {
  const isText = isWhole(name) && name.length <= 255 && !/[\s\p{Cc}~^:?*[\\]/u.test(name) && !name.includes('..')
  return isText && name.split('/').every((part) => part !== '' && !part.startsWith('.'))
}

/** Returns the last commit of a branch; undefined when the branch does not exist. */
export async function findTip(
  requests: ForgeRequests,
  { org, repository, branch }: { org: string; repository: string; branch: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isBranchName(branch)) return undefined
  const path = `${homeOf(org, repository)}/branches/${escaped(branch)}`
  const what = `la branche ${branch} de « ${repository} »`
  const answer = await requests.json(GiteaBranch, path, {
    what,
    maxBytes: MAX_FRAME,
    signal,
    unusable: 'unreachable',
  })
  return answer?.value.commit.id
}

/**
 * Returns the last commit of a branch, and whether a file of its outermost folder exists there; undefined when the
 * branch does not exist, when its name cannot be in this address, or when the folder is too large for the answer.
 */
export async function findInTree(
  requests: ForgeRequests,
  { org, repository, path, ref }: Place,
  signal: AbortSignal,
): Promise<{ commit: string; found: 'file' | 'symlink' | 'none' } | undefined> {
  if (!isBranchName(ref) || ref.includes('/')) return undefined
  const answer = await requests.json(GiteaTree, `${homeOf(org, repository)}/git/trees/${encodeURIComponent(ref)}`, {
    what: `les fichiers de « ${repository} »`,
    maxBytes: MAX_TREE,
    signal,
    unusable: 'unreachable',
  })
  if (!answer) return undefined
  const { sha: commit, tree, truncated } = answer.value
  const mode = tree?.find((entry) => entry.path === path)?.mode ?? ''
  if (mode === LINK) return { commit, found: 'symlink' }
  if (FILE.test(mode)) return { commit, found: 'file' }
  return truncated && mode === '' ? undefined : { commit, found: 'none' }
}

/** An entry of a folder; its id is the hash of its content. Submodules are left out. */
export interface GitEntry {
  path: string
  kind: 'file' | 'link' | 'folder'
  id: string
}

/** A folder of more than twenty thousand files is no module's. */
const MAX_TREE_PAGES = 20

/**
 * Returns the entries of a folder, or of the outermost one of a commit, by the id of the object. Rejects with a
 * ForgeError, `missing` when the forge has no such object.
 */
export async function folderEntries(
  requests: ForgeRequests,
  { org, repository, id }: { org: string; repository: string; id: string },
  signal: AbortSignal,
): Promise<GitEntry[]> {
  const entries: GitEntry[] = []
  const what = `les fichiers de « ${repository} » au commit`
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const path = `${homeOf(org, repository)}/git/trees/${encodeURIComponent(id)}?page=${page}`
    const wanted = { what, maxBytes: MAX_TREE, signal, unusable: 'unreachable' } as const
    const answer = await requests.json(GiteaTree, path, wanted)
    if (!answer) throw new ForgeError('missing', `« ${repository} » n’a pas l’objet ${id}`)
    if (answer.value.sha !== id) throw new ForgeError('unreachable', `${what} : la forge a envoyé un autre objet`)
    for (const { path: name, mode, sha } of answer.value.tree ?? []) {
      if (mode === LINK) entries.push({ path: name, kind: 'link', id: sha })
      else if (FILE.test(mode)) entries.push({ path: name, kind: 'file', id: sha })
      else if (mode === FOLDER) entries.push({ path: name, kind: 'folder', id: sha })
    }
    if (!answer.value.truncated) return entries
  }
  throw new ForgeError('unreadable', `${what} sont trop nombreux`, { isTooLarge: true })
}

/**
 * Whether the forge's raw files can be trusted to be all there: Gitea 1.23.0 answers 404 for existing files
 * (go-gitea/gitea#33164). A forge that does not say its version is not trusted.
 */
export async function hasRawFiles(requests: ForgeRequests, signal: AbortSignal): Promise<boolean> {
  const wanted = { what: 'la version de la forge', maxBytes: MAX_FRAME, signal, unusable: 'unreachable' } as const
  const answer = await requests.json(GiteaVersion, '/version', wanted).catch(() => undefined)
  return answer !== undefined && !/^v?1\.23\.0\b/.test(answer.value.version)
}

interface Reading {
  maxBytes: number
  signal: AbortSignal
  /** Whether a raw file that is missing does not exist. Without it, another endpoint is asked too. */
  isRawTrusted?: (() => Promise<boolean>) | undefined
}

/**
 * Returns a file; undefined when it does not exist. Rejects with a ForgeError, `unreadable` when the file is too long.
 */
export async function readFile(
  requests: ForgeRequests,
  { org, repository, path, ref }: Place,
  { maxBytes, signal, isRawTrusted }: Reading,
): Promise<FoundFile | undefined> {
  if (!isWhole(path) || path.split('/').some((name) => name === '' || name === '.' || name === '..')) return undefined
  const home = homeOf(org, repository)
  const file = `${escaped(path)}?ref=${encodeURIComponent(ref)}`
  const wanted = { what: `${path} de « ${repository} »`, maxBytes, signal, unusable: 'unreadable' } as const
  const raw = await requests.bytes(`${home}/raw/${file}`, wanted)
  if (raw) {
    const isLink = TYPE_HEADERS.some((name) => raw.headers.get(name) === 'symlink')
    return isLink ? 'symlink' : pointerOr(raw.bytes)
  }
  if (await isRawTrusted?.()) return undefined
  const contents = await requests.json(GiteaContents, `${home}/contents/${file}`, {
    ...wanted,
    maxBytes: Math.ceil(maxBytes / 3) * 4 + MAX_FRAME,
  })
  if (!contents) return undefined
  const found = contents.value
  if (found.type === 'symlink') return found.type
  if (found.content.length > maxBytes)
    throw new ForgeError('unreadable', `${wanted.what} est trop grand`, { isTooLarge: true })
  return pointerOr(found.content)
}

function pointerOr(bytes: Buffer): FoundFile {
  return bytes.subarray(0, LFS_POINTER.length).equals(LFS_POINTER) ? 'lfs_pointer' : bytes
}

/** Whether a text has no half of a character, which no address can carry. */
function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function homeOf(org: string, repository: string): string {
  return `/repos/${encodeURIComponent(org)}/${encodeURIComponent(repository)}`
}

function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
