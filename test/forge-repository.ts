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

interface Entry {
  path: string
  mode: string
  type: 'blob' | 'tree'
  sha: string
}

/** The name that Git gives to an object, by its content. */
function objectId(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/** Returns the entries of each folder by the id of its tree, that of the outermost folder last. */
function treesOf(files: Record<string, ForgeFile>): Map<string, Entry[]> {
  const trees = new Map<string, Entry[]>()
  const folders = new Map<string, Record<string, ForgeFile>>()
  const entries: Entry[] = []
  for (const [path, file] of Object.entries(files)) {
    const [name = '', ...below] = path.split('/')
    if (below.length > 0) folders.set(name, { ...folders.get(name), [below.join('/')]: file })
    else {
      const mode = isLink(file) ? '120000' : '100644'
      entries.push({ path: name, mode, type: 'blob', sha: objectId('blob', bytesOf(file)) })
    }
  }
  for (const [path, inside] of folders) {
    const found = [...treesOf(inside)]
    for (const [id, list] of found) trees.set(id, list)
    entries.push({ path, mode: '040000', type: 'tree', sha: found.at(-1)?.[0] ?? '' })
  }
  const sorted = entries.sort((one, other) => (sortName(one) < sortName(other) ? -1 : 1))
  const lines = sorted.map(({ mode, path, sha }) =>
    Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${path}\0`), Buffer.from(sha, 'hex')]),
  )
  return trees.set(objectId('tree', Buffer.concat(lines)), sorted)
}

/** Git sorts a folder as if its name ended in a slash. */
const sortName = ({ path, type }: Entry) => (type === 'tree' ? `${path}/` : path)

/** Gitea's `GitTreeResponse` for the outermost folder of a commit, whose name it has. */
export function treeOf(commit: string, files: Record<string, ForgeFile>) {
  return answerOf(commit, [...treesOf(files).values()].at(-1) ?? [])
}

/** The same for a folder by the id of its tree; undefined when these files have no such folder. */
export function folderOf(id: string, files: Record<string, ForgeFile>) {
  const tree = treesOf(files).get(id)
  return tree && answerOf(id, tree)
}

function answerOf(sha: string, tree: Entry[]) {
  return { sha, tree, truncated: false, total_count: tree.length }
}
