import { createHash } from 'node:crypto'
import { type ForgeRepository, type TestForge, testForge } from '../../forge.ts'
import type { ForgeFile } from '../../forge-repository.ts'

type Files = Record<string, ForgeFile>

interface Commit {
  sha: string
  files: Files
  title: string
  parent: string | undefined
}

interface Published {
  tag_name: string
  name: string
  body: string
  draft: boolean
  prerelease: boolean
  published_at: string
}

interface Pushed {
  title?: string
  /** The parent; it replaces the branch. */
  onto?: string | null
  /** More about the repository. */
  about?: Omit<Partial<ForgeRepository>, 'branches'>
}

/** A forge with a history, tags and releases, which answers for them as Gitea 1.26 does. */
export interface VersionedForge {
  forge: TestForge
  /** Pushes files to the branch main, on top of its tip, and returns the commit. */
  push(name: string, files: Files, push?: Pushed): string
  tag(name: string, tag: string, commit: string | undefined): void
  publish(name: string, tag: string, more?: Partial<Published>): void
  /** Forgets a commit, like a garbage collection. */
  forget(commit: string): void
  /** Pushes files to a branch whose name is that of a commit: a `ref` of the forge means this branch. */
  pretend(name: string, commit: string, files: Files): void
  /** Points such a branch at a commit. */
  pretendAt(name: string, commit: string, target: string): void
}

/** The same for the running test. */
export async function versionedForge(options?: Parameters<typeof testForge>[0]): Promise<VersionedForge> {
  return withHistory(await testForge(options))
}

/** Gives a forge a history, tags and releases. */
export function withHistory(forge: TestForge): VersionedForge {
  const commits = new Map<string, Commit>()
  const tips = new Map<string, string>()
  const tags = new Map<string, Map<string, string>>()
  const releases = new Map<string, Published[]>()
  /** The commits of branches that are named like commits, by these names. */
  const pretended = new Map<string, string>()

  const ancestors = (sha: string | undefined): Commit[] => {
    const commit = sha === undefined ? undefined : commits.get(sha)
    return commit ? [commit, ...ancestors(commit.parent)] : []
  }
  const changesOf = ({ files, parent }: Commit) => {
    const before = (parent === undefined ? undefined : commits.get(parent))?.files ?? {}
    const names = [...new Set([...Object.keys(before), ...Object.keys(files)])]
    return names.flatMap((filename) => {
      const status = !(filename in before) ? 'added' : filename in files ? 'modified' : 'removed'
      return String(before[filename]) === String(files[filename]) ? [] : [{ filename, status }]
    })
  }
  const tagOf = (name: string, tag: string) => {
    const sha = tags.get(name)?.get(tag)
    return sha === undefined ? undefined : { name: tag, message: '', id: sha, commit: { sha, url: '', created: DATE } }
  }
  const commitOf = (commit: Commit) => ({
    sha: commit.sha,
    commit: { message: `${commit.title}\n\nMore words.\n`, author: { name: 'Alice', email: 'a@example', date: DATE } },
    parents: commit.parent === undefined ? [] : [{ sha: commit.parent, url: '', created: DATE }],
    files: changesOf(commit),
  })
  const answerOf = (name: string, kind: string, rest: string): unknown => {
    if (kind === 'tags' && rest === '') return [...(tags.get(name)?.keys() ?? [])].map((tag) => tagOf(name, tag))
    if (kind === 'tags') return tagOf(name, decodeURIComponent(rest))
    if (kind === 'releases') return releases.get(name) ?? []
    if (kind === 'git') {
      const commit = commits.get(rest.slice('commits/'.length))
      return commit && commitOf(commit)
    }
    // Each end is a branch or a tag before it is a commit.
    const [base = '', head = ''] = rest.split('..').map((end) => pretended.get(end) ?? tags.get(name)?.get(end) ?? end)
    const known = new Set(ancestors(base).map(({ sha }) => sha))
    const added = ancestors(head).filter(({ sha }) => !known.has(sha))
    return { total_commits: added.length, commits: added.map(commitOf) }
  }

  forge.behave = ({ url = '' }, response) => {
    const { pathname } = new URL(url, forge.url)
    const [, name = '', kind = '', rest = ''] =
      /\/repos\/[^/]+\/([^/]+)\/(tags|releases|git|compare|raw|contents)\/?(.*)$/.exec(pathname) ?? []
    if (kind === '') return false
    const ref = new URL(url, forge.url).searchParams.get('ref') ?? ''
    const isFile = kind === 'raw' || kind === 'contents' || rest.startsWith('trees/')
    const gone = isFile && /^[0-9a-f]{40}$/.test(ref) && !commits.has(ref)
    if (isFile && !gone) return false
    const body = gone ? undefined : answerOf(name, kind, rest)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json;charset=utf-8' })
    response.end(JSON.stringify(body ?? { errors: null, message: 'not found' }))
    return true
  }

  return {
    forge,
    push(name, files, { title = 'A change', onto, about } = {}) {
      const repository: ForgeRepository = { ...about, name, branches: { main: { files } } }
      forge.put(repository)
      const sha = forge.tip(name, 'main')
      const parent = onto === undefined ? tips.get(name) : (onto ?? undefined)
      commits.set(sha, { sha, files, title, parent: parent === sha ? undefined : parent })
      tips.set(name, sha)
      return sha
    },
    pretend(name, commit, files) {
      const now = commits.get(tips.get(name) ?? '')?.files ?? {}
      forge.put({ name, branches: { main: { files: now }, [commit]: { files } } })
    },
    pretendAt(name, commit, target) {
      const now = commits.get(tips.get(name) ?? '')?.files ?? {}
      forge.put({ name, branches: { main: { files: now }, [commit]: { files: commits.get(target)?.files ?? {} } } })
      pretended.set(commit, target)
    },
    tag(name, tag, commit) {
      const of = tags.get(name) ?? new Map<string, string>()
      tags.set(name, of)
      if (commit === undefined) of.delete(tag)
      else of.set(tag, commit)
    },
    publish(name, tag, more = {}) {
      const release = { name: tag, body: '', draft: false, prerelease: false, published_at: DATE }
      releases.set(name, [{ tag_name: tag, ...release, ...more }, ...(releases.get(name) ?? [])])
    },
    forget: (commit) => void commits.delete(commit),
  }
}

const DATE = '2026-02-03T05:05:06+01:00'

/** A commit that no forge has. */
export const UNKNOWN = createHash('sha1').update('unknown').digest('hex')

/** The files of a module with a page. */
export const pageFiles = (id: string, version: string, more: Files = {}, descriptor: object = {}): Files => ({
  'module.json': JSON.stringify({ id, name: id, version, page: { files: Object.keys(more) }, ...descriptor }),
  ...more,
})
