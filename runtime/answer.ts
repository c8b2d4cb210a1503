import type { Context as HonoContext } from 'hono'
import { errorBody, type Failure } from './errors.ts'
import { ANSWER_HEADERS } from './headers.ts'
import type { Log } from './log.ts'
import { logRefusal } from './translate.ts'

/** Headers in the order in which they were set; a cookie is added, any other replaces the one before. */
export type HeaderList = [name: string, value: string][]

/** What an error is answered with, as a page where there is one for it; it is logged with the same id, and `about` it. */
export function refuse(
  log: Log,
  c: HonoContext,
  failure: Failure,
  id: string,
  about: Record<string, string | number> | undefined,
  headers: HeaderList = [],
  page?: string,
): Response {
  const { status, retryAfter } = failure
  if (about) logRefusal(log, { id, method: c.req.method, path: c.req.path, status, ...about }, failure)
  const more: HeaderList = [...headers]
  if (retryAfter !== undefined) more.push(['retry-after', String(retryAfter)])
  // The rest of it is not read, so nothing can follow on this connection.
  if (failure.code === 'body_too_large') more.push(['connection', 'close'])
  if (page !== undefined) more.push(['content-type', 'text/html; charset=utf-8'])
  return answer(page ?? errorBody(failure), status, id, more)
}

/** A finished text with the headers of every answer and some more. */
export function answer(
  body: string | ReadableStream | Uint8Array<ArrayBuffer> | null,
  status: number,
  id: string,
  more: HeaderList,
): Response {
  const headers = { ...ANSWER_HEADERS, 'x-request-id': id }
  // A plain object takes the short way through the adapter.
  if (more.length === 0) return new Response(body, { status, headers })
  const all = new Headers(headers)
  for (const [name, value] of more) {
    if (name === 'set-cookie') all.append(name, value)
    else all.set(name, value)
  }
  return new Response(body, { status, headers: all })
}
