import { createHash } from 'node:crypto'

/** A file, or a symbolic link to one. */
export type ForgeFile = string | Buffer | { link: string }

export interface ForgeRepository {
  name: string
  archived?: boolean
  empty?: boolean
  /** Only for requests with the forge's token. */
  private?: boolean
  /** Counted, but readable by nobody: the account of the token has no right to it. */
  hidden?: boolean
  /** False when the repository has no section for code: issues or a wiki only. */
  hasCode?: boolean
  /** The address of the repository that it is a fork or a mirror of. */
  forkOf?: string
  mirrorOf?: string
  description?: string
  /** By default the first branch. */
  defaultBranch?: string
  branches: Record<string, { files: Record<string, ForgeFile> }>
}

/** Git stores this text in place of a file that is kept by Git LFS. */
export const LFS_POINTER = `version https://git-lfs.github.com/spec/v1
oid sha256:${'ab'.repeat(32)}
size 12345
`

/** The first branch, unless another one is named. */
export function defaultBranchOf({ defaultBranch, branches }: ForgeRepository): string {
  return defaultBranch ?? Object.keys(branches)[0] ?? 'main'
}

/** Whether it is a symbolic link. */
export function isLink(file: ForgeFile): file is { link: string } {
  return typeof file === 'object' && 'link' in file
}

/** The bytes that Git stores: of a link its target. */
export function bytesOf(file: ForgeFile): Buffer {
  return Buffer.from(isLink(file) ? file.link : file)
}

/** As long as a SHA-1, and different for other content. */
export function tipOf({ name, branches }: ForgeRepository, branch: string): string {
  const hash = createHash('sha1').update(name)
  for (const [path, file] of Object.entries(branches[branch]?.files ?? {}))
    hash.update(`\0${isLink(file) ? 'link ' : ''}${path}\0`).update(bytesOf(file))
  return hash.digest('hex')
}

/** Gitea's `ContentsResponse`. */
export function contentsOf(path: string, file: ForgeFile) {
  const bytes = bytesOf(file)
  const common = { name: path.split('/').at(-1), path, size: bytes.length }
  if (isLink(file)) return { ...common, type: 'symlink', target: file.link, encoding: null, content: null }
  return { ...common, type: 'file', encoding: 'base64', content: bytes.toString('base64') }
}

/** Gitea's `GitTreeResponse` for the outermost folder, of which the name is the commit's. */
export function treeOf(repository: ForgeRepository, branch: string) {
  const entries = new Map<string, string>()
  for (const [path, file] of Object.entries(repository.branches[branch]?.files ?? {})) {
    const [name = '', ...below] = path.split('/')
    entries.set(name, below.length > 0 ? '040000' : isLink(file) ? '120000' : '100644')
  }
  const tree = Array.from(entries, ([path, mode]) => ({ path, mode, type: mode === '040000' ? 'tree' : 'blob' }))
  return { sha: tipOf(repository, branch), tree, truncated: false, total_count: tree.length }
}
