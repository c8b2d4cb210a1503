import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { bearer } from './admission.ts'
import { errorBody, type Failure } from './errors.ts'

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

/** No Origin: not a browser. Else it is the service's own, as the browser sees it, or a configured one. */
export function allowedOrigin(request: IncomingMessage, origins: ReadonlySet<string>, secure: boolean): boolean {
  const { origin, host } = request.headers
  if (origin === undefined || origins.has(origin)) return true
  return host !== undefined && origin === `${secure ? 'https' : 'http'}://${host}`
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

/** Answers a bare connection by HTTP, in the form of every other error, and ends it. */
export function refuse(connection: Duplex, failure: Failure): void {
  const body = errorBody(failure)
  const lines = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${randomUUID()}`,
    ...(failure.retryAfter === undefined ? [] : [`Retry-After: ${failure.retryAfter}`]),
    'Connection: close',
  ]
  // Destroyed once it is sent: who keeps its half open would hold the connection for ever.
  connection.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => connection.destroy())
}
