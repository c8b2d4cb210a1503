import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer } from './close-server.ts'
import { closedAtEnd } from './closed-at-end.ts'

export interface ForgeRepository {
  name: string
  archived?: boolean
  empty?: boolean
  /** Only for requests with the forge's token. */
  private?: boolean
  description?: string
  branches: Record<string, { files: Record<string, string | Buffer> }>
}

/** Answers in place of the forge when it returns true. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>

export interface TestForge {
  url: string
  org: string
  token: string | undefined
  /** Method and path of each, in order. */
  requests: string[]
  /** Adds a repository, or pushes to it. */
  put(repository: ForgeRepository): void
  remove(name: string): void
  /** Returns the commit of a branch. */
  tip(name: string, branch?: string): string
  /** Like version 1.23.0, which finds no raw file. */
  rawBroken: boolean
  /** The largest page. */
  pageSize: number
  /** Whether it sends `Link` and `X-Total-Count`. */
  counts: boolean
  behave: Behaviour | undefined
  close(): Promise<void>
}

/**
 * A forge with one organisation on a free port of the loopback, which answers as Gitea's `/api/swagger` documents it. A
 * `path` puts it below one.
 */
export async function startForge({
  org = 'modules',
  token,
  path = '',
}: {
  org?: string
  token?: string
  path?: string
} = {}): Promise<TestForge> {
  const repositories = new Map<string, ForgeRepository>()
  /** The files of each commit, including earlier ones. */
  const commits = new Map<string, Record<string, string | Buffer>>()
  const server = createServer((request, response) => {
    forge.requests.push(`${request.method} ${request.url}`)
    answer(request, response).catch((error: unknown) => response.destroy(Object(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${Object(server.address()).port}`

  const forge: TestForge = {
    url: `${origin}${path}`,
    org,
    token,
    requests: [],
    put(repository) {
      repositories.set(repository.name, repository)
      for (const branch of Object.keys(repository.branches))
        commits.set(tipOf(repository, branch), repository.branches[branch]?.files ?? {})
    },
    remove(name) {
      repositories.delete(name)
    },
    tip(name, branch = 'master') {
      const repository = repositories.get(name)
      if (!repository?.branches[branch]) throw new Error(`${name} has no branch ${branch}`)
      return tipOf(repository, branch)
    },
    rawBroken: false,
    pageSize: 50,
    counts: true,
    behave: undefined,
    close: () => closeServer(server),
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (await forge.behave?.(request, response)) return
    const { authorization } = request.headers
    const signedIn = token !== undefined && authorization === `token ${token}`
    if (authorization !== undefined && !signedIn) {
      send(response, 401, { message: 'user does not exist [uid: 0, name: ]', url: `${origin}/api/swagger` })
      return
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const api = `${path}/api/v1/`
    const parts = pathname.startsWith(api) ? pathname.slice(api.length).split('/').map(decodeURIComponent) : []
    const [area, owner, name = '', kind, ...rest] = parts
    const isReadable = (repository: ForgeRepository) => signedIn || !repository.private
    if (area === 'orgs' && owner === org && name === 'repos') {
      list(response, searchParams, isReadable)
      return
    }
    const found = repositories.get(name)
    if (area !== 'repos' || owner !== org || !found || !isReadable(found)) return nothing(response)
    if (kind === undefined) return send(response, 200, described(found))
    const below = rest.join('/')
    if (kind === 'branches') {
      const branch = found.branches[below]
      if (!branch) return nothing(response)
      return send(response, 200, { name: below, commit: { id: tipOf(found, below), message: 'a change\n' } })
    }
    const ref = searchParams.get('ref') ?? 'master'
    const file = (found.branches[ref]?.files ?? commits.get(ref))?.[below]
    if (file === undefined || (kind === 'raw' && forge.rawBroken)) return nothing(response)
    const bytes = Buffer.from(file)
    if (kind === 'raw') {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': bytes.length })
      response.end(bytes)
    } else if (kind === 'contents') send(response, 200, contents(below, bytes))
    else nothing(response)
  }

  const list = (
    response: ServerResponse,
    query: URLSearchParams,
    isReadable: (repository: ForgeRepository) => boolean,
  ): void => {
    const page = Math.max(1, Number(query.get('page')) || 1)
    const limit = Math.min(Number(query.get('limit')) || forge.pageSize, forge.pageSize)
    const all = [...repositories.values()]
    const pages = Math.ceil(all.length / limit)
    const to = (number: number, rel: string) =>
      `<${origin}${path}/api/v1/orgs/${org}/repos?limit=${limit}&page=${number}>; rel="${rel}"`
    const links = [
      ...(page < pages ? [to(page + 1, 'next'), to(pages, 'last')] : []),
      ...(page > 1 ? [to(1, 'first'), to(page - 1, 'prev')] : []),
    ]
    if (forge.counts) {
      response.setHeader('x-total-count', all.length)
      if (links.length > 0) response.setHeader('link', links.join(','))
    }
    // Per page, not per list: an unreadable repository leaves a gap.
    const given = all.slice((page - 1) * limit, page * limit).filter(isReadable)
    send(response, 200, given.map(described))
  }

  const described = ({ name, archived, empty, private: isPrivate, description, branches }: ForgeRepository) => ({
    id: 1,
    name,
    owner: { login: org },
    full_name: `${org}/${name}`,
    description: description ?? '',
    empty: empty ?? false,
    private: isPrivate ?? false,
    archived: archived ?? false,
    html_url: `${origin}${path}/${org}/${name}`,
    default_branch: Object.keys(branches)[0] ?? 'main',
    updated_at: '2026-02-03T05:05:06+01:00',
  })

  const nothing = (response: ServerResponse): void =>
    send(response, 404, { errors: null, message: 'not found', url: `${origin}/api/swagger` })

  return forge
}

/** Starts a forge for the running test. */
export function testForge(options?: Parameters<typeof startForge>[0]): Promise<TestForge> {
  return closedAtEnd(startForge(options))
}

/** As long as a SHA-1, and different for other content. */
function tipOf({ name, branches }: ForgeRepository, branch: string): string {
  const hash = createHash('sha1').update(name)
  for (const [path, content] of Object.entries(branches[branch]?.files ?? {}))
    hash.update(`\0${path}\0`).update(content)
  return hash.digest('hex')
}

function contents(path: string, bytes: Buffer) {
  const name = path.split('/').at(-1)
  return { name, path, type: 'file', size: bytes.length, encoding: 'base64', content: bytes.toString('base64') }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json;charset=utf-8' })
  response.end(JSON.stringify(body))
}
