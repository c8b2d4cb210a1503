import * as z from 'zod'
import { Commit, findTip } from '../registry/forge-files.ts'
import { firstOf, ForgeError, type ForgeRequests, type Wanted } from '../registry/forge-requests.ts'
import { type ChangedFile, type FileStatus, netFiles } from './changed-files.ts'

/** A repository of an organisation. */
export interface Home {
  org: string
  repository: string
}

/** A tag, with the commit that it points at now. */
export interface Tag {
  tag: string
  commit: string
}

export interface ForgeRelease {
  tag: string
  name: string
  publishedAt: string
  isPrerelease: boolean
  notes: string
}

/** The commits between two commits, the newest first, with the files of each. */
export interface Difference {
  total: number
  commits: ChangeCommit[]
  files: ChangedFile[]
  /** The commits that the listed ones follow. */
  parents: ReadonlySet<string>
}

export interface ChangeCommit {
  commit: string
  title: string
  author: string
  date: string
}

/** Characters with a meaning of their own in Git's names, and those that cannot be seen. */
const OTHER = String.raw`\s\p{C}\p{Default_Ignorable_Code_Point}\u2800~^:?*[\\./@`
const PART = String.raw`(?:[^${OTHER}]|@+[^${OTHER}{])+@*`

/**
 * A tag's name by Git's rules (git-check-ref-format), as far as it consists of characters that can be seen. The pattern
 * looks neither ahead nor back, which readers of the API's document may not know.
 */
export const TagName = z
  .string()
  .max(255)
  .regex(new RegExp(`^${PART}(?:[./]${PART})*$`, 'u'), 'le nom d’une étiquette (tag) de Git')
  .refine((name) => !/\.lock(?:\/|$)/.test(name), 'le nom d’une étiquette (tag) de Git')

/** Most entries of a list; the oldest ones are left out. */
const MAX_TAGS = 50
const MAX_RELEASES = 20
const MAX_NOTES = 4_000
const MAX_LINE = 200
export const MAX_COMMITS = 100
const MOST_COMPARED = 5_000
export const MAX_FILES = 300
/** Most bytes of a list: a release and a commit take some 3 KiB, and their texts may be long. */
const MAX_LIST = 4 * 1024 * 1024
const MAX_ONE = 256 * 1024

const line = (max: number) => (text: string) => Array.from((text.split('\n', 1)[0] ?? '').slice(0, max)).join('')
const Moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .catch('')

/** Gitea 1.26's `Tag`, `Release`, `Commit` and `Compare`, as its `/api/swagger` documents them. */
const GiteaTag = z.object({ name: z.string(), commit: z.object({ sha: Commit }) })
const GiteaRelease = z.object({
  tag_name: z.string(),
  name: z.string().transform(line(MAX_LINE)).catch(''),
  body: z
    .string()
    .transform((text) => Array.from(text.slice(0, MAX_NOTES)).join(''))
    .catch(''),
  draft: z.boolean().default(false),
  prerelease: z.boolean().default(false),
  published_at: Moment,
})
const GiteaCommit = z.object({ sha: Commit })
const STATUSES = ['added', 'removed', 'modified'] as const satisfies readonly FileStatus[]
const GiteaCompare = z.object({
  total_commits: z.int().min(0),
  // More take seconds to be checked.
  commits: z
    .array(z.unknown())
    .max(MOST_COMPARED)
    .pipe(
      z.array(
        z.object({
          sha: Commit,
          commit: z.object({
            message: z.string().transform(line(MAX_LINE)),
            author: z.object({ name: z.string().transform(line(100)).catch(''), date: Moment }).nullish(),
          }),
          parents: z.array(z.object({ sha: Commit })).nullish(),
          files: z
            .array(z.object({ filename: z.string().max(4_096), status: z.enum(STATUSES).catch('modified') }))
            .nullish(),
        }),
      ),
    )
    .nullish(),
})

const homeOf = ({ org, repository }: Home) => `/repos/${encodeURIComponent(org)}/${encodeURIComponent(repository)}`

/** Returns the commit of a tag; undefined when the tag does not exist. Rejects with a ForgeError. */
export async function findTag(
  requests: ForgeRequests,
  home: Home,
  tag: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `${homeOf(home)}/tags/${tag.split('/').map(encodeURIComponent).join('/')}`
  const answer = await requests.json(
    GiteaTag,
    path,
    wanted(`l’étiquette ${tag} de « ${home.repository} »`, signal, MAX_ONE),
  )
  return answer?.value.commit.sha
}

/** Returns the newest tags. */
export async function listTags(requests: ForgeRequests, home: Home, signal: AbortSignal): Promise<Tag[]> {
  const what = `les étiquettes de « ${home.repository} »`
  const answer = await requests.json(
    firstOf(MAX_TAGS, GiteaTag),
    `${homeOf(home)}/tags?page=1&limit=${MAX_TAGS}`,
    wanted(what, signal, MAX_LIST),
  )
  return (answer?.value ?? [])
    .filter(({ name }) => TagName.safeParse(name).success)
    .map(({ name, commit }) => ({ tag: name, commit: commit.sha }))
}

/** Returns the newest published releases; none where the repository's releases are off. */
export async function listReleases(requests: ForgeRequests, home: Home, signal: AbortSignal): Promise<ForgeRelease[]> {
  const what = `les versions publiées de « ${home.repository} »`
  const answer = await requests.json(
    firstOf(MAX_RELEASES, GiteaRelease),
    `${homeOf(home)}/releases?draft=false&page=1&limit=${MAX_RELEASES}`,
    wanted(what, signal, MAX_LIST),
  )
  return (answer?.value ?? [])
    .filter(({ draft, tag_name }) => !draft && TagName.safeParse(tag_name).success)
    .map((each) => ({
      tag: each.tag_name,
      name: each.name,
      publishedAt: each.published_at,
      isPrerelease: each.prerelease,
      notes: each.body,
    }))
}

/** Returns whether the forge has a commit, also one that no branch leads to any more. */
export async function hasCommit(
  requests: ForgeRequests,
  home: Home,
  commit: string,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `${homeOf(home)}/git/commits/${commit}?stat=false&verification=false&files=false`
  const answer = await requests.json(GiteaCommit, path, wanted(`le commit ${commit}`, signal, MAX_LIST))
  return answer?.value.sha === commit
}

/**
 * Returns what `head` has and `base` does not have; undefined when the forge knows no way from one to the other. Rejects
 * with a ForgeError, `unreadable` when the list is too long to be read.
 */
export async function compare(
  requests: ForgeRequests,
  home: Home,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<Difference | undefined> {
  // Two dots: three ask for a common ancestor, and a branch that was replaced may have none.
  const path = `${homeOf(home)}/compare/${base}..${head}?verification=false&files=true`
  const answer = await requests.json(GiteaCompare, path, {
    ...wanted(`les changements de « ${home.repository} »`, signal, MAX_LIST),
    unusable: 'unreadable',
  })
  if (!answer) return undefined
  const commits = answer.value.commits ?? []
  return {
    total: Math.max(answer.value.total_commits, commits.length),
    commits: commits.slice(0, MAX_COMMITS).map(({ sha, commit: { message, author } }) => ({
      commit: sha,
      title: message,
      author: author?.name ?? '',
      date: author?.date ?? '',
    })),
    // The forge lists the newest commit first.
    files: netFiles(commits.toReversed().flatMap(({ files }) => files ?? [])),
    parents: new Set(commits.flatMap(({ parents }) => parents?.map(({ sha }) => sha) ?? [])),
  }
}

/**
 * Returns whether a branch or a tag has the name of a commit. `compare` takes a name for a branch or a tag before it takes
 * it for a commit, so it would compare something else.
 */
export async function isNamed(
  requests: ForgeRequests,
  { org, repository }: Home,
  commit: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await Promise.all([
    findTip(requests, { org, repository, branch: commit }, signal),
    findTag(requests, { org, repository }, commit, signal),
  ])
  return found.some((target) => target !== undefined)
}

/**
 * Whether two differences can be those between these commits, there and back: each list ends at its commit, and where one
 * of the lists is empty, the other one begins right after its commit.
 */
export function areBetween(from: string, to: string, added: Difference, dropped: Difference): boolean {
  const [newest, newestDropped] = [added.commits[0]?.commit, dropped.commits[0]?.commit]
  if (from === to) return newest === undefined && newestDropped === undefined
  if (newest === undefined) return newestDropped === from && dropped.parents.has(to)
  if (newestDropped === undefined) return newest === to && added.parents.has(from)
  return newest === to && newestDropped === from
}

/** Whether an error says that a list was too long or not a forge's, not that the forge is away. */
export const isUnreadable = (error: unknown): boolean => error instanceof ForgeError && error.reason === 'unreadable'

const wanted = (what: string, signal: AbortSignal, maxBytes: number): Wanted => ({
  what,
  maxBytes,
  signal,
  unusable: 'unreachable',
})
