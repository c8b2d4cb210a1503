import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer } from './close-server.ts'
import { closedAtEnd } from './closed-at-end.ts'
import {
  bytesOf,
  contentsOf,
  defaultBranchOf,
  type ForgeFile,
  type ForgeRepository,
  isLink,
  tipOf,
  folderOf,
  treeOf,
} from './forge-repository.ts'

export type { ForgeRepository }

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
  /** Like `put`, and the commits before it are gone, as after a forced push and a cleaning. */
  forcePush(repository: ForgeRepository): void
  /** Gives a repository a new name; the former address redirects. */
  rename(from: string, to: string): void
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
  const commits = new Map<string, Record<string, ForgeFile>>()
  /** How often each repository was pushed to, which its date shows. */
  const pushes = new Map<string, number>()
  const renamed = new Map<string, string>()
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
      pushes.set(repository.name, (pushes.get(repository.name) ?? 0) + 1)
      renamed.delete(repository.name)
      repositories.set(repository.name, repository)
      for (const branch of Object.keys(repository.branches))
        commits.set(tipOf(repository, branch), repository.branches[branch]?.files ?? {})
    },
    forcePush(repository) {
      const before = repositories.get(repository.name)
      for (const branch of Object.keys(before?.branches ?? {})) commits.delete(forge.tip(repository.name, branch))
      forge.put(repository)
    },
    rename(from, to) {
      const repository = repositories.get(from)
      if (!repository) throw new Error(`there is no ${from}`)
      repositories.delete(from)
      forge.put({ ...repository, name: to })
      renamed.set(from, to)
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
      send(response, 401, { message: 'invalid username, password or token', url: `${origin}/api/swagger` })
      return
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const api = `${path}/api/v1/`
    const parts = pathname.startsWith(api) ? pathname.slice(api.length).split('/').map(decodeURIComponent) : []
    const [area, owner, name = '', kind, ...rest] = parts
    // Later versions find raw files.
    if (area === 'version') return send(response, 200, { version: forge.rawBroken ? '1.23.0' : '1.26.0' })
    if (area === 'orgs' && owner === org && name === '') return send(response, 200, { id: 1, name: org, username: org })
    if (area === 'orgs' && owner === org && name === 'repos') {
      list(response, searchParams, signedIn)
      return
    }
    if (area !== 'repos' || owner !== org) return nothing(response)
    const next = renamed.get(name)
    if (next !== undefined) {
      const location = (request.url ?? '').replace(`/repos/${org}/${name}`, `/repos/${org}/${next}`)
      response.writeHead(301, { location }).end()
      return
    }
    const found = repositories.get(name)
    if (!found || found.hidden || (found.private && !signedIn)) return nothing(response)
    if (kind === undefined) return send(response, 200, described(found))
    if (found.empty) return nothing(response)
    if (found.hasCode === false) {
      const message = 'user should have specific read permission or be a repo admin or a site admin'
      return send(response, 403, { message, url: `${origin}/api/swagger` })
    }
    const below = rest.join('/')
    if (kind === 'branches') {
      const branch = found.branches[below]
      if (!branch) return nothing(response)
      return send(response, 200, { name: below, commit: { id: tipOf(found, below), message: 'a change\n' } })
    }
    if (kind === 'git' && rest[0] === 'trees') {
      const wanted = rest.slice(1).join('/')
      // A whole number is an object's, also where a branch has the same name.
      const isId = /^[0-9a-f]{40}$/.test(wanted)
      const files = isId ? commits.get(wanted) : found.branches[wanted]?.files
      const inside = isId ? [...commits.values()].map((each) => folderOf(wanted, each)).find(Boolean) : undefined
      const tree = files ? treeOf(isId ? wanted : tipOf(found, wanted), files) : inside
      // Version 1.26 has no 404 for it.
      return tree ? send(response, 200, tree) : send(response, 400, { message: `sha not found [${wanted}]` })
    }
    if (kind === 'git' && rest[0] === 'commits' && rest.length === 2) {
      const sha = rest[1] ?? ''
      return commits.has(sha) ? send(response, 200, { sha, files: [] }) : nothing(response)
    }
    const ref = searchParams.get('ref') ?? defaultBranchOf(found)
    const known = found.branches[ref]?.files ?? commits.get(ref)
    // In place of a branch that does not exist, a raw file comes from the default one.
    const instead =
      kind === 'raw' && !/^[0-9a-f]{40}$/.test(ref) ? found.branches[defaultBranchOf(found)]?.files : undefined
    const file = (known ?? instead)?.[below]
    if (file === undefined || (kind === 'raw' && forge.rawBroken)) return nothing(response)
    const bytes = bytesOf(file)
    if (kind === 'raw') {
      response.writeHead(200, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': bytes.length,
        // A link's target is sent as if it were the file.
        'x-gitea-object-type': isLink(file) ? 'symlink' : 'file',
        etag: `"${createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')}"`,
      })
      response.end(bytes)
    } else if (kind === 'contents') send(response, 200, contentsOf(below, file))
    else nothing(response)
  }

  const list = (response: ServerResponse, query: URLSearchParams, signedIn: boolean): void => {
    const page = Math.max(1, Number(query.get('page')) || 1)
    const limit = Math.min(Number(query.get('limit')) || forge.pageSize, forge.pageSize)
    const all = [...repositories.values()].filter((one) => signedIn || !(one.private || one.hidden))
    const pages = Math.max(1, Math.ceil(all.length / limit))
    const sent = query.has('limit') ? `limit=${query.get('limit')}&` : ''
    const to = (number: number, rel: string) =>
      `<${origin}${path}/api/v1/orgs/${org}/repos?${sent}page=${number}>; rel="${rel}"`
    const links = [
      ...(page < pages ? [to(page + 1, 'next'), to(pages, 'last')] : []),
      ...(page > 1 ? [to(1, 'first'), to(Math.min(page, pages) - 1, 'prev')] : []),
    ]
    if (forge.counts) {
      response.setHeader('x-total-count', all.length)
      if (links.length > 0) response.setHeader('link', links.join(','))
    }
    // Per page, not per list: an unreadable repository leaves a gap.
    const given = all.slice((page - 1) * limit, page * limit).filter(({ hidden }) => !hidden)
    send(response, 200, given.map(described))
  }

  const described = (repository: ForgeRepository) => ({
    id: 1,
    name: repository.name,
    owner: { login: org },
    full_name: `${org}/${repository.name}`,
    description: repository.description ?? '',
    empty: repository.empty ?? false,
    private: repository.private ?? false,
    fork: repository.forkOf !== undefined,
    parent: repository.forkOf === undefined ? null : { html_url: repository.forkOf },
    mirror: repository.mirrorOf !== undefined,
    original_url: repository.mirrorOf ?? '',
    archived: repository.archived ?? false,
    has_code: repository.hasCode ?? true,
    html_url: `${origin}${path}/${org}/${repository.name}`,
    default_branch: defaultBranchOf(repository),
    branch_count: Object.keys(repository.branches).length,
    // In its own zone, to the second.
    updated_at: new Date(Date.UTC(2026, 1, 3, 5, 5, 5 + (pushes.get(repository.name) ?? 0)))
      .toISOString()
      .replace('.000Z', '+01:00'),
    mirror_updated: '0001-01-01T00:00:00Z',
  })

  const nothing = (response: ServerResponse): void =>
    send(response, 404, { errors: null, message: 'not found', url: `${origin}/api/swagger` })

  return forge
}

/** Starts a forge for the running test. */
export function testForge(options?: Parameters<typeof startForge>[0]): Promise<TestForge> {
  return closedAtEnd(startForge(options))
}

/** Answers as usual until so many requests have come, and with 429 from then on, as a proxy before a forge does. */
export function limitedAfter(count: number, seconds: number): Behaviour {
  let come = 0
  return (_, response) => {
    come += 1
    if (come <= count) return false
    response.writeHead(429, { 'retry-after': String(seconds) }).end('Too many requests')
    return true
  }
}

/** Answers as usual until so many requests have come, and never again from then on. */
export function frozenAfter(count: number): Behaviour {
  let come = 0
  return () => {
    come += 1
    return come > count
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json;charset=utf-8' })
  response.end(JSON.stringify(body))
}
