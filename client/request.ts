import { ApiError, type Failure } from './api-error.ts'
import type { Answer, Operation } from './operation.ts'

/** The parts of a request. */
export interface Sent {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  signal?: AbortSignal | undefined
}

export type Request = <operation extends Operation>(
  operation: operation,
  sent: Sent,
  token?: string,
) => Promise<Answer<operation>>

/** The part of `fetch` that this client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string
    signal?: AbortSignal
    credentials: 'include'
    /** A redirect could carry a password to another server. */
    redirect: 'error'
  },
) => Promise<Answered>

/** The part of the response that this client reads. */
interface Answered {
  ok: boolean
  status: number
  headers: { get(name: string): string | null; getSetCookie?(): string[] }
  text(): Promise<string>
}

/** Sends operations to the service at `url`. Outside browsers it also keeps the refresh cookie. */
export function createRequest(url: string, fetch: Fetch): Request {
  let cookie = ''
  return async (operation, { params = {}, query = {}, body, signal }, token) => {
    const [method = '', path = ''] = operation.split(' ')
    const asked = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
    const address =
      path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(`${params[name]}`)) +
      (asked.length > 0 ? `?${new URLSearchParams(asked)}` : '')
    const fail = (failure: Failure) => new ApiError(operation, failure)
    // `fetch` would resolve these as path steps, encoded or not, and reach another operation.
    if (
      /\{\w+}/.test(path) &&
      address
        .split('?')[0]
        ?.split('/')
        .some((step, n) => n > 0 && /^\.{0,2}$/.test(step))
    )
      throw fail({ status: 400, code: 'invalid_request', message: 'La requête est invalide.' })
    const kept = cookie
    // This client is signed out afterwards, even when the request fails.
    if (operation === 'POST /api/auth/logout') cookie = ''
    let response: Answered
    let text: string
    try {
      response = await fetch(url + address, {
        method,
        credentials: 'include',
        redirect: 'error',
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(kept && path.startsWith('/api/auth/') && { cookie: kept }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      throw fail({ status: 0, code: 'network_failed', message: 'Le service ne répond pas.', cause })
    }
    const { ok, status, headers } = response
    for (const set of headers.getSetCookie?.() ?? []) {
      const [given = ''] = set.split(';')
      if (given.startsWith('svc_refresh=')) cookie = given.endsWith('=') ? '' : given
    }
    // For example a proxy that asks for its own sign-in.
    const isPage = headers.get('content-type')?.includes('html') && !path.startsWith('/api/docs')
    const plain = ok && !isPage ? text : undefined
    const parsed = headers.get('content-type')?.includes('json') ? json(text) : plain
    const requestId = headers.get('x-request-id') ?? undefined
    // A declared answer can have an error status without a code: the health check of a service that is not well.
    if (parsed !== undefined && (ok || (requestId && parsed && !parsed.code))) return parsed
    const {
      code = 'unexpected_answer',
      error = `Réponse inattendue (${status}).`,
      details = [],
      findings = [],
      destroys,
      job_id: jobId,
      challenge,
      prompts,
      factors,
      passkey,
    } = parsed || {}
    throw fail({
      status,
      code,
      message: error,
      details,
      findings,
      destroys,
      jobId,
      challenge,
      prompts,
      factors,
      passkey,
      requestId,
      retryAfter: Number(headers.get('retry-after')) || undefined,
    })
  }
}

/** Undefined when the value is not an object. */
function json(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
