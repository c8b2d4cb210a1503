import type { Context as HonoContext } from 'hono'
import type { Log } from '../platform/log.ts'
import { errorBody, type Failure, logRefusal } from './errors.ts'

/**
 * Headers in the order in which they were set. A `set-cookie` is appended; any other header replaces an earlier one.
 */
export type HeaderList = [name: string, value: string][]

/**
 * Returns the response to a failure, as the given page or as JSON. Logs it with the same id and with `logFields`;
 * undefined suppresses the line.
 */
export function errorResponse(
  log: Log,
  c: HonoContext,
  failure: Failure,
  id: string,
  logFields: Record<string, string | number> | undefined,
  headers: HeaderList = [],
  page?: string,
): Response {
  const { status, retryAfter } = failure
  if (logFields) logRefusal(log, { id, method: c.req.method, path: c.req.path, status, ...logFields }, failure)
  const more: HeaderList = [...headers]
  if (retryAfter !== undefined) more.push(['retry-after', String(retryAfter)])
  // The rest of the body is not read, so the connection cannot carry another request.
  if (failure.code === 'body_too_large') more.push(['connection', 'close'])
  if (page !== undefined) more.push(['content-type', 'text/html; charset=utf-8'])
  return answer(page ?? errorBody(failure), status, id, more)
}

/** Returns a response with the headers of every response and some more. */
export function answer(
  body: string | ReadableStream | Uint8Array<ArrayBuffer> | null,
  status: number,
  id: string,
  more: HeaderList,
): Response {
  const headers = { ...ANSWER_HEADERS, 'x-request-id': id }
  // The adapter handles a plain object faster.
  if (more.length === 0) return new Response(body, { status, headers })
  const all = new Headers(headers)
  for (const [name, value] of more) {
    if (name === 'set-cookie') all.append(name, value)
    else all.set(name, value)
  }
  return new Response(body, { status, headers: all })
}

/**
 * Headers of every API response: it is not a page and may not be cached, framed, sniffed or embedded. They are a
 * constant because a middleware would add a tenth to the time of a small request. `Strict-Transport-Security` is absent
 * because it would apply to every service of the same host name.
 */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
