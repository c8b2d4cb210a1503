import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../platform/log.ts'
import { bearer } from './access.ts'
import { ANSWER_HEADERS } from './answer.ts'
import { errorBody, type Failure, logRefusal } from './errors.ts'

/** The subprotocol that the service selects; a browser offers it along with its token. */
export const PROTOCOL = 'panel.v1'
const TOKEN_PROTOCOL = 'bearer.'

/**
 * Returns the token of an upgrade request. An Authorization header takes precedence. Browsers cannot set headers here
 * and send the token as a subprotocol.
 */
export function readToken(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined) return bearer(authorization) ?? ''
  const offered = (joinedHeader(request.headers['sec-websocket-protocol']) ?? '').split(',').map((item) => item.trim())
  return offered.find((item) => item.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length)
}

/** The direct peer of the connection, which may be a proxy. */
export function peer(request: IncomingMessage): { address: string; encrypted: boolean } {
  const { socket } = request
  return { address: socket.remoteAddress ?? '', encrypted: 'encrypted' in socket && socket.encrypted === true }
}

/** Joins the values of a repeated header. */
export function joinedHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}

/** Parses a request target; returns undefined for an invalid one. */
export function parseUrl(url: string | undefined): URL | undefined {
  return url !== undefined && URL.canParse(url, 'http://panel') ? new URL(url, 'http://panel') : undefined
}

/** Decodes a path segment; returns invalid encodings unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Writes an HTTP error response to a raw connection and closes it. Body and log line are those of every other error.
 */
export function refuseConnection(
  connection: Duplex,
  failure: Failure,
  {
    log,
    method,
    path,
    logFields = {},
  }: {
    log: Log
    method?: string | undefined
    path?: string | undefined
    /** Additional fields of the log line; null suppresses the line. */
    logFields?: Record<string, string | number> | null
  },
): void {
  const id = randomUUID()
  if (logFields) logRefusal(log, { id, method, path, status: failure.status, ...logFields }, failure)
  const body = errorBody(failure)
  const lines = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    ...Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    ...(failure.retryAfter === undefined ? [] : [`Retry-After: ${failure.retryAfter}`]),
    'Connection: close',
  ]
  // The response to a HEAD has no body. The connection is destroyed after sending, because a client could keep its half
  // open forever.
  connection.end(`${lines.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : body}`, () => connection.destroy())
}
