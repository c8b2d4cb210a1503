import * as z from 'zod'
import { isLink } from '../../platform/links.ts'
import { ForgeError, type ForgeRequests } from './forge-requests.ts'

export interface Repository {
  name: string
  description: string
  /** Empty when the forge sends no address that is safe to link. */
  htmlUrl: string
  /** ISO 8601 in UTC; empty when the forge sends no date. */
  updatedAt: string
}

/** A repository that is not a module, and the reason in French; `*` stands for repositories without a name. */
export interface LeftOut {
  repository: string
  reason: string
  /** Whether the repository may still be a module, because the forge did not let it be read. */
  unread?: boolean
}

/** A module has its repository's name. */
const Name = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/)

/** Gitea's `Repository`, as its `/api/swagger` documents it, reduced to the fields used here. */
const GiteaRepository = z.object({
  // A slice would keep the whole long string in memory.
  name: z.string().transform((name) => (name.length > 100 ? Array.from(name.slice(0, 100)).join('') : name)),
  owner: z.object({ login: z.string() }).optional(),
  // Gitea itself accepts no longer description.
  description: z.string().max(2_048).nullish().catch(null),
  archived: z.boolean().default(false),
  empty: z.boolean().default(false),
  html_url: z
    .string()
    .max(2_000)
    .refine((text) => isLink(text, { notation: 'plain' }))
    .catch(''),
  updated_at: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text).toISOString())
    .catch(''),
})
type GiteaRepository = z.infer<typeof GiteaRepository>

/** Gitea's default page size; an administrator can set a smaller one. */
const PAGE = 50
/** Most bytes of a page of 50 repositories. One repository takes about 3 KiB. */
const MAX_PAGE = 4 * 1024 * 1024
const MAX_ONE = 256 * 1024
const MAX_PAGES = 40
const MAX_REPOSITORIES = MAX_PAGES * PAGE

/** Whether a text is a valid name of a module's repository, and so safe in a path. */
export function isModuleName(name: string): boolean {
  return Name.safeParse(name).success
}

/** Returns one repository. Rejects with a ForgeError: `missing` when it does not exist or cannot be installed. */
export async function findRepository(
  requests: ForgeRequests,
  org: string,
  name: string,
  signal: AbortSignal,
): Promise<Repository> {
  const missing = (why: string) => new ForgeError('missing', `le dépôt « ${name.slice(0, 100)} » ${why}`)
  if (!isModuleName(name)) throw missing('ne peut pas exister')
  const found = await requests.json(GiteaRepository, `/repos/${encodeURIComponent(org)}/${name}`, {
    what: `le dépôt « ${name} »`,
    maxBytes: MAX_ONE,
    signal,
    unusable: 'unreachable',
  })
  // The forge also answers for the former address of a renamed or transferred repository.
  const owner = found?.value.owner?.login.toLowerCase()
  if (found?.value.name !== name || owner !== org.toLowerCase()) throw missing('n’existe pas, ou n’est pas lisible')
  const why = unfit(found.value)
  if (why) throw missing(why)
  return repositoryOf(found.value)
}

/**
 * Yields the repositories of an organisation, page by page. Rejects with a ForgeError `unreachable` when a page cannot
 * be read: in a partial list, the missing repositories would look deleted.
 */
export async function* readRepositories(
  requests: ForgeRequests,
  org: string,
  signal: AbortSignal,
): AsyncGenerator<{ repositories: Repository[]; left: LeftOut[] }> {
  const seen = new Set<string>()
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await requests.json(
      z.array(GiteaRepository),
      `/orgs/${encodeURIComponent(org)}/repos?page=${page}&limit=${PAGE}`,
      { what: 'la liste des dépôts', maxBytes: MAX_PAGE, signal, unusable: 'unreachable' },
    )
    if (!answer)
      throw new ForgeError('unreachable', `l’organisation « ${org} » n’existe pas, ou n’est pas lisible (HTTP 404)`)
    // A repository created meanwhile shifts another one to the next page, where it appears again.
    const fresh = answer.value.filter(({ name }) => !seen.has(name) && seen.add(name))
    yield sort(fresh.slice(0, MAX_REPOSITORIES - seen.size + fresh.length))
    if (seen.size > MAX_REPOSITORIES) break
    if (answer.value.length > 0 && fresh.length === 0) {
      yield { repositories: [], left: [{ repository: '*', reason: 'la forge renvoie toujours la même page' }] }
      return
    }
    if (isLast(answer.headers, page, { empty: answer.value.length === 0, seen: seen.size })) return
  }
  const most = `${MAX_REPOSITORIES} dépôts ou ${MAX_PAGES} pages`
  yield { repositories: [], left: [{ repository: '*', reason: `la liste est plus longue que ${most}` }] }
}

/**
 * Whether the page is the last one, by Gitea's `Link`, which is absent when there is only one page, or by
 * `X-Total-Count`. Both count repositories that the token may not read, so a page may be short or empty without being
 * the last.
 */
function isLast(headers: Headers, page: number, { empty, seen }: { empty: boolean; seen: number }): boolean {
  const link = headers.get('link')
  if (link !== null) return !/;\s*rel="?next\b/i.test(link)
  const count = headers.get('x-total-count')
  const total = count !== null && /^\d+$/.test(count) ? Number(count) : undefined
  if (total !== undefined && seen >= total) return true
  return empty && page * PAGE >= (total ?? 0)
}

function sort(found: readonly GiteaRepository[]): { repositories: Repository[]; left: LeftOut[] } {
  const repositories: Repository[] = []
  const left: LeftOut[] = []
  for (const repository of found) {
    const why = isModuleName(repository.name) ? unfit(repository) : 'son nom ne peut pas être celui d’un module'
    if (why) left.push({ repository: repository.name, reason: why })
    else repositories.push(repositoryOf(repository))
  }
  return { repositories, left }
}

function unfit({ archived, empty }: GiteaRepository): string | undefined {
  if (archived) return 'est archivé'
  return empty ? 'est vide' : undefined
}

function repositoryOf({ name, description, html_url, updated_at }: GiteaRepository): Repository {
  return { name, description: description ?? '', htmlUrl: html_url, updatedAt: updated_at }
}
