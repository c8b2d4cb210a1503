import * as z from 'zod'
import { isLink } from '../../platform/links.ts'
import { firstOf, ForgeError, type ForgeHeaders, type ForgeRequests } from './forge-requests.ts'
import { LEFT_OUT, type LeftOut, type LeftOutCode } from './left-out.ts'

export interface Repository {
  name: string
  description: string
  /** Empty when the forge sends no address that is safe to link. */
  htmlUrl: string
  /** ISO 8601 in UTC; empty when the forge sends no date. */
  updatedAt: string
  isFork: boolean
  isMirror: boolean
  isPrivate: boolean
  /** The address that a fork or a mirror comes from; empty when the forge sends none that is safe to link. */
  origin: string
  defaultBranch: string
  /** Undefined when the forge does not count them. */
  branchCount: number | undefined
  /** Changes with every push and every synchronisation of a mirror; empty when the forge sends no date. */
  stamp: string
}

/** A module has its repository's name. */
const Name = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/)
const Link = z
  .string()
  .max(2_000)
  .refine((text) => isLink(text, { notation: 'plain' }))
  .catch('')
/** An address that others are shown: without the name and password that a mirror may be read with. */
const Origin = Link.transform((text) => (/^[^/]*\/\/[^/]*@/.test(text) ? '' : text))
const Moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .catch('')

/** Gitea's `Repository`, as its `/api/swagger` documents it, reduced to the fields used here. */
const GiteaRepository = z.object({
  // A slice would keep the whole long string in memory.
  name: z.string().transform((name) => (name.length > 100 ? Array.from(name.slice(0, 100)).join('') : name)),
  owner: z.object({ login: z.string() }).optional(),
  // Gitea itself accepts no longer description.
  description: z.string().max(2_048).nullish().catch(null),
  archived: z.boolean().default(false),
  empty: z.boolean().default(false),
  has_code: z.boolean().default(true),
  private: z.boolean().default(false).catch(false),
  fork: z.boolean().default(false).catch(false),
  mirror: z.boolean().default(false).catch(false),
  parent: z.object({ html_url: Origin }).nullish().catch(null),
  original_url: Origin,
  default_branch: z.string().max(255).catch(''),
  branch_count: z.int().min(0).optional().catch(undefined),
  html_url: Link,
  updated_at: Moment,
  mirror_updated: Moment,
})
type GiteaRepository = z.infer<typeof GiteaRepository>

/** Gitea's default page size; an administrator can set a smaller one. */
const PAGE = 50
/** Most bytes of a page of 50 repositories. One repository takes about 3 KiB, and twice that as a fork. */
const MAX_PAGE = 4 * 1024 * 1024
const MAX_ONE = 256 * 1024
const MAX_REPOSITORIES = 2_000
const GiteaPage = firstOf(MAX_REPOSITORIES + 1, GiteaRepository)
/** So many repositories in pages of ten: a forge with smaller pages is read in part. */
const MAX_PAGES = MAX_REPOSITORIES / 10
/** Pages that are asked for before they are needed, once the forge has said that they exist. */
const AHEAD = 3

/** Whether a text is a valid name of a module's repository, and so safe in a path. */
export function isModuleName(name: string): boolean {
  return Name.safeParse(name).success
}

/** Returns one repository. Rejects with a ForgeError: `missing` when it does not exist or cannot be installed. */
export async function findRepository(...of: Parameters<typeof repositoryNamed>): Promise<Repository> {
  const found = await repositoryNamed(...of)
  const why = unfit(found)
  if (why) throw missing(found.name, LEFT_OUT[why])
  return repositoryOf(found)
}

/**
 * Returns the address of a repository, also of one that is archived by now. Rejects with a ForgeError, `missing` when it
 * does not exist.
 */
export async function addressOf(...of: Parameters<typeof repositoryNamed>): Promise<string> {
  return (await repositoryNamed(...of)).html_url
}

async function repositoryNamed(
  requests: ForgeRequests,
  org: string,
  name: string,
  signal: AbortSignal,
): Promise<GiteaRepository> {
  if (!isModuleName(name)) throw missing(name, 'ne peut pas exister')
  const found = await requests.json(GiteaRepository, `/repos/${encodeURIComponent(org)}/${name}`, {
    what: `le dépôt « ${name} »`,
    maxBytes: MAX_ONE,
    signal,
    unusable: 'unreachable',
  })
  if (!found) throw missing(name, 'n’existe pas, ou n’est pas lisible')
  // The forge also answers for the former address of a renamed or transferred repository.
  if (found.value.owner?.login.toLowerCase() !== org.toLowerCase())
    throw missing(name, 'n’est plus dans cette organisation')
  if (found.value.name !== name) throw missing(name, `s’appelle maintenant « ${found.value.name} »`)
  return found.value
}

const missing = (name: string, why: string) => new ForgeError('missing', `le dépôt « ${name.slice(0, 100)} » ${why}`)

/**
 * Yields the repositories of an organisation, page by page. Rejects with a ForgeError `unreachable` when a page cannot
 * be read: in a partial list, the missing repositories would look deleted.
 */
export async function* readRepositories(
  requests: ForgeRequests,
  org: string,
  ask: <result>(request: (signal: AbortSignal) => Promise<result>) => Promise<result>,
): AsyncGenerator<{ repositories: Repository[]; left: LeftOut[] }> {
  const pageAt = (page: number) =>
    ask((signal) =>
      requests.json(GiteaPage, `/orgs/${encodeURIComponent(org)}/repos?page=${page}&limit=${PAGE}`, {
        what: 'la liste des dépôts',
        maxBytes: MAX_PAGE,
        signal,
        unusable: 'unreachable',
      }),
    )
  const asked = new Map<number, ReturnType<typeof pageAt>>()
  const seen = new Set<string>()
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await (asked.get(page) ?? pageAt(page))
    asked.delete(page)
    if (!answer)
      throw new ForgeError('unreachable', `l’organisation « ${org} » n’existe pas, ou n’est pas lisible (HTTP 404)`)
    for (let next = page + 1; next <= Math.min(page + AHEAD, lastOf(answer.headers), MAX_PAGES); next += 1) {
      const ahead = asked.get(next) ?? pageAt(next)
      // Its failure counts when its turn comes.
      ahead.catch(() => {})
      asked.set(next, ahead)
    }
    // A repository created meanwhile shifts another one to the next page, where it appears again.
    const fresh = answer.value.filter(({ name }) => !seen.has(name) && seen.add(name))
    yield sort(fresh.slice(0, MAX_REPOSITORIES - seen.size + fresh.length))
    if (seen.size > MAX_REPOSITORIES) break
    if (answer.value.length > 0 && fresh.length === 0) {
      yield { repositories: [], left: [{ repository: '*', code: 'list_repeats' }] }
      return
    }
    if (isLast(answer.headers, page, { empty: answer.value.length === 0, seen: seen.size })) return
  }
  const detail = `la liste est plus longue que ${MAX_REPOSITORIES} dépôts ou ${MAX_PAGES} pages`
  yield { repositories: [], left: [{ repository: '*', code: 'list_too_long', detail }] }
}

/**
 * Whether the page is the last one, by Gitea's `Link`, which is absent when there is only one page, or by
 * `X-Total-Count`. Both count repositories that the token may not read, so a page may be short or empty without being
 * the last.
 */
function isLast(headers: ForgeHeaders, page: number, { empty, seen }: { empty: boolean; seen: number }): boolean {
  const link = headers.get('link')
  if (link !== null) return !/;\s*rel="?next\b/i.test(link)
  const count = headers.get('x-total-count')
  const total = count !== null && /^\d+$/.test(count) ? Number(count) : undefined
  if (total !== undefined && seen >= total) return true
  return empty && page * PAGE >= (total ?? 0)
}

/** The number of the last page by `Link`; 0 when it does not say one. */
function lastOf(headers: ForgeHeaders): number {
  for (const link of headers.get('link')?.split(',', 10) ?? []) {
    const page = /;\s*rel="?last\b/i.test(link) ? /[?&]page=(\d{1,6})\b/.exec(link)?.[1] : undefined
    if (page !== undefined) return Number(page)
  }
  return 0
}

function sort(found: readonly GiteaRepository[]): { repositories: Repository[]; left: LeftOut[] } {
  const repositories: Repository[] = []
  const left: LeftOut[] = []
  for (const repository of found) {
    const code = isModuleName(repository.name) ? unfit(repository) : 'bad_name'
    if (code) left.push({ repository: repository.name, code })
    else repositories.push(repositoryOf(repository))
  }
  return { repositories, left }
}

function unfit({ archived, empty, has_code }: GiteaRepository): LeftOutCode | undefined {
  if (archived) return 'archived'
  if (empty) return 'empty'
  return has_code ? undefined : 'no_code'
}

function repositoryOf(found: GiteaRepository): Repository {
  const { name, description, html_url, updated_at, mirror_updated, default_branch } = found
  return {
    name,
    description: description ?? '',
    htmlUrl: html_url,
    updatedAt: updated_at,
    isFork: found.fork,
    isMirror: found.mirror,
    isPrivate: found.private,
    origin: (found.fork ? found.parent?.html_url : found.mirror ? found.original_url : '') ?? '',
    defaultBranch: default_branch,
    branchCount: found.branch_count,
    stamp: updated_at && [updated_at, mirror_updated, default_branch, found.branch_count].join(' '),
  }
}
