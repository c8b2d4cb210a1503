import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { bearer } from './admission.ts'
import { errorBody, type Failure } from './errors.ts'
import { ANSWER_HEADERS } from './headers.ts'
import type { Log } from './log.ts'
import { logRefusal } from './translate.ts'

/** What a browser offers beside its token, and what is selected. */
export const PROTOCOL = 'panel.v1'
const TOKEN_PROTOCOL = 'bearer.'

/** A header wins; a browser, which can set none, sends the token as a subprotocol. */
export function readToken(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined) return bearer(authorization) ?? ''
  const offered = (single(request.headers['sec-websocket-protocol']) ?? '').split(',').map((item) => item.trim())
  return offered.find((item) => item.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length)
}

/** The other end of the connection itself. */
export function peer(request: IncomingMessage): { address: string; encrypted: boolean } {
  const { socket } = request
  return { address: socket.remoteAddress ?? '', encrypted: 'encrypted' in socket && socket.encrypted === true }
}

/** A header that may have come more than once, as one text. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}

/** The address asked for; undefined for what is none. */
export function parseUrl(url: string | undefined): URL | undefined {
  return url !== undefined && URL.canParse(url, 'http://panel') ? new URL(url, 'http://panel') : undefined
}

/** A part of a path, decoded if it can be. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Answers a bare connection by HTTP, in the form and with the log line of every other error, and ends it. */
export function refuse(
  connection: Duplex,
  failure: Failure,
  {
    log,
    method,
    path,
    about = {},
  }: {
    log: Log
    method?: string | undefined
    path?: string | undefined
    /** What is logged of it beside; null when it is not logged. */
    about?: Record<string, string | number> | null
  },
): void {
  const id = randomUUID()
  if (about) logRefusal(log, { id, method, path, status: failure.status, ...about }, failure)
  const body = errorBody(failure)
  const lines = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    ...Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    ...(failure.retryAfter === undefined ? [] : [`Retry-After: ${failure.retryAfter}`]),
    'Connection: close',
  ]
  // A HEAD gets no body. Destroyed once it is sent: who keeps its half open would hold the connection for ever.
  connection.end(`${lines.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : body}`, () => connection.destroy())
}
