import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { onTestFinished } from 'vitest'
import { closeServer } from '../../close-server.ts'
import { selfSigned } from '../../spec/certificate.ts'

interface Answer {
  status?: number
  body: unknown
  headers?: Record<string, string>
  /** Whether a token lacks the scope for it. */
  nameless?: true
}

/** The refusal of a token that lacks a scope, as Gitea 1.26 words it. */
export const lacks = (scope: string): Answer => ({
  status: 403,
  body: {
    message: `token does not have at least one of required scope(s), required=[${scope}], token scope=read:user`,
    url: 'https://forge.test/api/swagger',
  },
})
/** That of an unknown token. */
export const UNKNOWN: Answer = { status: 401, body: { message: 'invalid username, password or token', url: '' } }
export const PAGE: Answer = { body: '<!DOCTYPE html><html></html>', headers: { 'content-type': 'text/html' } }

/** The answers of a Gitea with the organisation `modules`, which has one module among three repositories. */
export const GITEA: Record<string, Answer | undefined> = {
  '/api/v1/version': { body: { version: '1.26.0' } },
  '/api/v1/user': { body: { login: 'panel', full_name: '' } },
  '/api/v1/orgs/modules': { body: { id: 2, name: 'modules', username: 'modules', full_name: 'Modules' } },
  '/api/v1/orgs/modules/repos?page=1&limit=10': {
    body: [
      { name: 'old', archived: true, empty: false, default_branch: 'main' },
      { name: 'docs', archived: false, empty: false, default_branch: 'main' },
      { name: 'hello', archived: false, empty: false, default_branch: 'trunk/1' },
    ],
    headers: { 'x-total-count': '12' },
  },
  '/api/v1/repos/modules/hello/raw/module.json?ref=trunk%2F1': { body: { id: 'hello' } },
}

export interface TestGitea {
  url: string
  /** SHA-256 of its certificate; empty without TLS. */
  fingerprint: string
  /** Its certificate in PEM, for `localhost`. */
  certificate: string
  /** Every request with its `Authorization`, in order. */
  requests: { path: string; authorization: string | undefined }[]
  /** The answers by path. Others are 404. */
  answers: Record<string, Answer | undefined>
}

/** Starts a forge that answers by a table, on a free port of the loopback; `secure` gives it a certificate of its own. */
export async function startGitea({
  secure = false,
  answers = {},
}: {
  secure?: boolean
  answers?: Record<string, Answer | undefined>
} = {}): Promise<TestGitea> {
  const certificate = selfSigned('localhost')
  const gitea: TestGitea = {
    url: '',
    fingerprint: '',
    certificate: certificate.cert,
    requests: [],
    answers: { ...GITEA, ...answers },
  }
  const answer: RequestListener = (request, response) => {
    const path = request.url ?? ''
    gitea.requests.push({ path, authorization: request.headers.authorization })
    const found = gitea.answers[path] ?? { status: 404, body: { message: 'not found' } }
    const isRefused = found.nameless && request.headers.authorization !== undefined
    const { status = 200, body, headers = {} } = isRefused ? lacks('read:user') : found
    response.writeHead(status, { 'content-type': 'application/json;charset=utf-8', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = secure ? createServer(certificate, answer) : createHttpServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => closeServer(server))
  gitea.url = `${secure ? 'https' : 'http'}://localhost:${Object(server.address()).port}`
  if (secure) gitea.fingerprint = new X509Certificate(certificate.cert).fingerprint256
  return gitea
}
