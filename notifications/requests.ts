import { createHmac } from 'node:crypto'
import type { OpenChannel } from './channel-secrets.ts'
import { type Outgoing, withinBytes } from './outgoing.ts'

/** The HTTP request that carries a message to a channel. */
export interface ChannelRequest {
  method: 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  body: string
}

type Severity = Outgoing['severity']

/** ntfy's scale is 1 to 5, of which 3 is ordinary and 5 rings through a phone's silence. */
const NTFY_PRIORITY: Record<Severity, number> = { info: 3, warning: 4, critical: 5 }
const NTFY_TAG: Record<Severity, string> = {
  info: 'information_source',
  warning: 'warning',
  critical: 'rotating_light',
}
/** ntfy makes an attachment of a longer message. */
const NTFY_BYTES = 4_000
/** Gotify's scale is 0 to 10; its app makes a sound from 4 on, and from 8 on a loud one. */
const GOTIFY_PRIORITY: Record<Severity, number> = { info: 3, warning: 5, critical: 8 }
const APPRISE_TYPE: Record<Severity, string> = { info: 'info', warning: 'warning', critical: 'failure' }
/** Apprise passes a message on to services that have bounds of their own. */
const APPRISE_BYTES = 32 * 1024
/** A Matrix event has at most 64 KiB, with the text in it twice and JSON's escapes. */
const MATRIX_BYTES = 12 * 1024

/**
 * Returns the request for each kind that is reached by HTTP. Titles are in bodies of JSON alone, never in headers, which
 * are ASCII. `now` is in seconds since the epoch.
 */
export function requestOf(channel: OpenChannel, message: Outgoing, now: number): ChannelRequest {
  const { kind, plain, secrets } = channel
  const { id, title, text, link, severity } = message
  switch (kind) {
    case 'ntfy':
      // Published as JSON, which goes to the root of the server. ntfy replaces the message of an equal sequence_id.
      return json('POST', below(plain.url, ''), secrets.token ? { authorization: `Bearer ${secrets.token}` } : {}, {
        topic: plain.topic,
        title,
        message: withinBytes(text, NTFY_BYTES),
        priority: NTFY_PRIORITY[severity],
        tags: [NTFY_TAG[severity]],
        sequence_id: id,
        ...(link && { click: link }),
      })
    case 'gotify':
      return json(
        'POST',
        below(plain.url, 'message'),
        { 'x-gotify-key': secrets.token ?? '' },
        {
          title,
          message: text,
          priority: GOTIFY_PRIORITY[severity],
          ...(link && { extras: { 'client::notification': { click: { url: link } } } }),
        },
      )
    case 'apprise':
      return json(
        'POST',
        below(plain.url, `notify/${encodeURIComponent(secrets.key ?? '')}`),
        {},
        {
          title,
          body: withinBytes(withLink(message), APPRISE_BYTES),
          type: APPRISE_TYPE[severity],
          format: 'text',
        },
      )
    case 'matrix': {
      // The server takes a second request with the same transaction for a repeat, and makes one message of both.
      const room = encodeURIComponent(plain.room ?? '')
      const path = `_matrix/client/v3/rooms/${room}/send/m.room.message/${encodeURIComponent(id)}`
      const body = withinBytes(withLink(message), MATRIX_BYTES)
      return json(
        'PUT',
        below(plain.url, path),
        { authorization: `Bearer ${secrets.token}` },
        {
          msgtype: 'm.text',
          body: `${title}\n\n${body}`,
          format: 'org.matrix.custom.html',
          formatted_body: `<strong>${escapeHtml(title)}</strong><br><br>${escapeHtml(body).replaceAll('\n', '<br>')}`,
        },
      )
    }
    case 'webhook':
      return signed(plain.url ?? '', secrets.secret ?? '', message, now)
    case 'email':
      throw new TypeError('mail is not sent by HTTP')
  }
}

/**
 * A webhook gets the message as JSON. Its signature proves the sender, its time makes an old request refusable, and the id
 * of the delivery is the same for each attempt.
 */
function signed(url: string, secret: string, message: Outgoing, now: number): ChannelRequest {
  const { id, at, event, severity, target, title, text, link } = message
  const body = JSON.stringify({ id, at, event, severity, target, title, text, link })
  const signature = createHmac('sha256', secret).update(`${now}.${id}.${body}`).digest('hex')
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'x-panel-timestamp': String(now),
      'x-panel-delivery': id,
      'x-panel-signature': `sha256=${signature}`,
    },
    body,
  }
}

function json(method: 'POST' | 'PUT', url: string, headers: Record<string, string>, body: object): ChannelRequest {
  return { method, url, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** An address below the one of a server, which may itself be below the root of its host. */
function below(base = '', path: string): string {
  return `${base.replace(/\/+$/, '')}/${path}`
}

/** The text, with the link below it. */
export function withLink({ text, link }: Outgoing): string {
  return link === null ? text : `${text}\n\n${link}`
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
